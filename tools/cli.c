/* SPDX-License-Identifier: Apache-2.0 */
/* tools/cli.c: from argv to a verb, and from a status to an exit code. */
#include "tools/cli.h"

#include "base/parse.h"
#include "tools/console.h"
#include "tools/interrupt.h"

#include <stdio.h>
#include <string.h>

enum { ERROR_TEXT = 1024, QUOTE_TEXT = 72 };

int cli_fail(const struct rtune_error *err) {
    char text[ERROR_TEXT];
    rtune_err_format(err, text, sizeof text);
    console_error("%s", text[0] != '\0' ? text : rtune_status_text(err->status));
    if (err->status == RTUNE_LOCKED) return CLI_LOCKED;
    if (err->status == RTUNE_INTERRUPTED && interrupt_signal() != 0)
        return CLI_SIGNAL + interrupt_signal();
    return CLI_FAILED;
}

int cli_usage(const struct cli *cli, const struct rtune_error *err) {
    console_error("%s", err->message);
    const char *verb =
        cli->verb != NULL && strcmp(cli->verb->name, "help") != 0 ? cli->verb->name : "";
    (void)fprintf(stderr, "Try 'reduce-tune help%s%s'.\n", verb[0] != '\0' ? " " : "", verb);
    return CLI_USAGE;
}

static void print_log(void *user, enum rtune_log_level level, const char *text) {
    (void)user;
    if (level <= RTUNE_LOG_WARN) console_warn("%s", text);
}

/* Names of the visible verbs, for cli_nearest. */
static const char *verb_word(void *user, size_t k) {
    const struct cli_verb *verb;
    (void)user;
    for (size_t i = 0; (verb = cli_verb_at(i)) != NULL; i++)
        if (!verb->hidden && k-- == 0) return verb->name;
    return NULL;
}

static enum rtune_status find_verb(const char *word, const struct cli_verb **verb,
                                   struct rtune_error *err) {
    char quoted[QUOTE_TEXT];
    *verb = cli_verb_find(word);
    if (*verb != NULL) return RTUNE_OK;
    rtune_print_quoted(word, quoted, sizeof quoted);
    const char *near = cli_nearest(word, verb_word, NULL);
    if (near == NULL) return rtune_err_set(err, RTUNE_SYNTAX, "%s: unknown verb", quoted);
    return rtune_err_set(err, RTUNE_SYNTAX, "%s: unknown verb (did you mean %s?)", quoted, near);
}

static enum rtune_status check_args(const struct cli *cli, struct rtune_error *err) {
    const struct cli_verb *verb = cli->verb;
    char quoted[QUOTE_TEXT];
    if (cli->opt.arg_count > verb->args_max) {
        rtune_print_quoted(cli->opt.args[verb->args_max], quoted, sizeof quoted);
        return rtune_err_set(err, RTUNE_SYNTAX, "%s: unexpected argument (%s takes %s)", quoted,
                             verb->name,
                             verb->args_max == 0 ? "options only; a verb comes first" : verb->args);
    }
    if (cli->opt.arg_count < verb->args_min)
        return rtune_err_set(err, RTUNE_SYNTAX, "%s: needs %s", verb->name, verb->args);
    return RTUNE_OK;
}

static int print_version(void) {
    console_printf("reduce-tune %s\n", rtune_version_string());
    console_printf("librtune %s, kernel abi %d, kernel sources %.12s\n", rtune_version_string(),
                   RTUNE_KERNEL_ABI, rtune_device_sources_hash());
    return CLI_OK;
}

static int run(struct cli *cli, int argc, char **argv) {
    struct rtune_error err;
    int first = 1;
    rtune_err_clear(&err);
    if (argc < 2) {
        (void)rtune_err_set(
            &err, RTUNE_SYNTAX,
            "nothing to do: no device was named (reduce-tune --device 0 tunes the first "
            "GPU, reduce-tune --device cpu this processor)");
        return cli_usage(cli, &err);
    }
    cli->verb = cli_verb_find("tune");
    if (argv[1][0] != '-') {
        if (find_verb(argv[1], &cli->verb, &err) != RTUNE_OK) return cli_usage(cli, &err);
        first = 2;
    }
    if (cli_options_parse(cli->verb->id, argc - first, argv + first, &cli->opt, &err) != RTUNE_OK)
        return cli_usage(cli, &err);
    if (cli->opt.version) return print_version();
    if (cli->opt.help) {
        /* `reduce-tune --help` is about the program, `reduce-tune tune --help` about the verb. */
        cli->opt.arg_count = first == 2;
        cli->opt.args[0] = cli->verb->name;
        return cmd_help(cli);
    }
    if (check_args(cli, &err) != RTUNE_OK) return cli_usage(cli, &err);
    return cli->verb->run(cli);
}

int cli_main(int argc, char **argv) {
    struct cli cli;
    memset(&cli, 0, sizeof cli);
    cli.log.fn = print_log;
    cli.log.level = RTUNE_LOG_WARN;
    console_init();
    int code = run(&cli, argc, argv);
    cli_options_free(&cli.opt);
    return console_finish(code);
}
