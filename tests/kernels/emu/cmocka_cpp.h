/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka_cpp.h: cmocka for C++ sources. */
#ifndef RTUNE_TESTS_EMU_CMOCKA_CPP_H
#define RTUNE_TESTS_EMU_CMOCKA_CPP_H

#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>

extern "C" {
#include <cmocka.h>
}

#endif
