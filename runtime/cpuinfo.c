/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpuinfo.c: small text files of /proc and /sys, read whole into fixed buffers. All numbers in them
 * are plain decimal digits.
 */
#include "runtime/cpuinfo.h"

#include "base/num.h"

#include <ctype.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

enum {
    TEXT_MAX = 8192, /* bytes looked at of one file */
    PATH_SIZE = 1024,
    CPUS_MAX = 65536,  /* bits of an affinity mask */
    CACHE_INDEXES = 8, /* per processor */
    LAST_LEVELS = 256  /* distinct last-level caches that are counted */
};

/* ---- text ------------------------------------------------------------------------------------ */

/* The start of root/path as a string; false if it cannot be read. */
static bool read_text(const char *root, const char *path, char text[TEXT_MAX]) {
    char whole[PATH_SIZE];
    size_t used = 0;
    int length = snprintf(whole, sizeof whole, "%s%s", root, path);
    int fd = length < (int)sizeof whole ? open(whole, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (fd < 0) return false;
    for (;;) {
        ssize_t got = read(fd, text + used, TEXT_MAX - 1 - used);
        if (got <= 0) break;
        used += (size_t)got;
    }
    close(fd);
    text[used] = '\0';
    return used > 0;
}

/* Decimal digits at text; false if there are none or too many. */
static bool read_number(const char *text, uint64_t *value) {
    uint64_t number = 0;
    if (!isdigit((unsigned char)*text)) return false;
    for (; isdigit((unsigned char)*text); text++)
        if (!rtune_mul_u64(number, 10, &number) ||
            !rtune_add_u64(number, (uint64_t)(*text - '0'), &number))
            return false;
    *value = number;
    return true;
}

/* Value of the line "name: value" or "name value" of text; NULL if there is none. */
static const char *find_value(const char *text, const char *name) {
    size_t length = strlen(name);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        if (*line == '\n') line++;
        if (strncmp(line, name, length) != 0) continue;
        const char *value = line + length;
        value += strspn(value, " \t:");
        if (value != line + length) return value;
    }
    return NULL;
}

/* Copy one line, blanks squeezed, and without the characters that separate fields of a key. */
static void copy_line(char *out, size_t size, const char *line) {
    size_t used = 0;
    for (; *line && *line != '\n' && used + 1 < size; line++) {
        bool blank = isspace((unsigned char)*line);
        if (blank && (used == 0 || out[used - 1] == ' ')) continue;
        bool plain = (unsigned char)*line >= ' ' && (unsigned char)*line < 127 && *line != '|' &&
                     *line != '=' && *line != ',';
        out[used++] = blank ? ' ' : plain ? *line : '_';
    }
    while (used && out[used - 1] == ' ')
        used--;
    out[used] = '\0';
}

/* ---- control groups -------------------------------------------------------------------------- */

struct group {
    const char *root;
    char folder[PATH_SIZE]; /* below root */
};
typedef void (*group_fn)(const struct group *group, bool v2, uint64_t *value);

