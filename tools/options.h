/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools/options.h: the one table of options. Parsing, --help, the option lists of the man page,
 * shell completion and the checks of the documentation all come from it.
 */
#ifndef RTUNE_TOOLS_OPTIONS_H
#define RTUNE_TOOLS_OPTIONS_H

#include "base/buf.h"
#include "base/err.h"
#include "kernels/kernels.h"

enum cli_verb_id {
    CLI_TUNE,
    CLI_DEVICES,
    CLI_SHOW,
    CLI_LOOKUP,
    CLI_EXPLAIN,
    CLI_REDUCE,
    CLI_EXPORT,
    CLI_IMPORT,
    CLI_DOCTOR,
    CLI_COMPLETION,
    CLI_HELP,
    CLI_WORKER,
    CLI_VERB_COUNT
};

enum { CLI_ARGS_MAX = 4 };

/* Values of all options of one command line. A field that was not given is 0, NULL or false. */
struct cli_options {
    const char *device;
    const char *db;
    const char *config;
    const char *output;
    const char *scale;
    const char *man; /* help: hidden */
    uint32_t ops;    /* bit k: enum value k was named */
    uint32_t dtypes;
    uint32_t accs;
    uint32_t modes;
    uint32_t nans;
    uint32_t caches;
    uint64_t *sizes; /* owned: cli_options_free */
    size_t size_count;
    uint64_t n;
    bool has_n;
    uint32_t efforts; /* one bit */
    double budget_s;
    bool has_budget;
    uint64_t seed;
    bool has_seed;
    uint64_t threads;
    bool has_threads;
    uint64_t chunk;
    bool has_chunk;
    uint64_t fd;
    bool has_fd;
    bool resume, fresh, dry_run, json, list, help, version;
    const char *args[CLI_ARGS_MAX];
    size_t arg_count;
};

enum cli_option_kind {
    CLI_KIND_FLAG,    /* bool */
    CLI_KIND_TEXT,    /* const char *, not empty */
    CLI_KIND_NAMES,   /* uint32_t bits, from a comma-separated list of names */
    CLI_KIND_NAME,    /* the same, one name */
    CLI_KIND_SIZE,    /* uint64_t and bool */
    CLI_KIND_SIZES,   /* uint64_t * and size_t */
    CLI_KIND_U64,     /* uint64_t and bool */
    CLI_KIND_DURATION /* double and bool */
};

struct cli_option {
    const char *name; /* without the dashes */
    char letter;      /* 0: none */
    enum cli_option_kind kind;
    const char *arg;   /* what stands for its value in help; NULL for a flag */
    uint32_t verbs;    /* bit k: verb k takes it */
    const char *help;  /* one or more sentences; %s-free text */
    size_t offset;     /* of the value in struct cli_options */
    size_t offset2;    /* of the second field, where the kind has one */
    int names;         /* CLI_KIND_NAME(S): enum rtune_name_kind, or CLI_NAMES_EFFORT */
    uint64_t min, max; /* of numbers; of durations in milliseconds */
    bool hidden;
};

enum { CLI_NAMES_EFFORT = RTUNE_NAMES_COUNT };

/* All options, in the order in which help lists them; NULL past the end. */
const struct cli_option *cli_option_at(size_t k);
bool cli_option_applies(const struct cli_option *option, enum cli_verb_id verb);
/* k-th accepted name of an option's value, NULL past the end (and for other kinds). */
const char *cli_option_name_at(const struct cli_option *option, int k);

/* Read the arguments that follow the verb. Errors: SYNTAX and RANGE, naming the option. */
enum rtune_status cli_options_parse(enum cli_verb_id verb, int argc, char **argv,
                                    struct cli_options *opt, struct rtune_error *err);
void cli_options_free(struct cli_options *opt);

/* The nearest of some words to a mistyped one, NULL if none is near. next(user, k) gives the k-th
 * word, NULL past the end. */
const char *cli_nearest(const char *word, const char *(*next)(void *user, size_t k), void *user);

#endif /* RTUNE_TOOLS_OPTIONS_H */
