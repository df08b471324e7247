/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools/cmd_worker.c: the hidden verb that a tuning session starts for its candidates. The parent
 * decides when it ends; an interrupt typed at the terminal reaches both, and is the parent's to
 * handle.
 */
#include "tools/cli.h"
#include "tuner/tuner.h"

#include <signal.h>

int cmd_worker(struct cli *cli) {
    struct rtune_error err;
    if (!cli->opt.has_fd) {
        (void)rtune_err_set(&err, RTUNE_SYNTAX,
                            "worker: needs --fd (tune starts workers by itself)");
        return cli_usage(cli, &err);
    }
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    return rtune_worker_main((int)cli->opt.fd);
}
