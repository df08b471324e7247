/* SPDX-License-Identifier: Apache-2.0 */
/* runtime/dlib.c: dlsym for function pointers. */
#include "runtime/dlib.h"

#include <dlfcn.h>
#include <string.h>

bool rtune_dlib_symbol(void *handle, const char *symbol, void *pointer) {
    void *address = dlsym(handle, symbol);
    memcpy(pointer, &address, sizeof address);
    return address != NULL;
}
