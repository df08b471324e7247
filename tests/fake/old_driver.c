/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fake/old_driver.c: a libcuda.so.1 that is too old to have most functions. */
__attribute__((visibility("default"))) int cuDriverGetVersion(int *version);

int cuDriverGetVersion(int *version) {
    *version = 11040;
    return 0;
}
