/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup_launch.c: only the launch, for a kernel of one's own: what librtune would use for sums of
 * floats of some sizes, and why. Usage: lookup_launch [--device cpu].
 */
#include <rtune/rtune.h>

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    static const uint64_t sizes[] = {1000, 65536, 1000000, 16777216};
    struct rtune_error err;
    struct rtune_launch launch = RTUNE_LAUNCH_INIT;
    struct rtune_options opts = RTUNE_OPTIONS_INIT;
    char text[4096];
    rtune *rt = NULL;

    opts.device = argc == 3 && strcmp(argv[1], "--device") == 0 ? argv[2] : "cuda:0";
    if (rtune_open(&rt, &opts, &err)) goto fail;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct rtune_problem problem = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, sizes[i]);
        if (rtune_lookup(rt, &problem, &launch, &err)) goto fail;
        printf("n=%-9llu grid=%-5u block=%-5u %s\n", (unsigned long long)sizes[i],
               (unsigned)launch.grid, (unsigned)launch.block, launch.reason);
        if (i + 1 < sizeof sizes / sizeof sizes[0]) continue;
        if (rtune_explain(rt, &problem, text, sizeof text, NULL, &err)) goto fail;
        printf("\n%s", text);
    }
    rtune_close(rt);
    return 0;
fail:
    fprintf(stderr, "lookup_launch: %s\n", err.message);
    rtune_close(rt);
    return 1;
}
