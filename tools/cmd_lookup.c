/* SPDX-License-Identifier: Apache-2.0 */
/* tools/cmd_lookup.c: the launch that the library serves for one problem. */
#include "tools/console.h"
#include "tools/device_arg.h"
#include "tools/problem_arg.h"
#include "tools/serve.h"

int cmd_lookup(struct cli *cli) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_error err;
    struct rtune_problem problem;
    struct rtune_launch launch = RTUNE_LAUNCH_INIT;
    struct json json;
    rtune *rt = NULL;
    int code = CLI_OK;
    if (device_arg_check(cli->opt.device, false, false, &err) != RTUNE_OK ||
        problem_arg_one(&cli->opt, NULL, NULL, &problem, &err) != RTUNE_OK)
        return cli_usage(cli, &err);
    TRY(serve_open(cli, &rt, &err));
    TRY(rtune_lookup(rt, &problem, &launch, &err));
    if (cli->opt.json) {
        json_begin(&json);
        serve_launch_json(&json, rt, &problem, &launch);
        code = json_print(&json);
    } else {
        serve_launch_print(rt, &problem, &launch);
    }
done:
    if (status != RTUNE_OK) code = cli_fail(&err);
    rtune_close(rt);
    return code;
}
