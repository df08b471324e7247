/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools/cmd_tune.c: measure and store. The command line is checked whole before a file, a device or
 * a store is touched.
 */
#include "base/buf.h"
#include "tools/console.h"
#include "tools/device_arg.h"
#include "tools/interrupt.h"
#include "tools/problem_arg.h"
#include "tools/tune_output.h"
#include "tuner/space.h"
#include "tuner/tuner.h"
#include "tuner/yaml.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUDGET_DEFAULT_S = 600, SEED_DEFAULT = 1 };

/* This program, to start workers with: the running file itself, also where an upgrade has meanwhile
 * put another one at its path. */
static const char own_program[] = "/proc/self/exe";

static enum rtune_status check_program(struct rtune_error *err) {
    if (access(own_program, X_OK) == 0) return RTUNE_OK;
    return rtune_err_set_errno(err, RTUNE_IO, errno, "%s: cannot read (is /proc there?)",
                               own_program);
}

/* A search space that cannot be read is told before the device is opened. */
static enum rtune_status check_space(const char *file, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_buf text = {.data = NULL};
    rtune_space *space = NULL;
    if (file == NULL) return RTUNE_OK;
    TRY(rtune_file_read(file, RTUNE_YAML_MAX, &text, err));
    TRY(rtune_space_parse(text.data, text.size, file, &space, err));
done:
    rtune_space_free(space);
    rtune_buf_free(&text);
    return status;
}

/* A store that cannot be used is told before anything is measured, not after. */
static enum rtune_status check_store(const struct cli_options *opt, struct rtune_error *err) {
    struct rtune_store_path path;
    struct rtune_table table = {.devices = NULL};
    enum rtune_status status = opt->dry_run
                                   ? rtune_store_choose(opt->db, geteuid() == 0, &path, err)
                                   : rtune_store_target(opt->db, &path, err);
    if (status != RTUNE_OK) return status;
    status = rtune_store_read(path.path, &table, NULL, err);
    rtune_table_free(&table);
    return status == RTUNE_NOT_FOUND ? RTUNE_OK : status;
}

static enum rtune_effort effort(const struct cli_options *opt) {
    return opt->efforts != 0 ? (enum rtune_effort)__builtin_ctz(opt->efforts)
                             : RTUNE_EFFORT_STANDARD;
}

static double budget(const struct cli_options *opt) {
    if (opt->has_budget) return opt->budget_s;
    return effort(opt) == RTUNE_EFFORT_EXHAUSTIVE ? 0 : BUDGET_DEFAULT_S;
}

/* Tune one device; the result is an exit code. */
static int tune_device(struct cli *cli, const char *device, const struct rtune_problem *problems,
                       size_t count) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_error err;
    struct tune_output output;
    TRY(check_program(&err));
    struct rtune_tune_options options = {
        .device = device,
        .store = cli->opt.db,
        .space_file = cli->opt.config,
        .problems = problems,
        .problem_count = count,
        .sizes = cli->opt.sizes,
        .size_count = cli->opt.size_count,
        .effort = effort(&cli->opt),
        .budget_s = budget(&cli->opt),
        .seed = cli->opt.has_seed ? cli->opt.seed : SEED_DEFAULT,
        .resume = cli->opt.resume,
        .fresh = cli->opt.fresh,
        .plan_only = cli->opt.dry_run,
        .threads = (uint32_t)cli->opt.threads,
        .worker = own_program,
        .stop = interrupt_flag(),
        .log = &cli->log,
    };
    tune_output_init(&output, cli->opt.json);
    TRY(rtune_tune(&options, tune_output_event, &output, &err));
done:
    console_progress_line("");
    if (interrupt_signal() == SIGPIPE) return CLI_OK; /* console_finish has the last word */
    if (status != RTUNE_OK) return cli_fail(&err);
    return interrupt_signal() != 0 ? CLI_SIGNAL + interrupt_signal() : CLI_OK;
}

/* Every device that is here, one after the other; the first failure's code. */
static int tune_all(struct cli *cli, const struct rtune_problem *problems, size_t count) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_error err;
    int code = CLI_OK;
    struct device_list *list = calloc(1, sizeof *list);
    if (list == NULL) TRY(rtune_err_set(&err, RTUNE_NO_MEMORY, "out of memory"));
    TRY(device_list_read(list, &err));
    for (size_t k = 0; k < list->count && !*interrupt_flag(); k++) {
        int one = tune_device(cli, list->entries[k].spec, problems, count);
        if (code == CLI_OK) code = one;
    }
done:
    free(list);
    return status == RTUNE_OK ? code : cli_fail(&err);
}

int cmd_tune(struct cli *cli) {
    struct rtune_error err;
    struct rtune_problem *problems = NULL;
    size_t count = 0;
    int code;
    if (cli->opt.device == NULL) {
        (void)rtune_err_set(&err, RTUNE_SYNTAX,
                            "--device: is needed (0 is the first GPU, cpu this processor)");
        return cli_usage(cli, &err);
    }
    if (device_arg_check(cli->opt.device, true, false, &err) != RTUNE_OK ||
        problem_arg_many(&cli->opt, &problems, &count, &err) != RTUNE_OK)
        return cli_usage(cli, &err);
    if (check_space(cli->opt.config, &err) != RTUNE_OK ||
        check_store(&cli->opt, &err) != RTUNE_OK) {
        free(problems);
        return cli_fail(&err);
    }
    interrupt_install();
    if (strcmp(cli->opt.device, "all") == 0)
        code = tune_all(cli, problems, count);
    else
        code = tune_device(cli, cli->opt.device, problems, count);
    free(problems);
    return code;
}
