/* SPDX-License-Identifier: Apache-2.0 */
/* runtime/dlib.h: symbols of libraries that are opened at run time. */
#ifndef RTUNE_RUNTIME_DLIB_H
#define RTUNE_RUNTIME_DLIB_H

#include <stdbool.h>

/* Store the address of a function in the function pointer at *pointer (ISO C cannot assign it from
 * void *); NULL and false if the library has no such symbol. */
bool rtune_dlib_symbol(void *handle, const char *symbol, void *pointer);

#endif /* RTUNE_RUNTIME_DLIB_H */
