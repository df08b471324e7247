/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image.c: a store as bytes. What a file claims to be is read from its header before SQLite sees
 * it; then it is opened in memory, never in place, with bounds on what it may cost, and checked as
 * a whole.
 */
#include "db/db_int.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Offsets in the header of an SQLite database,
 * https://www.sqlite.org/fileformat2.html#the_database_header */
enum {
    HEADER_SIZE = 100,
    AT_PAGE_SIZE = 16,     /* 2 bytes; 1 is 65536 */
    AT_WRITE_VERSION = 18, /* 1: rollback journal, 2: WAL */
    AT_READ_VERSION = 19,
    AT_CHANGE_COUNTER = 24,
    AT_PAGE_COUNT = 28, /* valid if the two counters are equal */
    AT_USER_VERSION = 60,
    AT_APPLICATION_ID = 68,
    AT_VALID_FOR = 92
};

/* Work a hostile image may cause: a full store needs about a tenth. */
enum { CHECK_OPS = 10000, CHECK_CALLS = 5000 };

static uint32_t big_endian(const unsigned char *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

void rtune_image_free(struct rtune_image *image) {
    free(image->data);
    image->data = NULL;
    image->size = 0;
}

enum rtune_status rtune_image_header(const unsigned char *header, size_t have, uint64_t file_size,
                                     const struct rtune_schema *schema, int *version,
                                     struct rtune_error *err) {
    static const char magic[16] = "SQLite format 3";
    if (file_size == 0) return rtune_err_set(err, RTUNE_STORE_DAMAGED, "is empty (0 bytes)");
    if (memcmp(header, magic, rtune_min_u64(have, sizeof magic)) != 0)
        return rtune_err_set(err, RTUNE_STORE_FOREIGN, "is not an SQLite database");
    if (have < HEADER_SIZE)
        return rtune_err_set(err, RTUNE_STORE_DAMAGED, "ends within its header (%zu bytes)", have);
    uint32_t id = big_endian(header + AT_APPLICATION_ID);
    if (id != (uint32_t)schema->application_id)
        return rtune_err_set(err, RTUNE_STORE_FOREIGN,
                             "is not a %s of reduce-tune (application id 0x%08x, expected 0x%08x)",
                             schema->what, (unsigned)id, (unsigned)schema->application_id);
    int32_t stored = (int32_t)big_endian(header + AT_USER_VERSION);
    if (stored > schema->version)
        return rtune_err_set(err, RTUNE_STORE_NEWER,
                             "has format %ld, this version knows formats up to %d (use a newer "
                             "reduce-tune)",
                             (long)stored, schema->version);
    if (stored < 1)
        return rtune_err_set(err, RTUNE_STORE_DAMAGED, "has no valid format number (%ld)",
                             (long)stored);
    *version = (int)stored;
    return RTUNE_OK;
}

/* A published database: whole, and not in WAL mode, where its newest rows may be in another file.
 */
static enum rtune_status check_geometry(const unsigned char *data, size_t size,
                                        struct rtune_error *err) {
    uint32_t page = (uint32_t)data[AT_PAGE_SIZE] << 8 | data[AT_PAGE_SIZE + 1];
    uint64_t pages = big_endian(data + AT_PAGE_COUNT);
    if (page == 1) page = 65536;
    if (page < 512 || !rtune_is_pow2(page))
        return rtune_err_set(err, RTUNE_STORE_DAMAGED, "has an impossible page size");
    if (data[AT_WRITE_VERSION] == 2 || data[AT_READ_VERSION] == 2)
        return rtune_err_set(err, RTUNE_STORE_DAMAGED,
                             "is in WAL mode (change it back: PRAGMA journal_mode = DELETE)");
    if (size % page != 0 ||
        (big_endian(data + AT_CHANGE_COUNTER) == big_endian(data + AT_VALID_FOR) &&
         pages * page != size))
        return rtune_err_set(err, RTUNE_STORE_DAMAGED,
                             "is truncated or has been added to (%zu bytes, its header says %llu)",
                             size, (unsigned long long)(pages * page));
    return RTUNE_OK;
}

/* Read and judge the header of an open file. */
static enum rtune_status read_header(int fd, const struct stat *info,
                                     const struct rtune_schema *schema, int *version,
                                     struct rtune_error *err) {
    unsigned char header[HEADER_SIZE];
    size_t have = (size_t)rtune_min_u64((uint64_t)info->st_size, sizeof header);
    enum rtune_status status = rtune_trust_read(fd, header, have, err);
    if (status != RTUNE_OK) return status;
    return rtune_image_header(header, have, (uint64_t)info->st_size, schema, version, err);
}

/* Does a file hold what SQLite would still bring into the database beside it? A rollback journal
 * whose first byte is 0 is one that is done with, https://www.sqlite.org/fileformat2.html. */
static bool is_pending(const char *name, bool log) {
    struct stat info;
    char first = 1;
    if (lstat(name, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) return false;
    if (log) return true;
    int fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return true;
    if (pread(fd, &first, 1, 0) != 1) first = 1;
    close(fd);
    return first != 0;
}

enum rtune_status rtune_image_alone(const char *path, struct rtune_error *err) {
    static const char *const suffixes[] = {"-journal", "-wal"};
    enum rtune_status status = RTUNE_OK;
    char name[RTUNE_DB_PATH];
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(suffixes); i++) {
        TRY(rtune_path_suffix(name, path, suffixes[i], err));
        if (is_pending(name, i == 1))
            TRY(rtune_err_set(err, RTUNE_STORE_DAMAGED,
                              "an interrupted change of another program lies beside it, with the "
                              "suffix %s (read it once with sqlite3, or remove that file)",
                              suffixes[i]));
    }
done:
    return status;
}

enum rtune_status rtune_image_load(const char *path, const struct rtune_schema *schema,
                                   struct rtune_image *image, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_image read = {0};
    struct stat info;
    int fd = -1;
    TRY(rtune_trust_open(AT_FDCWD, path, &fd, &info, err));
    TRY(read_header(fd, &info, schema, &read.version, err));
    if ((uint64_t)info.st_size > RTUNE_DB_STORE_MAX)
        TRY(rtune_err_set(err, RTUNE_STORE_DAMAGED,
                          "is larger than a %s can be (%llu bytes of %zu)", schema->what,
                          (unsigned long long)info.st_size, RTUNE_DB_STORE_MAX));
    read.size = (size_t)info.st_size;
    read.mode = (unsigned)info.st_mode & 0777u;
    read.data = malloc(read.size);
    if (read.data == NULL)
        TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "no memory for %zu bytes", read.size));
    TRY(rtune_trust_read(fd, read.data, read.size, err));
    TRY(rtune_image_alone(path, err)); /* after reading: no change began meanwhile */
    *image = read;
    read.data = NULL;
