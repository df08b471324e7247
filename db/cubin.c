/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cubin.c: compiled kernels, as files beside the store named by the digest of their content. They
 * hold code, so nothing is loaded that this user or root did not write and that is not what its
 * name says.
 */
#include "base/buf.h"
#include "db/db_int.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CUBIN_MAX = 4 << 20, CUBIN_MIN = 64 /* an ELF header */ };
static const unsigned char elf_magic[4] = {0x7f, 'E', 'L', 'F'};

static enum rtune_status check_image(const void *image, size_t size, struct rtune_error *err) {
    if (size > CUBIN_MAX)
        return rtune_err_set(err, RTUNE_RANGE, "cubin: %zu bytes, at most %d are kept", size,
                             CUBIN_MAX);
    if (size < sizeof elf_magic || memcmp(image, elf_magic, sizeof elf_magic) != 0)
        return rtune_err_set(err, RTUNE_STORE_DAMAGED, "cubin: is not an ELF image");
    return RTUNE_OK;
}

/* Read and check the file called name in an open folder. */
static enum rtune_status read_checked(int folder, const char *name, const char *digest,
                                      void **image, size_t *size, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    char hex[RTUNE_DIGEST_HEX];
    unsigned char *data = NULL;
    struct stat info;
    int fd = -1;
    TRY(rtune_trust_open(folder, name, &fd, &info, err));
    if (info.st_size < CUBIN_MIN || info.st_size > CUBIN_MAX)
        TRY(rtune_err_set(err, RTUNE_STORE_DAMAGED, "has an impossible size (%lld bytes)",
                          (long long)info.st_size));
    data = malloc((size_t)info.st_size);
    if (data == NULL) TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "no memory for a cubin"));
    TRY(rtune_trust_read(fd, data, (size_t)info.st_size, err));
    rtune_digest_hex(data, (size_t)info.st_size, hex);
    if (strcmp(hex, digest) != 0)
        TRY(rtune_err_set(err, RTUNE_STORE_DAMAGED, "its content is not what its name says"));
    TRY(check_image(data, (size_t)info.st_size, err));
    *image = data;
    *size = (size_t)info.st_size;
    data = NULL;
done:
    free(data);
    if (fd >= 0) close(fd);
    return status;
}

enum rtune_status rtune_cubin_write(const char *store_path, const void *image, size_t size,
                                    char digest[RTUNE_DIGEST_HEX], struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    char folder[RTUNE_DB_PATH], path[2 * RTUNE_DB_PATH], name[RTUNE_DIGEST_HEX + 8];
    char hex[RTUNE_DIGEST_HEX];
    void *there = NULL;
    size_t there_size = 0;
    int fd = -1;
    TRY(check_image(image, size, err));
    rtune_digest_hex(image, size, hex);
    TRY(rtune_path_suffix(folder, store_path, ".kernels", err));
    TRY(rtune_folder_make(folder, 0755, err));
    status = rtune_trust_folder(folder, &fd, err);
    if (status != RTUNE_OK) rtune_err_prefix(err, "%s", folder);
    TRY(status);
    memcpy(name, hex, sizeof hex - 1);
    memcpy(name + sizeof hex - 1, ".cubin", sizeof ".cubin");
    TRY(rtune_path_join(path, sizeof path, folder, name, err));
    /* Many rows share a kernel, and each write waits for the disk. */
    if (read_checked(fd, name, hex, &there, &there_size, NULL) != RTUNE_OK)
        TRY(rtune_file_write(path, image, size, 0644, err));
    memcpy(digest, hex, sizeof hex);
done:
    free(there);
    if (fd >= 0) close(fd);
    return status;
}

enum rtune_status rtune_cubin_read(const char *store_path, const char *digest, void **image,
                                   size_t *size, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    char folder[RTUNE_DB_PATH], name[RTUNE_DIGEST_HEX + 8];
    int fd = -1;
    /* Only digits: the digest comes from a store and must not lead to another folder. */
    if (strlen(digest) != RTUNE_DIGEST_HEX - 1 ||
        strspn(digest, "0123456789abcdef") != RTUNE_DIGEST_HEX - 1)
        TRY(rtune_err_set(err, RTUNE_INVALID, "\"%.64s\" is not a digest", digest));
    memcpy(name, digest, RTUNE_DIGEST_HEX - 1);
    memcpy(name + RTUNE_DIGEST_HEX - 1, ".cubin", sizeof ".cubin");
    TRY(rtune_path_suffix(folder, store_path, ".kernels", err));
    status = rtune_trust_folder(folder, &fd, err);
    if (status == RTUNE_OK) status = read_checked(fd, name, digest, image, size, err);
    if (status != RTUNE_OK) rtune_err_prefix(err, "%s/%s", folder, name);
done:
    if (fd >= 0) close(fd);
    return status;
}
