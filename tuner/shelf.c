/* SPDX-License-Identifier: Apache-2.0 */
/* shelf.c: a flat list; a kind has a few hundred kernels. */
#include "tuner/shelf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { IMAGE_MAX = 4 << 20 };

void rtune_shelf_init(struct rtune_shelf *shelf, rtune_device *dev, int images) {
    memset(shelf, 0, sizeof(*shelf));
    shelf->dev = dev;
    shelf->images = images;
}

static void empty(struct rtune_shelf *shelf) {
    for (size_t k = 0; k < shelf->count; k++)
        shelf->dev->ops->kernel_close(shelf->dev, shelf->entries[k].kernel);
    shelf->count = 0;
}

void rtune_shelf_free(struct rtune_shelf *shelf) {
    empty(shelf);
    free(shelf->entries);
    shelf->entries = NULL;
    shelf->capacity = 0;
}

static enum rtune_status grow(struct rtune_shelf *shelf, struct rtune_error *err) {
    if (shelf->count < shelf->capacity) return RTUNE_OK;
    size_t capacity = shelf->capacity == 0 ? 64 : 2 * shelf->capacity;
    struct rtune_shelf_entry *grown = realloc(shelf->entries, capacity * sizeof(*grown));
    if (grown == NULL) return rtune_err_set(err, RTUNE_NO_MEMORY, "kernels: out of memory");
    shelf->entries = grown;
    shelf->capacity = capacity;
    return RTUNE_OK;
}

static enum rtune_status read_image(const struct rtune_shelf *shelf, uint64_t at, uint32_t size,
                                    void **image, struct rtune_error *err) {
    if (size > IMAGE_MAX)
        return rtune_err_set(err, RTUNE_RANGE, "kernel: %u bytes", (unsigned)size);
    char *bytes = malloc(size);
    if (bytes == NULL) return rtune_err_set(err, RTUNE_NO_MEMORY, "kernels: out of memory");
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(shelf->images, bytes + done, size - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            int cause = got < 0 ? errno : EIO;
            free(bytes);
            return rtune_err_set_errno(err, RTUNE_IO, cause, "kernel: cannot be read");
        }
        done += (size_t)got;
    }
    *image = bytes;
    return RTUNE_OK;
}

enum rtune_status rtune_shelf_get(struct rtune_shelf *shelf, const struct rtune_problem *problem,
                                  const struct rtune_config *config, uint64_t image_at,
                                  uint32_t image_size, const rtune_kernel **kernel,
                                  struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    void *image = NULL;
    rtune_kernel *made = NULL;
    if (shelf->count > 0 && !rtune_problem_same_kernel(&shelf->kind, problem)) empty(shelf);
    shelf->kind = *problem;
    for (size_t k = 0; k < shelf->count; k++) {
        const struct rtune_shelf_entry *e = &shelf->entries[k];
        if (rtune_config_same_instance(&e->config, config) && e->image_at == image_at &&
            e->image_size == image_size) {
            *kernel = e->kernel;
            return RTUNE_OK;
        }
    }
    TRY(grow(shelf, err));
    if (image_size > 0) TRY(read_image(shelf, image_at, image_size, &image, err));
    TRY(shelf->dev->ops->kernel_open(shelf->dev, problem, config, image, image_size, &made, err));
    struct rtune_shelf_entry *e = &shelf->entries[shelf->count++];
    e->config = *config;
    e->kernel = made;
    e->image_at = image_at;
    e->image_size = image_size;
    *kernel = made;
done:
    free(image);
    return status;
}
