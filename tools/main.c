/* SPDX-License-Identifier: Apache-2.0 */
/* tools/main.c: reduce-tune. Everything is behind cli_main, so that nothing else needs a main. */
#include "tools/cli.h"

int main(int argc, char **argv) { return cli_main(argc, argv); }