/* A number from a file of a group; false if there is none ("max" included). */
static bool group_number(const struct group *group, const char *file, uint64_t *value) {
    char path[PATH_SIZE], text[TEXT_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", group->folder, file);
    return length < (int)sizeof path && read_text(group->root, path, text) &&
           read_number(text, value);
}

/* Call fn for path and each of its ancestors below mount. */
static void visit_up(const char *root, const char *mount, const char *path, size_t length, bool v2,
                     group_fn fn, uint64_t *value) {
    struct group group = {.root = root};
    for (;;) {
        while (length && path[length - 1] == '/')
            length--;
        int used = snprintf(group.folder, sizeof group.folder, "%s%.*s", mount, (int)length, path);
        if (used < (int)sizeof group.folder) fn(&group, v2, value);
        if (length == 0) return;
        while (length && path[length - 1] != '/')
            length--;
    }
}

/* Is name one of the comma-separated words of list? */
static bool has_word(const char *list, size_t length, const char *name) {
    size_t size = strlen(name);
    while (length >= size) {
        const char *comma = memchr(list, ',', length);
        size_t word = comma ? (size_t)(comma - list) : length;
        if (word == size && memcmp(list, name, size) == 0) return true;
        if (!comma) return false;
        list += word + 1;
        length -= word + 1;
    }
    return false;
}

/* Call fn for every control group of this process that has the controller. */
static void visit_groups(const char *root, const char *controller, group_fn fn, uint64_t *value) {
    char text[TEXT_MAX], mount[64];
    if (!read_text(root, "/proc/self/cgroup", text)) return;
    snprintf(mount, sizeof mount, "/sys/fs/cgroup/%s", controller);
    for (char *line = text; line && *line;) {
        size_t length = strcspn(line, "\n");
        char *list = memchr(line, ':', length);
        char *path = list ? memchr(list + 1, ':', length - (size_t)(list + 1 - line)) : NULL;
        if (path) {
            size_t words = (size_t)(path - list - 1);
            size_t size = length - (size_t)(path + 1 - line);
            if (words == 0) {
                visit_up(root, "/sys/fs/cgroup", path + 1, size, true, fn, value);
                visit_up(root, "/sys/fs/cgroup/unified", path + 1, size, true, fn, value);
            } else if (has_word(list + 1, words, controller)) {
                visit_up(root, mount, path + 1, size, false, fn, value);
            }
        }
        line += length;
        if (*line) line++;
    }
}

/* Lower *value to the whole processors of the group's quota. */
static void cap_processors(const struct group *group, bool v2, uint64_t *value) {
    char path[PATH_SIZE], text[TEXT_MAX];
    uint64_t quota = 0, period = 0;
    if (v2) {
        int length = snprintf(path, sizeof path, "%s/cpu.max", group->folder);
        if (length >= (int)sizeof path || !read_text(group->root, path, text)) return;
        const char *space = strchr(text, ' ');
        if (!space || !read_number(text, &quota) || !read_number(space + 1, &period)) return;
    } else if (!group_number(group, "cpu.cfs_quota_us", &quota) ||
               !group_number(group, "cpu.cfs_period_us", &period)) {
        return;
    }
    if (period) *value = rtune_min_u64(*value, rtune_max_u64(quota / period, 1));
}

/* Lower *value to what the group's memory limit leaves; file pages not in use can be dropped. */
static void cap_memory(const struct group *group, bool v2, uint64_t *value) {
    char path[PATH_SIZE], text[TEXT_MAX];
    uint64_t limit = 0, used = 0, inactive = 0;
    if (!group_number(group, v2 ? "memory.max" : "memory.limit_in_bytes", &limit) ||
        !group_number(group, v2 ? "memory.current" : "memory.usage_in_bytes", &used))
        return;
    int length = snprintf(path, sizeof path, "%s/memory.stat", group->folder);
    if (length < (int)sizeof path && read_text(group->root, path, text)) {
        const char *found = find_value(text, v2 ? "inactive_file" : "total_inactive_file");
        if (found) read_number(found, &inactive);
    }
    used -= rtune_min_u64(used, inactive);
    *value = rtune_min_u64(*value, limit > used ? limit - used : 0);
}

/* ---- processors ------------------------------------------------------------------------------ */

/* The affinity mask, to be freed with CPU_FREE, and its size in bytes; NULL if the system does not
 * tell. */
static cpu_set_t *affinity(size_t *size) {
    for (int bits = 1024; bits <= CPUS_MAX; bits *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)bits);
        if (!set) return NULL;
        *size = CPU_ALLOC_SIZE((size_t)bits);
        if (sched_getaffinity(0, *size, set) == 0) return set;
        CPU_FREE(set);
    }
    return NULL;
}

/* One line of a cache of a processor; false if there is none. */
static bool cache_text(const char *root, unsigned cpu, unsigned index, const char *file,
                       char text[TEXT_MAX]) {
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/cache/index%u/%s", cpu, index, file);
    return read_text(root, path, text);
}

struct cache {
    uint64_t level, bytes;
    bool data;      /* or unified */
    char group[64]; /* the processors that share it: tells caches apart */
};

static bool cache_read(const char *root, unsigned cpu, unsigned index, struct cache *cache) {
    char text[TEXT_MAX];
    if (!cache_text(root, cpu, index, "level", text) || !read_number(text, &cache->level))
        return false;
    cache->data =
        !cache_text(root, cpu, index, "type", text) || strncmp(text, "Instruction", 11) != 0;
    cache->bytes = 0;
    if (cache_text(root, cpu, index, "size", text) && read_number(text, &cache->bytes)) {
        text[strcspn(text, "\n")] = '\0';
        const char *unit = text + strspn(text, "0123456789");
        cache->bytes <<= *unit == 'K' ? 10 : *unit == 'M' ? 20 : 0;
    }
    cache->group[0] = '\0';
    if (cache_text(root, cpu, index, "shared_cpu_list", text))
        copy_line(cache->group, sizeof cache->group, text);
    return true;
}

/* The last-level caches seen so far. */
struct last_levels {
    char groups[LAST_LEVELS][64];
    size_t count;
    uint64_t bytes;
};

