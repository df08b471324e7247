/* SPDX-License-Identifier: Apache-2.0 */
/* tools/options.c: the options table and the lookup of its names. See options_parse.c for reading.
 */
#include "tools/options.h"

#include "base/num.h"
#include "tuner/tuner.h"

#include <string.h>

#define BIT(verb) (1u << (verb))
#define EVERY                                                                                      \
    (BIT(CLI_TUNE) | BIT(CLI_DEVICES) | BIT(CLI_SHOW) | BIT(CLI_LOOKUP) | BIT(CLI_EXPLAIN) |       \
     BIT(CLI_REDUCE) | BIT(CLI_EXPORT) | BIT(CLI_IMPORT) | BIT(CLI_DOCTOR))
#define ONE_PROBLEM (BIT(CLI_LOOKUP) | BIT(CLI_EXPLAIN) | BIT(CLI_REDUCE))
#define MANY_PROBLEMS (BIT(CLI_TUNE) | BIT(CLI_SHOW))
#define EVEN_HELP (EVERY | BIT(CLI_COMPLETION) | BIT(CLI_HELP))

#define AT(field) offsetof(struct cli_options, field)

#define SIZE_MAX_ELEMENTS (UINT64_C(1) << 48)
#define BUDGET_MIN_MS 100
#define BUDGET_MAX_MS (UINT64_C(7) * 24 * 3600 * 1000)

static const struct cli_option options[] = {
    {"device", 0, CLI_KIND_TEXT, "DEVICE", EVERY,
     "The device: 0 or cuda:0 (a GPU by number), a UUID or PCI id as `devices` prints them, cpu, "
     "or "
     "all. Without it, lookup, explain and reduce use GPU 0, and the verbs that list use all.",
     AT(device), 0, 0, 0, 0, false},
    {"ops", 0, CLI_KIND_NAMES, "LIST", MANY_PROBLEMS,
     "Ops, separated by commas; every op there is if not given.", AT(ops), 0, RTUNE_NAMES_OP, 0, 0,
     false},
    {"dtypes", 0, CLI_KIND_NAMES, "LIST", MANY_PROBLEMS,
     "Element types, separated by commas; every type there is if not given.", AT(dtypes), 0,
     RTUNE_NAMES_DTYPE, 0, 0, false},
    {"op", 0, CLI_KIND_NAME, "OP", ONE_PROBLEM, "The op; sum if not given.", AT(ops), 0,
     RTUNE_NAMES_OP, 0, 0, false},
    {"dtype", 0, CLI_KIND_NAME, "DTYPE", ONE_PROBLEM,
     "The type of the elements. reduce takes it from a .npy file and needs it for raw data.",
     AT(dtypes), 0, RTUNE_NAMES_DTYPE, 0, 0, false},
    {"n", 'n', CLI_KIND_SIZE, "COUNT", ONE_PROBLEM,
     "Number of elements, as 1000, 64Ki, 8M or 2^20. reduce takes the first COUNT of the file.",
     AT(n), AT(has_n), 0, 0, SIZE_MAX_ELEMENTS, false},
    {"acc", 0, CLI_KIND_NAMES, "ACC", MANY_PROBLEMS | ONE_PROBLEM,
     "Type of the result: wide (64-bit integers, f32 for smaller floats; the default) or native "
     "(the type of the elements). tune and show take a list.",
     AT(accs), 0, RTUNE_NAMES_ACC, 0, 0, false},
    {"mode", 0, CLI_KIND_NAMES, "MODE", MANY_PROBLEMS | ONE_PROBLEM,
     "How sums are formed; plain if not given. tune and show take a list.", AT(modes), 0,
     RTUNE_NAMES_MODE, 0, 0, false},
    {"nan", 0, CLI_KIND_NAMES, "RULE", MANY_PROBLEMS | ONE_PROBLEM,
     "NaN in min and max: propagate (the default) or ignore. tune and show take a list.", AT(nans),
     0, RTUNE_NAMES_NAN, 0, 0, false},
    {"cache", 0, CLI_KIND_NAMES, "STATE", MANY_PROBLEMS | ONE_PROBLEM,
     "Where the input is when the reduction starts: cold (not cached; the default), dirty (the "
     "cache "
     "holds another kernel's writes) or warm (cached as far as it fits). tune and show take a "
     "list.",
     AT(caches), 0, RTUNE_NAMES_CACHE, 0, 0, false},
    {"sizes", 0, CLI_KIND_SIZES, "LIST", BIT(CLI_TUNE),
     "Numbers of elements to tune at, as 1000, 64Ki, 2^20, lists of them, and ranges such as "
     "2^10..2^25 (each power of two). Default: powers of two up to 2^33 or 60 % of free memory.",
     AT(sizes), AT(size_count), 0, 1, RTUNE_TUNE_N_MAX, false},
    {"config", 0, CLI_KIND_TEXT, "FILE", BIT(CLI_TUNE),
     "The search space (YAML) in place of the built-in one.", AT(config), 0, 0, 0, 0, false},
    {"effort", 0, CLI_KIND_NAME, "LEVEL", BIT(CLI_TUNE),
     "How much of the space is searched: quick, standard (the default) or exhaustive.", AT(efforts),
     0, CLI_NAMES_EFFORT, 0, 0, false},
    {"budget", 0, CLI_KIND_DURATION, "TIME", BIT(CLI_TUNE),
     "Time for each device, as 500ms, 60s, 5m or 2h; what is decided by then is stored. 10m if not "
     "given; no limit with --effort exhaustive.",
     AT(budget_s), AT(has_budget), 0, BUDGET_MIN_MS, BUDGET_MAX_MS, false},
    {"resume", 0, CLI_KIND_FLAG, NULL, BIT(CLI_TUNE),
     "Continue an unfinished session, also one of another search space.", AT(resume), 0, 0, 0, 0,
     false},
    {"fresh", 0, CLI_KIND_FLAG, NULL, BIT(CLI_TUNE),
     "Drop an unfinished session and start anew. With neither, one of the same search space, "
     "kernels and driver is continued.",
     AT(fresh), 0, 0, 0, 0, false},
    {"seed", 0, CLI_KIND_U64, "NUMBER", BIT(CLI_TUNE),
     "Seed of everything random: test data and the order of candidates. 1 if not given.", AT(seed),
     AT(has_seed), 0, 0, UINT64_MAX, false},
    {"dry-run", 0, CLI_KIND_FLAG, NULL, BIT(CLI_TUNE), "Print the plan and stop.", AT(dry_run), 0,
     0, 0, 0, false},
    {"threads", 0, CLI_KIND_U64, "COUNT", BIT(CLI_TUNE) | ONE_PROBLEM,
     "Threads of the cpu device at most. Default: as many as affinity and cgroup allow.",
     AT(threads), AT(has_threads), 0, 1, 4096, false},
    {"chunk", 0, CLI_KIND_SIZE, "COUNT", BIT(CLI_REDUCE),
     "Elements that are on the device at a time; as many as fit if not given.", AT(chunk),
     AT(has_chunk), 0, 1, SIZE_MAX_ELEMENTS, false},
    {"scale", 0, CLI_KIND_TEXT, "NUMBER", BIT(CLI_REDUCE),
     "Mode fixed: every term is multiplied by it and rounded to an integer; 1 if not given.",
     AT(scale), 0, 0, 0, 0, false},
    {"output", 'o', CLI_KIND_TEXT, "FILE", BIT(CLI_EXPORT),
     "Write to FILE, whole or not at all, in place of standard output.", AT(output), 0, 0, 0, 0,
     false},
    {"db", 0, CLI_KIND_TEXT, "FILE", EVERY,
     "The store, in place of $RTUNE_DB, the user's and the system's; none for no store at all.",
     AT(db), 0, 0, 0, 0, false},
    {"json", 0, CLI_KIND_FLAG, NULL, EVERY & ~BIT(CLI_EXPORT),
     "Print JSON: one object, or for tune one object a line for each event.", AT(json), 0, 0, 0, 0,
     false},
    {"fd", 0, CLI_KIND_U64, "NUMBER", BIT(CLI_WORKER), "The socket to serve.", AT(fd), AT(has_fd),
     0, 0, 65535, true},
    {"list", 0, CLI_KIND_FLAG, NULL, BIT(CLI_HELP), "List every verb and option.", AT(list), 0, 0,
     0, 0, true},
    {"man", 0, CLI_KIND_TEXT, "PART", BIT(CLI_HELP), "Print a part of the man page.", AT(man), 0, 0,
     0, 0, true},
    {"help", 'h', CLI_KIND_FLAG, NULL, EVEN_HELP, "Print help and stop.", AT(help), 0, 0, 0, 0,
     false},
    {"version", 'V', CLI_KIND_FLAG, NULL, EVEN_HELP, "Print the version and stop.", AT(version), 0,
     0, 0, 0, false},
};

