/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools/options_parse.c: the command line, read by GNU's conventions: --name=value and --name
 * value, -n5 and -n 5, options and arguments in any order, -- ends the options. The last of a
 * repeated option counts.
 */
#include "tools/options.h"

#include "base/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_MAX = 64 };

struct parser {
    enum cli_verb_id verb;
    int argc;
    char **argv;
    int next; /* index of the next argument */
    struct cli_options *opt;
    struct rtune_error *err;
};

static void *field(struct cli_options *opt, size_t offset) { return (char *)opt + offset; }

static enum rtune_status read_name(const struct cli_option *option, const char *name, int *value,
                                   struct rtune_error *err) {
    if (option->names != CLI_NAMES_EFFORT)
        return rtune_name_parse((enum rtune_name_kind)option->names, name, value, err);
    const char *known;
    for (int k = 0; (known = cli_option_name_at(option, k)) != NULL; k++) {
        if (strcmp(name, known) == 0) {
            *value = k;
            return RTUNE_OK;
        }
    }
    return rtune_err_set(err, RTUNE_SYNTAX, "unknown effort \"%s\" (quick, standard or exhaustive)",
                         name);
}

/* A comma-separated list of names as bits. There is no word for every name: "all" is an op. */
static enum rtune_status read_names(const struct cli_option *option, const char *text,
                                    uint32_t *bits, struct rtune_error *err) {
    uint32_t named = 0;
    const char *part;
    size_t length;
    while (rtune_parse_field(&text, &part, &length)) {
        char name[WORD_MAX];
        int value;
        if (length == 0) return rtune_err_set(err, RTUNE_SYNTAX, "an empty name in the list");
        (void)snprintf(name, sizeof name, "%.*s", length < WORD_MAX ? (int)length : WORD_MAX - 1,
                       part);
        enum rtune_status status = read_name(option, name, &value, err);
        if (status != RTUNE_OK) return status;
        if (option->kind == CLI_KIND_NAME && named != 0)
            return rtune_err_set(err, RTUNE_SYNTAX, "takes one name, not a list");
        named |= 1u << value;
    }
    *bits = named;
    return RTUNE_OK;
}

static enum rtune_status read_value(const struct cli_option *option, const char *text,
                                    struct cli_options *opt, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    uint64_t number = 0;
    double seconds = 0;
    switch (option->kind) {
    case CLI_KIND_FLAG:
        *(bool *)field(opt, option->offset) = true;
        break;
    case CLI_KIND_TEXT:
        if (text[0] == '\0') return rtune_err_set(err, RTUNE_SYNTAX, "must not be empty");
        *(const char **)field(opt, option->offset) = text;
        break;
    case CLI_KIND_NAMES:
    case CLI_KIND_NAME:
        TRY(read_names(option, text, field(opt, option->offset), err));
        break;
    case CLI_KIND_SIZES:
        free(opt->sizes);
        opt->sizes = NULL;
        TRY(rtune_parse_sizes(text, option->min, option->max, &opt->sizes, &opt->size_count, err));
        break;
    case CLI_KIND_SIZE:
    case CLI_KIND_U64:
        TRY(option->kind == CLI_KIND_SIZE
                ? rtune_parse_size(text, option->min, option->max, &number, err)
                : rtune_parse_u64(text, option->min, option->max, &number, err));
        *(uint64_t *)field(opt, option->offset) = number;
        *(bool *)field(opt, option->offset2) = true;
        break;
    case CLI_KIND_DURATION:
        TRY(rtune_parse_duration(text, (double)option->min / 1000, (double)option->max / 1000,
                                 &seconds, err));
        *(double *)field(opt, option->offset) = seconds;
        *(bool *)field(opt, option->offset2) = true;
        break;
    }
done:
    return status;
}

/* Names of the options that a verb takes, for cli_nearest. */
static const char *option_word(void *user, size_t k) {
    const struct parser *p = user;
    const struct cli_option *option;
    for (size_t i = 0; (option = cli_option_at(i)) != NULL; i++)
        if (cli_option_applies(option, p->verb) && !option->hidden && k-- == 0) return option->name;
    return NULL;
}

static const struct cli_option *find_option(const struct parser *p, const char *name,
                                            size_t length) {
    const struct cli_option *option;
    for (size_t k = 0; (option = cli_option_at(k)) != NULL; k++)
        if (cli_option_applies(option, p->verb) && strlen(option->name) == length &&
            memcmp(option->name, name, length) == 0)
            return option;
    return NULL;
}

