/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools/cli.h: what every verb of the reduce-tune program shares: the exit codes, the context that
 * a verb runs with, and the table of verbs. One verb is one file, cmd_<verb>.c.
 */
#ifndef RTUNE_TOOLS_CLI_H
#define RTUNE_TOOLS_CLI_H

#include "base/err.h"
#include "base/log.h"
#include "tools/options.h"

/* Exit codes; docs/man/reduce-tune.1 has the same list. */
enum {
    CLI_OK = 0,
    CLI_FAILED = 1,  /* the work failed */
    CLI_USAGE = 2,   /* the command line is wrong; nothing was touched */
    CLI_LOCKED = 75, /* the store stays locked (EX_TEMPFAIL of sysexits.h) */
    CLI_SIGNAL = 128 /* plus the signal's number: 130 for SIGINT, 143 for SIGTERM */
};

struct cli {
    const struct cli_verb *verb;
    struct cli_options opt; /* borrowed strings point into argv */
    struct rtune_log log;   /* prints warnings of the library on standard error */
};

/* Run a verb; the result is an exit code. Errors were printed. */
typedef int (*cli_run_fn)(struct cli *cli);

struct cli_verb {
    const char *name;
    enum cli_verb_id id;
    cli_run_fn run;
    const char *args; /* positional arguments as the synopsis shows them, "" for none */
    size_t args_min, args_max;
    const char *summary; /* one line */
    const char *detail;  /* a paragraph for `help VERB` and the man page */
    bool hidden;         /* not in any list for people */
};

/* All verbs, in the order in which help lists them; NULL past the end. */
const struct cli_verb *cli_verb_at(size_t k);
const struct cli_verb *cli_verb_find(const char *name);

/* The whole program behind main(). */
int cli_main(int argc, char **argv);

/* Print an error as "reduce-tune: what: why (what to do)" and return the exit code for its status.
 */
int cli_fail(const struct rtune_error *err);
/* Print a usage error, with a pointer to the verb's help, and return CLI_USAGE. */
int cli_usage(const struct cli *cli, const struct rtune_error *err);

/* The verbs. */
int cmd_tune(struct cli *cli);
int cmd_devices(struct cli *cli);
int cmd_show(struct cli *cli);
int cmd_lookup(struct cli *cli);
int cmd_explain(struct cli *cli);
int cmd_reduce(struct cli *cli);
int cmd_export(struct cli *cli);
int cmd_import(struct cli *cli);
int cmd_doctor(struct cli *cli);
int cmd_completion(struct cli *cli);
int cmd_help(struct cli *cli);
int cmd_worker(struct cli *cli);

#endif /* RTUNE_TOOLS_CLI_H */
