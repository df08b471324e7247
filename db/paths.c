/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths.c: where stores are, for readers and for writers. The environment is read here and nowhere
 * else in db/, and not at all by a program that runs with more rights than its user has.
 */
#include "base/buf.h"
#include "db/db_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#define SYSTEM_STORE "/var/lib/rtune/tune.db"
#define NONE "none"

static const char *environment(const char *name) {
    const char *value = secure_getenv(name);
    return value == NULL || value[0] == '\0' ? NULL : value;
}

/* false: the path is empty or does not fit, and rtune_path_check says so of what is kept of it. */
static bool set_path(struct rtune_store_path *path, enum rtune_store_kind kind, const char *folder,
                     const char *rest) {
    int length = snprintf(path->path, sizeof path->path, "%s%s", folder, rest);
    path->kind = kind;
    return length > 0 && length <= RTUNE_STORE_PATH_MAX;
}

/* The XDG base directory specification: a variable that is empty or not absolute is as good as
 * unset. */
static bool user_store(struct rtune_store_path *path) {
    const char *data = environment("XDG_DATA_HOME");
    const char *home = environment("HOME");
    if (data != NULL && data[0] == '/')
        return set_path(path, RTUNE_STORE_USER, data, "/rtune/tune.db");
    if (home != NULL && home[0] == '/')
        return set_path(path, RTUNE_STORE_USER, home, "/.local/share/rtune/tune.db");
    return false;
}

/* The store that is named, which then is the only one: by the option, else by RTUNE_DB; or NULL. */
static const char *named_store(const char *option) {
    return option != NULL ? option : environment("RTUNE_DB");
}

bool rtune_store_is_none(const char *option) {
    const char *named = named_store(option);
    return named != NULL && strcmp(named, NONE) == 0;
}

size_t rtune_store_paths(const char *option, struct rtune_store_path paths[RTUNE_STORE_PATHS]) {
    const char *named = named_store(option);
    enum rtune_store_kind kind = option != NULL ? RTUNE_STORE_OPTION : RTUNE_STORE_ENV;
    size_t count = 0;
    if (rtune_store_is_none(option)) return 0;
    if (named != NULL) {
        (void)set_path(&paths[0], kind, named, ""); /* if it is no path, reading it says so */
        return 1;
    }
    if (user_store(&paths[count])) count++;
    if (set_path(&paths[count], RTUNE_STORE_SYSTEM, SYSTEM_STORE, "")) count++;
    return count;
}

enum rtune_status rtune_store_choose(const char *option, bool root, struct rtune_store_path *path,
                                     struct rtune_error *err) {
    const char *named = named_store(option);
    enum rtune_store_kind kind = option != NULL ? RTUNE_STORE_OPTION : RTUNE_STORE_ENV;
    struct rtune_store_path chosen;
    if (rtune_store_is_none(option))
        return rtune_err_set(err, RTUNE_NOT_FOUND, "%s: there is no store to write (%s)",
                             option != NULL ? "store \"none\"" : "RTUNE_DB=none",
                             option != NULL ? "name a file" : "unset RTUNE_DB or give --db FILE");
    if (named != NULL && !set_path(&chosen, kind, named, ""))
        return rtune_path_check(chosen.path, err);
    if (named == NULL && root) set_path(&chosen, RTUNE_STORE_SYSTEM, SYSTEM_STORE, "");
    if (named == NULL && !root && !user_store(&chosen))
        return rtune_err_set(err, RTUNE_NOT_FOUND,
                             "there is no place for a store: neither XDG_DATA_HOME nor HOME is an "
                             "absolute path (set one, or RTUNE_DB, or give --db FILE)");
    enum rtune_status status = rtune_path_not_samples(chosen.path, err);
    if (status == RTUNE_OK) *path = chosen;
    return status;
}

enum rtune_status rtune_path_check(const char *store_path, struct rtune_error *err) {
    if (store_path[0] == '\0')
        return rtune_err_set(err, RTUNE_INVALID, "the path of the store is empty (name a file)");
    if (strlen(store_path) <= RTUNE_STORE_PATH_MAX) return RTUNE_OK;
    return rtune_err_set(err, RTUNE_RANGE, "%.60s...: the path of a store has at most %d bytes",
                         store_path, RTUNE_STORE_PATH_MAX);
}

