/* SPDX-License-Identifier: Apache-2.0 */
/* tools/problem_arg.h: problems from --op(s), --dtype(s), -n, --acc, --mode, --nan and --cache. */
#ifndef RTUNE_TOOLS_PROBLEM_ARG_H
#define RTUNE_TOOLS_PROBLEM_ARG_H

#include "tools/cli.h"

/* The one problem that lookup, explain and reduce are about, checked. dtype and n are taken from
 * the options unless they are given here (a file's). Errors: SYNTAX (an option is missing or a
 * list), and those of rtune_problem_check. */
enum rtune_status problem_arg_one(const struct cli_options *opt, const enum rtune_dtype *dtype,
                                  const uint64_t *n, struct rtune_problem *problem,
                                  struct rtune_error *err);

/* The problem kinds to tune: every combination of what is named that has kernels; what is not named
 * is every op and dtype, wide, plain, propagate, cold. A named op with a named dtype that has no
 * kernels is an error. The caller frees *problems. */
enum rtune_status problem_arg_many(const struct cli_options *opt, struct rtune_problem **problems,
                                   size_t *count, struct rtune_error *err);

/* Does a stored problem belong to what is named? What is not named is everything. */
bool problem_arg_matches(const struct cli_options *opt, const struct rtune_problem *problem);

#endif /* RTUNE_TOOLS_PROBLEM_ARG_H */
