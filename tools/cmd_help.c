/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools/cmd_help.c: help for people, and the same tables for machines: `help --list` (the checks of
 * the documentation) and `help --man PART` (the
 * generated parts of docs/man/reduce-tune.1).
 */
#include "tools/cli.h"
#include "tools/console.h"
#include "tools/environment.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 79, INDENT = 22 };

/* Print words from column `column` on, broken at WIDTH, continued at column `indent`. */
static void print_wrapped(const char *text, int column, int indent) {
    int at = column;
    while (*text != '\0') {
        int length = (int)strcspn(text, " ");
        if (at > indent && at + 1 + length > WIDTH) {
            console_printf("\n%*s", indent, "");
            at = indent;
        } else if (at > indent) {
            console_printf(" ");
            at++;
        }
        console_printf("%.*s", length, text);
        at += length;
        text += length + (text[length] == ' ');
    }
    console_printf("\n");
}

/* "-o, --output=FILE" */
static int option_spelling(const struct cli_option *option, char *text, size_t size) {
    bool one_letter = option->name[1] == '\0';
    char letter[8] = "";
    if (option->letter != '\0')
        (void)snprintf(letter, sizeof letter, "-%c%s", option->letter, one_letter ? "" : ", ");
    if (one_letter) return snprintf(text, size, "%s %s", letter, option->arg);
    return snprintf(text, size, "%s--%s%s%s", letter, option->name, option->arg != NULL ? "=" : "",
                    option->arg != NULL ? option->arg : "");
}

/* " One of a, b, c." if the option takes names, else nothing. */
static void names_text(const struct cli_option *option, char *text, size_t size) {
    const char *name;
    size_t used = 0;
    text[0] = '\0';
    for (int k = 0; used < size && (name = cli_option_name_at(option, k)) != NULL; k++) {
        const char *end = cli_option_name_at(option, k + 1) == NULL ? "." : "";
        const int length =
            snprintf(text + used, size - used, "%s%s%s", k == 0 ? " One of " : ", ", name, end);
        used += length > 0 ? (size_t)length : size;
    }
}

static void print_option(const struct cli_option *option) {
    char spelling[64], names[256], text[1024];
    int length = option_spelling(option, spelling, sizeof spelling);
    console_printf("  %s%s%s", console_bold(), spelling, console_plain());
    if (length + 2 >= INDENT)
        console_printf("\n%*s", INDENT, "");
    else
        console_printf("%*s", INDENT - length - 2, "");
    names_text(option, names, sizeof names);
    (void)snprintf(text, sizeof text, "%s%s", option->help, names);
    print_wrapped(text, INDENT, INDENT);
}

static void print_options(enum cli_verb_id verb) {
    const struct cli_option *option;
    console_printf("\nOptions:\n");
    for (size_t k = 0; (option = cli_option_at(k)) != NULL; k++)
        if (!option->hidden && cli_option_applies(option, verb)) print_option(option);
}

static void help_program(void) {
    const struct cli_verb *verb;
    console_printf(
        "Usage: reduce-tune [tune] --device DEVICE [OPTION]...\n"
        "  or:  reduce-tune VERB [OPTION]... [ARGUMENT]\n\n"
        "Measure which launch parameters make a parallel reduction fastest on the device that\n"
        "is here, keep the winners, and serve them.\n\nVerbs:\n");
    for (size_t k = 0; (verb = cli_verb_at(k)) != NULL; k++)
        if (!verb->hidden)
            console_printf("  %s%-11s%s %s\n", console_bold(), verb->name, console_plain(),
                           verb->summary);
    console_printf(
        "\nExamples:\n"
        "  reduce-tune --device 0                            tune the first GPU (10 minutes)\n"
        "  reduce-tune --device cpu --budget 30s             tune this processor\n"
        "  reduce-tune lookup --op sum --dtype f32 -n 2^20   the launch served for a problem\n"
        "  reduce-tune reduce data.npy --op max              reduce a file\n\n"
        "`reduce-tune help VERB` has the options of a verb.\n"
        "Exit status: 0 success, 1 the work failed, 2 usage, 75 the store stays locked,\n"
        "130 and 143 interrupted.\n");
}

static void help_verb(const struct cli_verb *verb) {
    console_printf("Usage: reduce-tune %s%s [OPTION]...%s%s\n\n",
                   verb->id == CLI_TUNE ? "[tune]" : verb->name,
                   verb->id == CLI_TUNE ? " --device DEVICE" : "", verb->args[0] != '\0' ? " " : "",
                   verb->args);
    console_printf("%c%s.\n", verb->summary[0] - 'a' + 'A', verb->summary + 1);
    if (verb->detail[0] != '\0') print_wrapped(verb->detail, 0, 0);
    print_options(verb->id);
}

