/* SPDX-License-Identifier: Apache-2.0 */
/* tools/verbs.c: the table of verbs. */
#include "tools/cli.h"

#include "base/num.h"

#include <string.h>

static const struct cli_verb verbs[] = {
    {"tune", CLI_TUNE, cmd_tune, "", 0, 0, "measure this device and store what is fastest",
     "The default verb. Prints the plan (device, store, problems, sizes, time), measures the "
     "candidates "
     "of the search space for every problem and size, checks that each gives the right result, and "
     "stores the winners. An interrupt, or the end of the budget, stores what is decided by then.",
     false},
    {"devices", CLI_DEVICES, cmd_devices, "", 0, 0,
     "list what can be tuned, and what is already known",
     "One entry for every device: its name for --device, its identity (what decides speed, the key "
     "of "
     "the store), driver, UUID and PCI id, and the number of tuned sizes in each store. Works "
     "without a "
     "GPU and says why there is none.",
     false},
    {"show", CLI_SHOW, cmd_show, "", 0, 0, "print the stored winners",
     "A table for every problem of every device in the store: the interval of n, the config served "
     "there, its time, the time of the built-in default, and their ratio. Neighbouring intervals "
     "with "
     "the same config are joined.",
     false},
    {"lookup", CLI_LOOKUP, cmd_lookup, "", 0, 0, "print the launch that is served for one problem",
     "Needs --dtype and -n. Says where the answer comes from: override, exact, between, clamped, "
     "shipped, sibling, similar or builtin.",
     false},
    {"explain", CLI_EXPLAIN, cmd_explain, "", 0, 0, "print why that launch is served",
     "Needs --dtype and -n. Prints, step by step, which stores were read and how the lookup came "
     "to its "
     "answer.",
     false},
    {"reduce", CLI_REDUCE, cmd_reduce, "FILE [FILE]", 1, 2, "reduce a file with the served launch",
     "FILE is a NumPy .npy file of any shape, or raw elements (then with --dtype); - is standard "
     "input. "
     "Prints the value alone: an exact integer, or a float as %.17g; value and index for argmin "
     "and "
     "argmax, both for minmax, the integer before it is divided by the scale for mode fixed. dot "
     "takes two files. A file larger than the memory of the device is reduced in pieces.",
     false},
    {"export", CLI_EXPORT, cmd_export, "", 0, 0, "write stored winners as a YAML profile",
     "Writes the winners of one device (--device), or of every device in the store. A device of "
     "another "
     "machine is named by its identity, as `show` prints it. A profile holds parameters, never "
     "code.",
     false},
    {"import", CLI_IMPORT, cmd_import, "FILE", 1, 1, "read a YAML profile into the store",
     "All or nothing: a file with any error leaves the store as it was. Winners are stored under "
     "the "
     "identity in the file, whether or not that device is here. - is standard input.",
     false},
    {"doctor", CLI_DOCTOR, cmd_doctor, "", 0, 0, "check the environment",
     "One line for each finding: ok, note (something optional is absent, such as a GPU) or broken. "
     "Exits with 1 if anything is broken; an absent GPU alone is not.",
     false},
    {"completion", CLI_COMPLETION, cmd_completion, "", 0, 0, "print a completion script for bash",
     "For example: source <(reduce-tune completion)", false},
    {"help", CLI_HELP, cmd_help, "[VERB]", 0, 1, "print help on a verb", "", false},
    {"worker", CLI_WORKER, cmd_worker, "", 0, 0, "measure for a parent process", "", true},
};

const struct cli_verb *cli_verb_at(size_t k) {
    return k < RTUNE_ARRAY_SIZE(verbs) ? &verbs[k] : NULL;
}

const struct cli_verb *cli_verb_find(const char *name) {
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(verbs); k++)
        if (strcmp(verbs[k].name, name) == 0) return &verbs[k];
    return NULL;
}
