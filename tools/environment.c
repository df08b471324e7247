/* SPDX-License-Identifier: Apache-2.0 */
/* tools/environment.c: the table of environment variables. */
#include "tools/environment.h"

#include "base/num.h"

static const struct environment_variable variables[] = {
    {"RTUNE_DB", "The store, in place of the user's and the system's; none for no store at all."},
    {"RTUNE_OVERRIDE",
     "Configs that beat every store, as sum,f32:block=256,items=16,grid=4xsm; several "
     "are separated by semicolons."},
    {"XDG_DATA_HOME", "The user's store is rtune/tune.db in it."},
    {"HOME", "The user's store is .local/share/rtune/tune.db in it if XDG_DATA_HOME is not set."},
    {"CUDA_HOME", "Where NVRTC is looked for, after the library path."},
    {"CUDA_PATH", "The same, after CUDA_HOME."},
    {"CUDA_VISIBLE_DEVICES", "The driver shows these GPUs alone, numbered anew."},
    {"NO_COLOR", "Not empty: no colours."},
};

const struct environment_variable *environment_at(size_t k) {
    return k < RTUNE_ARRAY_SIZE(variables) ? &variables[k] : NULL;
}
