/* SPDX-License-Identifier: Apache-2.0 */
/* tuner/profile.h: profiles of one or more devices as YAML; parameters only, never code. */
#ifndef RTUNE_TUNER_PROFILE_H
#define RTUNE_TUNER_PROFILE_H

#include "base/buf.h"
#include "db/db.h"

/* Write the winners of a table (of one device if device is not NULL: an index into table->devices)
 * as a profile, appended to out. Equal tables give equal bytes, and what is written is read back
 * first, so that it can be imported. Left out: UUID and PCI address, cubin digests, session
 * numbers. Errors: what reading it would say; RANGE over RTUNE_YAML_MAX bytes. */
enum rtune_status rtune_profile_print(const struct rtune_table *table, const uint32_t *device,
                                      struct rtune_buf *out, struct rtune_error *err);

/* Read a profile: all or nothing. name stands for the file in messages. SYNTAX and RANGE carry
 * file:line:column. A profile of another kernel abi is RANGE. Devices keep the order of the file;
 * the table is freed with rtune_table_free. */
enum rtune_status rtune_profile_parse(const char *text, size_t size, const char *name,
                                      struct rtune_table *table, struct rtune_error *err);

#endif /* RTUNE_TUNER_PROFILE_H */