static enum rtune_status unknown_option(struct parser *p, const char *name, size_t length) {
    char word[WORD_MAX];
    (void)snprintf(word, sizeof word, "%.*s", length < WORD_MAX ? (int)length : WORD_MAX - 1, name);
    const char *near = cli_nearest(word, option_word, p);
    if (near == NULL) return rtune_err_set(p->err, RTUNE_SYNTAX, "--%s: unknown option", word);
    return rtune_err_set(p->err, RTUNE_SYNTAX, "--%s: unknown option (did you mean --%s?)", word,
                         near);
}

static enum rtune_status take_value(struct parser *p, const struct cli_option *option,
                                    const char *spelling, const char *attached) {
    const char *text = attached;
    if (option->kind == CLI_KIND_FLAG && attached != NULL)
        return rtune_err_set(p->err, RTUNE_SYNTAX, "%s: takes no value", spelling);
    if (option->kind != CLI_KIND_FLAG && attached == NULL) {
        if (p->next >= p->argc)
            return rtune_err_set(p->err, RTUNE_SYNTAX, "%s: needs a value (%s)", spelling,
                                 option->arg);
        text = p->argv[p->next++];
    }
    enum rtune_status status = read_value(option, text, p->opt, p->err);
    if (status != RTUNE_OK) rtune_err_prefix(p->err, "%s", spelling);
    return status;
}

static enum rtune_status long_option(struct parser *p, const char *text) {
    const char *equal = strchr(text, '=');
    size_t length = equal != NULL ? (size_t)(equal - text) : strlen(text);
    const struct cli_option *option = find_option(p, text, length);
    if (option == NULL) return unknown_option(p, text, length);
    char spelling[WORD_MAX];
    (void)snprintf(spelling, sizeof spelling, "--%s", option->name);
    return take_value(p, option, spelling, equal != NULL ? equal + 1 : NULL);
}

static enum rtune_status short_options(struct parser *p, const char *letters) {
    for (; *letters != '\0'; letters++) {
        const struct cli_option *option = NULL;
        for (size_t k = 0; (option = cli_option_at(k)) != NULL; k++)
            if (option->letter == *letters && cli_option_applies(option, p->verb)) break;
        if (option == NULL)
            return rtune_err_set(p->err, RTUNE_SYNTAX, "-%c: unknown option", *letters);
        char spelling[3] = {'-', *letters, '\0'};
        bool flag = option->kind == CLI_KIND_FLAG;
        const char *attached = !flag && letters[1] != '\0' ? letters + 1 : NULL;
        enum rtune_status status = take_value(p, option, spelling, attached);
        if (status != RTUNE_OK || !flag) return status;
    }
    return RTUNE_OK;
}

static enum rtune_status argument(struct parser *p, const char *text) {
    if (p->opt->arg_count == CLI_ARGS_MAX) {
        char quoted[WORD_MAX];
        rtune_print_quoted(text, quoted, sizeof quoted);
        return rtune_err_set(p->err, RTUNE_SYNTAX, "%s: too many arguments", quoted);
    }
    p->opt->args[p->opt->arg_count++] = text;
    return RTUNE_OK;
}

enum rtune_status cli_options_parse(enum cli_verb_id verb, int argc, char **argv,
                                    struct cli_options *opt, struct rtune_error *err) {
    struct parser p = {.verb = verb, .argc = argc, .argv = argv, .opt = opt, .err = err};
    enum rtune_status status = RTUNE_OK;
    bool only_arguments = false;
    while (p.next < argc) {
        const char *text = argv[p.next++];
        if (only_arguments || text[0] != '-' || text[1] == '\0')
            TRY(argument(&p, text));
        else if (strcmp(text, "--") == 0)
            only_arguments = true;
        else if (text[1] == '-')
            TRY(long_option(&p, text + 2));
        else
            TRY(short_options(&p, text + 1));
    }
    if (opt->resume && opt->fresh)
        TRY(rtune_err_set(err, RTUNE_SYNTAX, "--resume: contradicts --fresh (give one of them)"));
done:
    return status;
}

void cli_options_free(struct cli_options *opt) {
    free(opt->sizes);
    opt->sizes = NULL;
}
