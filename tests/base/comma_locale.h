/* SPDX-License-Identifier: Apache-2.0 */
/* Put the test process into a locale whose decimal point is a comma. */
#ifndef RTUNE_TESTS_BASE_COMMA_LOCALE_H
#define RTUNE_TESTS_BASE_COMMA_LOCALE_H

#include <stdbool.h>

/* Sets every category to an installed locale with a decimal comma, else to one that localedef makes
 * in a temporary folder. False, after saying so on stderr, if neither is to be had. */
bool comma_locale_set(void);
/* Back to the C locale; removes the temporary folder. */
void comma_locale_reset(void);

#endif /* RTUNE_TESTS_BASE_COMMA_LOCALE_H */
