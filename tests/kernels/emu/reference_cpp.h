/* SPDX-License-Identifier: Apache-2.0 */
/* reference_cpp.h: the reference for C++ sources. */
#ifndef RTUNE_TESTS_EMU_REFERENCE_CPP_H
#define RTUNE_TESTS_EMU_REFERENCE_CPP_H

extern "C" {
#include "tests/reference/data.h"
#include "tests/reference/element.h"
#include "tests/reference/reference.h"
}

#endif