const struct cli_option *cli_option_at(size_t k) {
    return k < RTUNE_ARRAY_SIZE(options) ? &options[k] : NULL;
}

bool cli_option_applies(const struct cli_option *option, enum cli_verb_id verb) {
    return (option->verbs & BIT(verb)) != 0;
}

const char *cli_option_name_at(const struct cli_option *option, int k) {
    if (option->kind != CLI_KIND_NAME && option->kind != CLI_KIND_NAMES) return NULL;
    if (option->names == CLI_NAMES_EFFORT)
        return k < RTUNE_EFFORT_COUNT ? rtune_effort_name((enum rtune_effort)k) : NULL;
    const struct rtune_name_table *table = rtune_names((enum rtune_name_kind)option->names);
    return k < table->count ? table->name(k) : NULL;
}

/* Levenshtein's distance, of words of at most 32 bytes. */
static size_t word_distance(const char *a, const char *b) {
    enum { MAX = 32 };
    size_t na = strlen(a);
    size_t nb = strlen(b);
    if (na > MAX || nb > MAX) return MAX;
    size_t row[MAX + 1];
    for (size_t j = 0; j <= nb; j++)
        row[j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t change = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            size_t shorter = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = change < shorter ? change : shorter;
        }
    }
    return row[nb];
}

const char *cli_nearest(const char *word, const char *(*next)(void *user, size_t k), void *user) {
    size_t best = strlen(word) / 3 + 2;
    const char *found = NULL;
    const char *candidate;
    for (size_t k = 0; (candidate = next(user, k)) != NULL; k++) {
        size_t distance = word_distance(word, candidate);
        if (strlen(word) >= 2 && strncmp(word, candidate, strlen(word)) == 0) distance = 1;
        if (distance < best) {
            best = distance;
            found = candidate;
        }
    }
    return found;
}
