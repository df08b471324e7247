/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools/serve.h: what lookup, explain and reduce share: the library opened as the options say, and
 * the launch record printed.
 */
#ifndef RTUNE_TOOLS_SERVE_H
#define RTUNE_TOOLS_SERVE_H

#include "tools/cli.h"
#include "tools/json_out.h"

/* Open librtune for --device, --db and --threads. Unlike the library, which skips it, the program
 * fails on a store that is there and cannot be used; a store named by --db that does not exist is a
 * warning. */
enum rtune_status serve_open(struct cli *cli, rtune **rt, struct rtune_error *err);

/* The fields of `lookup --json` into an open object. */
void serve_launch_json(struct json *json, const rtune *rt, const struct rtune_problem *problem,
                       const struct rtune_launch *launch);
/* The same for people. */
void serve_launch_print(const rtune *rt, const struct rtune_problem *problem,
                        const struct rtune_launch *launch);

#endif /* RTUNE_TOOLS_SERVE_H */
