/* SPDX-License-Identifier: Apache-2.0 */
/* tools/cmd_completion.c: a completion script for bash, made from the tables of verbs and options.
 */
#include "tools/cli.h"
#include "tools/console.h"

static void print_verb_options(const struct cli_verb *verb) {
    const struct cli_option *option;
    console_printf("        %s) words=\"", verb->name);
    const char *separator = "";
    for (size_t k = 0; (option = cli_option_at(k)) != NULL; k++) {
        if (option->hidden || !cli_option_applies(option, verb->id)) continue;
        console_printf("%s%s%s", separator, option->name[1] == '\0' ? "-" : "--", option->name);
        separator = " ";
    }
    console_printf("\" ;;\n");
}

/* The values of options that are spelled by name, and files for those that take one. */
static void print_values(void) {
    const struct cli_option *option;
    for (size_t k = 0; (option = cli_option_at(k)) != NULL; k++) {
        if (option->hidden || cli_option_name_at(option, 0) == NULL) continue;
        console_printf("        --%s) words=\"", option->name);
        const char *name;
        for (int v = 0; (name = cli_option_name_at(option, v)) != NULL; v++)
            console_printf("%s%s", v == 0 ? "" : " ", name);
        console_printf("\" ;;\n");
    }
    console_printf(
        "        --config|--db|--output|-o) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n"
        "        --device) words=\"0 cuda:0 cpu all\" ;;\n");
}

int cmd_completion(struct cli *cli) {
    const struct cli_verb *verb;
    (void)cli;
    console_printf(
        "# bash completion for reduce-tune, made by `reduce-tune completion`.\n"
        "_reduce_tune() {\n"
        "    local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
        "    local verb=\"${COMP_WORDS[1]}\" words=\"\"\n"
        "    if [ \"$cur\" = = ]; then cur=\"\"\n"
        "    elif [ \"$prev\" = = ]; then prev=\"${COMP_WORDS[COMP_CWORD-2]}\"; fi\n"
        "    case \"$prev\" in\n");
    print_values();
    console_printf("    esac\n"
                   "    if [ -n \"$words\" ]; then\n"
                   "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")); return\n"
                   "    fi\n"
                   "    case \"$verb\" in\n");
    for (size_t k = 0; (verb = cli_verb_at(k)) != NULL; k++)
        if (!verb->hidden) print_verb_options(verb);
    console_printf("        -*) words=\"");
    const struct cli_option *option;
    for (size_t k = 0; (option = cli_option_at(k)) != NULL; k++)
        if (!option->hidden && cli_option_applies(option, CLI_TUNE))
            console_printf("%s--%s", k == 0 ? "" : " ", option->name);
    console_printf("\" ;;\n    esac\n    if [ \"$COMP_CWORD\" = 1 ]; then words=\"$words");
    for (size_t k = 0; (verb = cli_verb_at(k)) != NULL; k++)
        if (!verb->hidden) console_printf(" %s", verb->name);
    console_printf("\"; fi\n"
                   "    case \"$cur\" in\n"
                   "        -*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
                   "        *) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\") "
                   "$(compgen -f -- \"$cur\")) ;;\n"
                   "    esac\n"
                   "}\n"
                   "complete -F _reduce_tune reduce-tune\n");
    return CLI_OK;
}