enum rtune_status rtune_path_not_samples(const char *store_path, struct rtune_error *err) {
    const char *slash = strrchr(store_path, '/');
    if (strcmp(slash == NULL ? store_path : slash + 1, RTUNE_SAMPLES_NAME) != 0) return RTUNE_OK;
    return rtune_err_set(err, RTUNE_INVALID,
                         "%s: this name is for the samples beside a store (name another file)",
                         store_path);
}

enum rtune_status rtune_path_suffix(char out[RTUNE_DB_PATH], const char *path, const char *suffix,
                                    struct rtune_error *err) {
    int length = snprintf(out, RTUNE_DB_PATH, "%s%s", path, suffix);
    if (length >= 0 && length < RTUNE_DB_PATH) return RTUNE_OK;
    return rtune_err_set(err, RTUNE_RANGE, "%.60s...: path is too long", path);
}

enum rtune_status rtune_path_folder(char out[RTUNE_DB_PATH], const char *path,
                                    struct rtune_error *err) {
    const char *slash = strrchr(path, '/');
    if (slash == NULL) return rtune_path_suffix(out, ".", "", err);
    enum rtune_status status = rtune_path_suffix(out, path, "", err);
    if (status != RTUNE_OK) return status;
    out[slash == path ? 1 : slash - path] = '\0';
    return RTUNE_OK;
}

enum rtune_status rtune_store_folder(const struct rtune_store_path *path, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    char folder[RTUNE_DB_PATH];
    struct stat info;
    unsigned mode = path->kind == RTUNE_STORE_SYSTEM ? 0755u : 0700u;
    TRY(rtune_path_folder(folder, path->path, err));
    bool exists = stat(folder, &info) == 0;
    if (!exists) TRY(rtune_folder_make(folder, mode, err));
    /* The store of the system is for everybody, whatever umask its administrator has. */
    if (!exists && path->kind == RTUNE_STORE_SYSTEM && chmod(folder, mode) != 0)
        TRY(rtune_err_set_errno(err, RTUNE_IO, errno, "%s: cannot set its mode", folder));
    if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0)
        TRY(rtune_err_set_errno(err, RTUNE_IO, errno, "%s: cannot write to the folder of the store",
                                folder));
done:
    if (status == RTUNE_IO)
        rtune_err_prefix(err, "store %s (give --db FILE or set RTUNE_DB)", path->path);
    return status;
}

enum rtune_status rtune_store_target(const char *option, struct rtune_store_path *path,
                                     struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_store_path chosen;
    TRY(rtune_store_choose(option, geteuid() == 0, &chosen, err));
    TRY(rtune_store_folder(&chosen, err));
    *path = chosen;
done:
    return status;
}

bool rtune_path_magic_is_remote(uint64_t magic) {
    static const struct {
        uint32_t magic;
        const char *name;
    } remote[] = {
        {0x00006969, "nfs"},    {0x0000517b, "smb"},      {0xff534d42, "cifs"},
        {0xfe534d42, "smb2"},   {0x0bd00bd0, "lustre"},   {0x65735546, "fuse"},
        {0x5346414f, "afs"},    {0x6b414653, "kafs"},     {0x00c36400, "ceph"},
        {0x01021997, "9p"},     {0x47504653, "gpfs"},     {0x73757245, "coda"},
        {0x19830326, "beegfs"}, {0xaad7aaea, "panfs"},    {0x01161970, "gfs2"},
        {0x7461636f, "ocfs2"},  {0x20030528, "orangefs"}, {0x0000564c, "ncp"},
    };
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(remote); i++)
        if (remote[i].magic == (uint32_t)magic) return true;
    return false;
}

bool rtune_path_is_remote(const char *folder) {
    struct statfs info;
    return statfs(folder, &info) != 0 || rtune_path_magic_is_remote((uint64_t)info.f_type);
}
