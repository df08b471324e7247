/* SPDX-License-Identifier: Apache-2.0 */
/* docs/STORE.md describes every table, column and type of the schema, in order, and no others. */
#include "base/buf.h"
#include "tests/db/helper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "table.column TYPE\n" for every column of a schema. */
static void list_schema(const struct rtune_schema *schema, struct rtune_buf *out) {
    struct rtune_error err = {0};
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    assert_status(RTUNE_OK, &err, rtune_sql_open(NULL, RTUNE_SQL_MEMORY, &db, &err));
    assert_status(RTUNE_OK, &err, rtune_schema_apply(db, schema, 0, &err));
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT m.name, t.name, t.type FROM sqlite_master m, "
                                        "pragma_table_info(m.name) t WHERE m.type = 'table' "
                                        "ORDER BY m.rowid, t.cid",
                                        -1, &stmt, NULL),
                     SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW)
        rtune_buf_printf(out, "%s.%s %s\n", sqlite3_column_text(stmt, 0),
                         sqlite3_column_text(stmt, 1), sqlite3_column_text(stmt, 2));
    sqlite3_finalize(stmt);
    rtune_sql_close(db);
}

/* The same from the page: "### `table`", then rows "| `column` | TYPE | ...". */
static void list_page(char *page, struct rtune_buf *out) {
    char table[32] = "", column[32], type[16];
    char *rest = page;
    for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
        if (strncmp(line, "#", 1) == 0) table[0] = '\0';
        (void)sscanf(line, "### `%31[a-z]`", table);
        if (table[0] != '\0' && sscanf(line, "| `%31[a-z0-9_]` | %15[A-Z] |", column, type) == 2)
            rtune_buf_printf(out, "%s.%s %s\n", table, column, type);
    }
}

static void page_and_schema_agree(void **state) {
    struct rtune_buf schema, page, text;
    struct rtune_error err = {0};
    (void)state;
    rtune_buf_init(&schema, 1u << 16);
    rtune_buf_init(&page, 1u << 16);
    assert_status(RTUNE_OK, &err,
                  rtune_file_read(RTUNE_SOURCE_DIR "/docs/STORE.md", 1u << 20, &text, &err));
    list_schema(rtune_schema_work(), &schema); /* has all tables */
    list_page(text.data, &page);
    assert_int_equal(rtune_buf_status(&schema, NULL), RTUNE_OK);
    assert_int_equal(rtune_buf_status(&page, NULL), RTUNE_OK);
    assert_string_equal(page.data, schema.data);
    rtune_buf_free(&schema);
    rtune_buf_free(&page);
    rtune_buf_free(&text);
}

static void page_names_every_number(void **state) {
    static const char *const words[] = {"0x72747531",   "0x72747331",    "0x72747731",
                                        "at most 10 s", "at most 4 MiB", "at most 4096"};
    struct rtune_buf text;
    struct rtune_error err = {0};
    (void)state;
    assert_int_equal(RTUNE_DB_APPLICATION_ID, 0x72747531);
    assert_int_equal(RTUNE_SAMPLES_APPLICATION_ID, 0x72747331);
    assert_int_equal(RTUNE_WORK_APPLICATION_ID, 0x72747731);
    assert_int_equal(RTUNE_DB_STORE_MAX, 4 << 20);
    assert_int_equal(RTUNE_DB_SAMPLES_MAX, 4096);
    assert_status(RTUNE_OK, &err,
                  rtune_file_read(RTUNE_SOURCE_DIR "/docs/STORE.md", 1u << 20, &text, &err));
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(words); i++)
        if (strstr(text.data, words[i]) == NULL) fail_msg("docs/STORE.md: no %s", words[i]);
    for (int i = 0; i < RTUNE_REASON_COUNT; i++)
        assert_non_null(strstr(text.data, rtune_reason_name((enum rtune_reason)i)));
    rtune_buf_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(page_and_schema_agree),
        cmocka_unit_test(page_names_every_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
