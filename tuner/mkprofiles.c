/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuner/mkprofiles.c: the build tool rtune_mkprofiles OUT.db [PROFILE.yaml ...]. Turns the shipped
 * profiles into the one read-only store image that librtune embeds, so that the runtime reads no
 * YAML.
 */
#include "base/buf.h"
#include "tuner/profile.h"
#include "tuner/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Append the devices and winners of one profile; a device that is there already fails. */
static enum rtune_status merge(struct rtune_table *all, const struct rtune_table *one,
                               const char *name, struct rtune_error *err) {
    size_t devices = all->device_count + one->device_count;
    size_t winners = all->winner_count + one->winner_count;
    struct rtune_identity *d = realloc(all->devices, (devices + 1) * sizeof(d[0]));
    if (d != NULL) all->devices = d;
    struct rtune_winner *w = realloc(all->winners, (winners + 1) * sizeof(w[0]));
    if (w != NULL) all->winners = w;
    if (d == NULL || w == NULL)
        return rtune_err_set(err, RTUNE_NO_MEMORY, "%s: out of memory", name);
    for (size_t i = 0; i < one->device_count; i++) {
        for (size_t k = 0; k < all->device_count; k++) {
            char key[RTUNE_IDENTITY_KEY];
            rtune_identity_key(&one->devices[i], key);
            if (rtune_identity_equal(&one->devices[i], &all->devices[k]))
                return rtune_err_set(err, RTUNE_INVALID,
                                     "%s: device \"%s\" is in another profile too", name, key);
        }
    }
    for (size_t i = 0; i < one->device_count; i++)
        all->devices[all->device_count + i] = one->devices[i];
    for (size_t i = 0; i < one->winner_count; i++) {
        all->winners[all->winner_count + i] = one->winners[i];
        all->winners[all->winner_count + i].device += (uint32_t)all->device_count;
    }
    all->device_count = devices;
    all->winner_count = winners;
    return RTUNE_OK;
}

static enum rtune_status add_profile(const char *path, struct rtune_table *all,
                                     struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_buf text;
    struct rtune_table one = {0};
    rtune_buf_init(&text, RTUNE_YAML_MAX);
    TRY(rtune_file_read(path, RTUNE_YAML_MAX, &text, err));
    TRY(rtune_profile_parse(text.data, text.size, path, &one, err));
    TRY(merge(all, &one, path, err));
done:
    free(one.devices);
    free(one.winners);
    rtune_buf_free(&text);
    return status;
}

int main(int argc, char **argv) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_error err = {0};
    struct rtune_table all = {0};
    char text[1024];
    if (argc < 2) {
        fprintf(stderr, "usage: rtune_mkprofiles OUT.db [PROFILE.yaml ...]\n");
        return 2;
    }
    for (int i = 2; i < argc; i++)
        TRY(add_profile(argv[i], &all, &err));
    TRY(rtune_store_write_image(argv[1], &all, &err));
done:
    if (status != RTUNE_OK) {
        rtune_err_format(&err, text, sizeof(text));
        fprintf(stderr, "rtune_mkprofiles: %s\n", text);
    }
    free(all.devices);
    free(all.winners);
    return status == RTUNE_OK ? 0 : 1;
}