static void last_level_add(struct last_levels *seen, const struct cache *cache) {
    for (size_t k = 0; k < seen->count; k++)
        if (strcmp(seen->groups[k], cache->group) == 0) return;
    if (seen->count == LAST_LEVELS) return;
    memcpy(seen->groups[seen->count++], cache->group, sizeof cache->group);
    seen->bytes += cache->bytes;
}

static void caches_of(const char *root, unsigned cpu, struct last_levels *seen,
                      uint64_t *l1_bytes) {
    struct cache last = {0}, cache;
    for (unsigned index = 0; index < CACHE_INDEXES && cache_read(root, cpu, index, &cache);
         index++) {
        if (!cache.data) continue;
        if (cache.level == 1 && *l1_bytes == 0) *l1_bytes = cache.bytes;
        if (cache.level >= last.level) last = cache;
    }
    if (last.level > 1) last_level_add(seen, &last);
}

static void read_caches(const char *root, const cpu_set_t *set, size_t size,
                        struct rtune_cpuinfo *info) {
    struct last_levels *seen = calloc(1, sizeof *seen);
    if (!seen) return;
    for (unsigned cpu = 0; cpu < size * 8; cpu++)
        if (set ? CPU_ISSET_S(cpu, size, set) : cpu == 0)
            caches_of(root, cpu, seen, &info->l1_bytes);
    info->l3_bytes = seen->bytes;
    free(seen);
    if (root[0]) return;
    if (info->l1_bytes == 0) {
        long bytes = sysconf(_SC_LEVEL1_DCACHE_SIZE);
        if (bytes > 0) info->l1_bytes = (uint64_t)bytes;
    }
    if (info->l3_bytes == 0) {
        long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
        if (bytes > 0) info->l3_bytes = (uint64_t)bytes;
    }
}

/* ---- model ----------------------------------------------------------------------------------- */

/* The processor's own name for itself; false where it has none. */
static bool brand(char text[64]) {
#if defined(__x86_64__) || defined(__i386__)
    unsigned words[12];
    char name[sizeof words + 1];
    if ((unsigned)__get_cpuid_max(0x80000000u, NULL) < 0x80000004u) return false;
    for (unsigned k = 0; k < 3; k++)
        __get_cpuid(0x80000002u + k, &words[4 * k], &words[4 * k + 1], &words[4 * k + 2],
                    &words[4 * k + 3]);
    memcpy(name, words, sizeof words);
    name[sizeof words] = '\0';
    copy_line(text, 64, name);
    return text[0] != '\0';
#else
    (void)text;
    return false;
#endif
}

static void read_model(const char *root, char model[64]) {
    char text[TEXT_MAX];
    bool known = read_text(root, "/proc/cpuinfo", text);
    const char *name = known ? find_value(text, "model name") : NULL;
    const char *maker = known ? find_value(text, "CPU implementer") : NULL;
    const char *part = known ? find_value(text, "CPU part") : NULL;
    if (name) {
        copy_line(model, 64, name);
    } else if (maker && part) {
        snprintf(model, 64, "implementer %.*s part %.*s",
                 (int)rtune_min_u64(strcspn(maker, "\n"), 16), maker,
                 (int)rtune_min_u64(strcspn(part, "\n"), 16), part);
    } else if (root[0] || !brand(model)) {
        snprintf(model, 64, "unknown");
    }
}

/* ---- all together ---------------------------------------------------------------------------- */

static uint64_t meminfo(const char *root, const char *name) {
    char text[TEXT_MAX];
    uint64_t kib = 0;
    const char *value = read_text(root, "/proc/meminfo", text) ? find_value(text, name) : NULL;
    return value && read_number(value, &kib) ? kib << 10 : 0;
}

void rtune_cpuinfo_read(const char *root, struct rtune_cpuinfo *info) {
    size_t size = 1;
    cpu_set_t *set = affinity(&size);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t usable = set ? (uint64_t)CPU_COUNT_S(size, set) : online > 0 ? (uint64_t)online : 1;
    *info = (struct rtune_cpuinfo){.model = ""};
    visit_groups(root, "cpu", cap_processors, &usable);
    info->usable = (uint32_t)rtune_max_u64(usable, 1);
    read_model(root, info->model);
    read_caches(root, set, size, info);
    info->memory_bytes = meminfo(root, "MemTotal");
    if (set) CPU_FREE(set);
}

uint64_t rtune_cpuinfo_memory_free(const char *root) {
    uint64_t bytes = meminfo(root, "MemAvailable");
    visit_groups(root, "memory", cap_memory, &bytes);
    return bytes;
}
