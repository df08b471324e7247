/* SPDX-License-Identifier: Apache-2.0 */
/* A small good profile, as the program writes it, and copies of it with one thing changed. */
#ifndef RTUNE_TESTS_TUNER_PROFILE_FIXTURE_H
#define RTUNE_TESTS_TUNER_PROFILE_FIXTURE_H

/* Two devices (cuda, cpu), three problems, four rows. */
extern const char PROFILE[];

/* PROFILE with the first `from` replaced by `to`; fails the test if there is none. The caller frees
 * it. */
char *profile_with(const char *from, const char *to);

/* 1-based line of the k-th (0-based) occurrence of a text in a text. */
int line_of(const char *text, const char *words, int k);

#endif /* RTUNE_TESTS_TUNER_PROFILE_FIXTURE_H */
