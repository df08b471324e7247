/* SPDX-License-Identifier: Apache-2.0 */
/* catalog.h: the instances of the selection, compiled for the host. */
#ifndef RTUNE_TESTS_EMU_CATALOG_H
#define RTUNE_TESTS_EMU_CATALOG_H

#include "tests/kernels/emu/emu.h"
#include "tests/kernels/emu/selection.h"

#include <vector>

namespace rtune_emu {

struct instance {
    rtune_problem problem;    /* n is 0 */
    rtune_config config;      /* the grid is 1 */
    kernel_fn kernel, second; /* second: NULL but for a finish by two kernels */
    const char *name;
};

/* All of them; aborts if the tables and the selection disagree. */
const std::vector<instance> &catalog();
/* Those for big inputs. */
const std::vector<instance> &catalog_big();

} // namespace rtune_emu

#endif
