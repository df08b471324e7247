/* SPDX-License-Identifier: Apache-2.0 */
/* tools/cmd_explain.c: how a lookup came to its answer. */
#include "tools/console.h"
#include "tools/device_arg.h"
#include "tools/problem_arg.h"
#include "tools/serve.h"

#include <stdlib.h>
#include <string.h>

/* One array element a line of text. */
static void json_lines(struct json *json, const char *key, char *text) {
    json_open(json, key, '[');
    for (char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        bool last = line[length] == '\0';
        line[length] = '\0';
        json_text(json, NULL, line);
        line += length + !last;
    }
    json_close(json, ']');
}

static enum rtune_status explain_text(const rtune *rt, const struct rtune_problem *problem,
                                      char **text, struct rtune_error *err) {
    size_t length = 0;
    enum rtune_status status = rtune_explain(rt, problem, NULL, 0, &length, err);
    if (status != RTUNE_OK) return status;
    char *room = malloc(length + 1);
    if (room == NULL) return rtune_err_set(err, RTUNE_NO_MEMORY, "out of memory");
    status = rtune_explain(rt, problem, room, length + 1, NULL, err);
    if (status == RTUNE_OK)
        *text = room;
    else
        free(room);
    return status;
}

int cmd_explain(struct cli *cli) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_error err;
    struct rtune_problem problem;
    struct rtune_launch launch = RTUNE_LAUNCH_INIT;
    struct json json;
    rtune *rt = NULL;
    char *text = NULL;
    int code = CLI_OK;
    if (device_arg_check(cli->opt.device, false, false, &err) != RTUNE_OK ||
        problem_arg_one(&cli->opt, NULL, NULL, &problem, &err) != RTUNE_OK)
        return cli_usage(cli, &err);
    TRY(serve_open(cli, &rt, &err));
    TRY(rtune_lookup(rt, &problem, &launch, &err));
    TRY(explain_text(rt, &problem, &text, &err));
    if (cli->opt.json) {
        json_begin(&json);
        serve_launch_json(&json, rt, &problem, &launch);
        json_lines(&json, "explain", text);
        code = json_print(&json);
    } else {
        (void)console_clean(text, true);
        console_printf("%s%s", text, text[0] != '\0' && text[strlen(text) - 1] == '\n' ? "" : "\n");
    }
done:
    if (status != RTUNE_OK) code = cli_fail(&err);
    free(text);
    rtune_close(rt);
    return code;
}