static void list_option(const struct cli_verb *verb, const struct cli_option *option) {
    if (option->letter != '\0') console_printf("option %s -%c\n", verb->name, option->letter);
    if (option->name[1] != '\0') console_printf("option %s --%s\n", verb->name, option->name);
}

/* "verb NAME", "option VERB NAME" and "env NAME" lines, hidden ones left out. */
static int list_everything(void) {
    const struct cli_verb *verb;
    const struct cli_option *option;
    for (size_t v = 0; (verb = cli_verb_at(v)) != NULL; v++) {
        if (verb->hidden) continue;
        console_printf("verb %s\n", verb->name);
        for (size_t k = 0; (option = cli_option_at(k)) != NULL; k++)
            if (!option->hidden && cli_option_applies(option, verb->id)) list_option(verb, option);
    }
    const struct environment_variable *variable;
    for (size_t k = 0; (variable = environment_at(k)) != NULL; k++)
        console_printf("env %s\n", variable->name);
    return CLI_OK;
}

/* Text for roff: a hyphen is a minus sign, and a backslash is escaped. */
static void print_roff(const char *text) {
    for (; *text != '\0'; text++) {
        if (*text == '-')
            console_printf("\\-");
        else if (*text == '\\')
            console_printf("\\e");
        else
            console_printf("%c", *text);
    }
}

static void man_option(const struct cli_option *option) {
    console_printf(".TP\n");
    if (option->letter != '\0') console_printf(".BR \\-%c", option->letter);
    if (option->name[1] == '\0') {
        console_printf(" \" \" \\fI%s\\fR\n", option->arg);
    } else {
        console_printf(option->letter != '\0' ? " \", \" " : ".BR ");
        console_printf("\\-\\-");
        print_roff(option->name);
        if (option->arg != NULL) console_printf(" = \\fI%s\\fR", option->arg);
        console_printf("\n");
    }
    print_roff(option->help);
    console_printf("\n");
    char names[256];
    names_text(option, names, sizeof names);
    if (names[0] != '\0') console_printf("%s\n", names + 1);
    console_printf("Verbs:");
    const struct cli_verb *verb;
    const char *separator = " ";
    for (size_t v = 0; (verb = cli_verb_at(v)) != NULL; v++) {
        if (verb->hidden || !cli_option_applies(option, verb->id)) continue;
        console_printf("%s%s", separator, verb->name);
        separator = ", ";
    }
    console_printf(".\n");
}

static void man_verb(const struct cli_verb *verb) {
    console_printf(".TP\n.BR %s", verb->name);
    if (verb->args[0] != '\0') console_printf(" \" \" \\fI%s\\fR", verb->args);
    console_printf("\n%c", verb->summary[0] - 'a' + 'A');
    print_roff(verb->summary + 1);
    console_printf(".\n");
    print_roff(verb->detail);
    console_printf(verb->detail[0] != '\0' ? "\n" : "");
}

static int print_man(const char *part) {
    const struct cli_verb *verb;
    const struct cli_option *option;
    const struct environment_variable *variable;
    if (strcmp(part, "verbs") == 0) {
        for (size_t k = 0; (verb = cli_verb_at(k)) != NULL; k++)
            if (!verb->hidden) man_verb(verb);
    } else if (strcmp(part, "options") == 0) {
        for (size_t k = 0; (option = cli_option_at(k)) != NULL; k++)
            if (!option->hidden) man_option(option);
    } else {
        for (size_t k = 0; (variable = environment_at(k)) != NULL; k++) {
            console_printf(".TP\n.B %s\n", variable->name);
            print_roff(variable->help);
            console_printf("\n");
        }
    }
    return CLI_OK;
}

int cmd_help(struct cli *cli) {
    if (cli->opt.list) return list_everything();
    if (cli->opt.man != NULL) return print_man(cli->opt.man);
    if (cli->opt.arg_count == 0) {
        help_program();
        return CLI_OK;
    }
    const struct cli_verb *verb = cli_verb_find(cli->opt.args[0]);
    if (verb == NULL || verb->hidden) {
        struct rtune_error err;
        (void)rtune_err_set(&err, RTUNE_SYNTAX, "help %s: no such verb", cli->opt.args[0]);
        return cli_usage(cli, &err);
    }
    help_verb(verb);
    return CLI_OK;
}