done:
    if (fd >= 0) close(fd);
    rtune_image_free(&read);
    return status;
}

enum rtune_status rtune_image_probe(const char *path, const struct rtune_schema *schema,
                                    bool *empty, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct stat info;
    int version, fd = -1;
    enum rtune_status opened = rtune_trust_open(AT_FDCWD, path, &fd, &info, err);
    *empty = opened == RTUNE_NOT_FOUND || (opened == RTUNE_OK && info.st_size == 0);
    if (opened == RTUNE_NOT_FOUND) rtune_err_clear(err);
    if (*empty) goto done;
    TRY(opened);
    TRY(read_header(fd, &info, schema, &version, err));
done:
    if (fd >= 0) close(fd);
    return status;
}

/* ---- opening --------------------------------------------------------------------------------- */

static int count_call(void *user) {
    int *calls = user;
    return ++*calls > CHECK_CALLS;
}

static enum rtune_status check_content(sqlite3 *db, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    char answer[200] = "";
    int64_t odd = 0;
    int calls = 0;
    sqlite3_progress_handler(db, CHECK_OPS, count_call, &calls);
    TRY(rtune_sql_text(db, RTUNE_SQL_QUICK_CHECK, answer, sizeof answer, err));
    if (strcmp(answer, "ok") != 0)
        TRY(rtune_err_set(err, RTUNE_STORE_DAMAGED, "SQLite finds it damaged: %s", answer));
    TRY(rtune_sql_number(db, RTUNE_SQL_ODD_OBJECTS, &odd, err));
    if (odd != 0)
        TRY(rtune_err_set(err, RTUNE_STORE_DAMAGED, "holds views, triggers or virtual tables"));
done:
    sqlite3_progress_handler(db, 0, NULL, NULL);
    return status;
}

/* Give the connection the image: a copy of its own if it may be written, else the caller's bytes.
 */
static enum rtune_status attach_image(sqlite3 *db, const void *data, size_t size, bool writable,
                                      struct rtune_error *err) {
    unsigned flags = SQLITE_DESERIALIZE_READONLY;
    unsigned char *bytes = (unsigned char *)(uintptr_t)data; /* read only, as the flag says */
    if (writable) {
        flags = SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE;
        bytes = sqlite3_malloc64(size);
        if (bytes == NULL)
            return rtune_err_set(err, RTUNE_NO_MEMORY, "no memory for %zu bytes", size);
        memcpy(bytes, data, size);
    }
    /* On failure SQLite frees the bytes that it was to own. */
    if (sqlite3_deserialize(db, "main", bytes, (sqlite3_int64)size, (sqlite3_int64)size, flags) ==
        SQLITE_OK)
        return RTUNE_OK;
    return rtune_sql_fail(db, err);
}

enum rtune_status rtune_image_open(const void *data, size_t size, const struct rtune_schema *schema,
                                   bool writable, sqlite3 **db, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    sqlite3 *opened = NULL;
    int version = 0;
    TRY(rtune_image_header(data, (size_t)rtune_min_u64(size, HEADER_SIZE), size, schema, &version,
                           err));
    TRY(check_geometry(data, size, err));
    TRY(rtune_sql_open(NULL, RTUNE_SQL_MEMORY, &opened, err));
    TRY(attach_image(opened, data, size, writable || version < schema->version, err));
    TRY(check_content(opened, err));
    if (version < schema->version) TRY(rtune_schema_apply(opened, schema, version, err));
    *db = opened;
    opened = NULL;
done:
    rtune_sql_close(opened);
    return status;
}
