/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.c: the formats of the three kinds of database, each the sum of the scripts in db/schema/
 * that lead from one version to the next. A later release adds a script and never edits one.
 */
#include "db/sql.h"

extern const unsigned char rtune_sql_core_1[], rtune_sql_winner_1[], rtune_sql_trial_1[];
extern const unsigned char rtune_sql_winner_2[], rtune_sql_trial_2[];

/* The embedded scripts end in a NUL, so that they are C strings. */
#define SCRIPT(symbol) ((const char *)(symbol))

const struct rtune_schema *rtune_schema_store(void) {
    static const char *const one[] = {SCRIPT(rtune_sql_core_1), SCRIPT(rtune_sql_winner_1), NULL};
    static const char *const two[] = {SCRIPT(rtune_sql_winner_2), NULL};
    static const char *const *const steps[] = {one, two};
    static const struct rtune_schema schema = {"store", RTUNE_DB_APPLICATION_ID, RTUNE_DB_SCHEMA,
                                               steps};
    return &schema;
}

const struct rtune_schema *rtune_schema_samples(void) {
    static const char *const one[] = {SCRIPT(rtune_sql_core_1), SCRIPT(rtune_sql_trial_1), NULL};
    static const char *const two[] = {SCRIPT(rtune_sql_trial_2), NULL};
    static const char *const *const steps[] = {one, two};
    static const struct rtune_schema schema = {"file of samples", RTUNE_SAMPLES_APPLICATION_ID,
                                               RTUNE_DB_SCHEMA, steps};
    return &schema;
}

const struct rtune_schema *rtune_schema_work(void) {
    static const char *const one[] = {SCRIPT(rtune_sql_core_1), SCRIPT(rtune_sql_winner_1),
                                      SCRIPT(rtune_sql_trial_1), NULL};
    static const char *const two[] = {SCRIPT(rtune_sql_winner_2), SCRIPT(rtune_sql_trial_2), NULL};
    static const char *const *const steps[] = {one, two};
    static const struct rtune_schema schema = {"work database", RTUNE_WORK_APPLICATION_ID,
                                               RTUNE_DB_SCHEMA, steps};
    return &schema;
}

enum rtune_status rtune_schema_apply(sqlite3 *db, const struct rtune_schema *schema, int version,
                                     struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    for (int v = version; v < schema->version; v++)
        for (const char *const *script = schema->steps[v]; *script != NULL; script++)
            TRY(rtune_sql_script(db, *script, err));
    TRY(rtune_sql_stamp(db, schema->application_id, schema->version, err));
done:
    return status;
}
