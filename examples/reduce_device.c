/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce_device.c: sum a device buffer with the launch that was tuned for it, and say where that
 * launch came from. Copy from here. Usage: reduce_device [--device cpu]; the device is GPU 0 if
 * nothing is said.
 */
#include <rtune/rtune.h>

#include "device_buffer.h"

#include <stdio.h>
#include <string.h>

enum { N = 1 << 20 };

static int fail(const struct rtune_error *err) {
    fprintf(stderr, "reduce_device: %s\n", err->message);
    return 1;
}

int main(int argc, char **argv) {
    static float host[N];
    float sum = 0;
    char config[160];
    struct rtune_error err;
    struct rtune_launch launch = RTUNE_LAUNCH_INIT;
    struct rtune_options opts = RTUNE_OPTIONS_INIT;
    rtune *rt = NULL;

    for (int i = 0; i < N; i++)
        host[i] = 0.5f;
    opts.device = argc == 3 && strcmp(argv[1], "--device") == 0 ? argv[2] : "cuda:0";
    if (rtune_open(&rt, &opts, &err)) return fail(&err); /* once per program and device */

    struct device_buffer in, out;
    if (!device_buffer_open(&in, rtune_device_name(rt), sizeof host, host) ||
        !device_buffer_open(&out, rtune_device_name(rt), sizeof sum, &sum)) {
        fprintf(stderr, "reduce_device: no memory on %s\n", rtune_device_name(rt));
        return 1;
    }
    struct rtune_problem problem = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, N);
    struct rtune_args args = RTUNE_ARGS(in.data, out.data);
    args.launch = &launch; /* only to tell; leave it NULL otherwise */
    if (rtune_reduce(rt, &problem, &args, NULL, &err)) return fail(&err); /* NULL: default stream */
    if (!device_buffer_get(&out, &sum, sizeof sum)) {
        fprintf(stderr, "reduce_device: cannot copy the result\n");
        return 1;
    }

    rtune_config_print(&launch.config, config, sizeof config);
    printf("sum: %g\n", (double)sum);
    printf("launch: %u blocks of %u threads (%s)\n", (unsigned)launch.grid, (unsigned)launch.block,
           config);
    printf("from: %s\n", launch.reason);
    device_buffer_close(&out);
    device_buffer_close(&in);
    rtune_close(rt);
    return 0;
}
