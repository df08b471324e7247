/* SPDX-License-Identifier: Apache-2.0 */
/* A program of somebody else: it knows what is installed and nothing more. C11 and C++17. */
#include <rtune/rtune.h>

#include <stdio.h>
#include <string.h>

int main(void) {
    const int32_t in[4] = {1, 2, 3, 4};
    int64_t out = 0;
    struct rtune_error err;
    struct rtune_options opts = RTUNE_OPTIONS_INIT;
    struct rtune_problem problem = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, 4);
    struct rtune_args args = RTUNE_ARGS(in, &out);
    rtune *rt = NULL;
    opts.device = "cpu";
    opts.store = "none";
    if (rtune_version_number() != RTUNE_VERSION_NUMBER) return 2;
    if (strcmp(rtune_version_string(), RTUNE_VERSION_STRING) != 0) return 3;
    if (rtune_open(&rt, &opts, &err) || rtune_reduce(rt, &problem, &args, NULL, &err)) {
        printf("%s\n", err.message);
        return 4;
    }
    rtune_close(rt);
    printf("%lld\n", (long long)out);
    return out == 10 ? 0 : 5;
}
