/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fake/old_nvrtc.c: a libnvrtc.so.13 that says it is 12.2. */
#include <stddef.h>

#define FAKE_API __attribute__((visibility("default")))

FAKE_API const char *nvrtcGetErrorString(int result);
FAKE_API int nvrtcVersion(int *major, int *minor);

const char *nvrtcGetErrorString(int result) { return result ? "error" : "success"; }
int nvrtcVersion(int *major, int *minor) {
    *major = 12;
    *minor = 2;
    return 0;
}

/* Never called: the version is refused first. */
#define NEVER(name)                                                                                \
    FAKE_API int name(void);                                                                       \
    int name(void) { return 1; }
NEVER(nvrtcCreateProgram)
NEVER(nvrtcDestroyProgram)
NEVER(nvrtcCompileProgram)
NEVER(nvrtcGetCUBINSize)
NEVER(nvrtcGetCUBIN)
NEVER(nvrtcGetProgramLogSize)
NEVER(nvrtcGetProgramLog)
