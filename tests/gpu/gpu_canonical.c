/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/gpu/gpu_canonical.c: reproducible sums have the same bits on cuda, on cpu and in the
 * reference: 50 arrays of odd sizes and bases, every problem with the built-in kernel, and f32 sum
 * with every config of the default search space; and the golden bits.
 */
#include "tests/golden/reproducible.h"
#include "tests/gpu/bed.h"
#include "tests/gpu/configs.h"
#include "tests/reference/data.h"
#include "tests/reference/element.h"
#include "tuner/space.h"

#include "base/num.h"

enum { ARRAYS = 50, N_MAX = 1 << 18, CONFIGS_MAX = 1 << 15 };

static struct bed bed;
static rtune_device *cpu;
static struct rtune_rng rng = {20261129u, 0};
static unsigned char host[2][(N_MAX + 4) * 8];
static void *device[2];

struct array {
    uint64_t n;
    unsigned first[2]; /* elements in front of the inputs */
    struct reference_result result;
};

/* Odd sizes of every magnitude, on bases of 0 to 3 elements. */
static struct array make(const struct rtune_problem *p, unsigned k) {
    struct rtune_error err;
    struct array a = {.n = k < 8 ? 2 * k + 1 : (rtune_rng_below(&rng, N_MAX) >> k % 8) | 1};
    const size_t size = element_size(p->dtype);
    struct reference r;
    for (unsigned i = 0; i < 2; i++) {
        a.first[i] = (unsigned)rtune_rng_below(&rng, 4);
        reference_fill(p, REFERENCE_ROUNDING, rtune_rng_u64(&rng), host[i], a.n + 4);
        OK(bed.dev->ops->mem_put(bed.dev, device[i], host[i], (a.n + 4) * size, &err), &err);
    }
    reference_begin(&r, p, 1);
    reference_add(&r, host[0] + a.first[0] * size, host[1] + a.first[1] * size, a.n);
    reference_end(&r, 0, &a.result);
    return a;
}

static void launch_cuda(const struct rtune_problem *p, const struct array *a,
                        const rtune_kernel *kernel, uint32_t grid) {
    const size_t size = element_size(p->dtype);
    struct bed_launch l = {.problem = *p, .grid = grid, .result = a->result};
    struct rtune_args args = RTUNE_ARGS((char *)device[0] + a->first[0] * size, NULL);
    args.in2 = (char *)device[1] + a->first[1] * size;
    l.problem.n = a->n;
    bed_launch(&bed, kernel, &l, &args);
}

static void launch_cpu(const struct rtune_problem *p, const struct array *a, uint32_t items) {
    struct rtune_error err;
    rtune_kernel *kernel = NULL;
    unsigned char got[16];
    char message[256];
    const size_t size = element_size(p->dtype);
    struct rtune_config config = rtune_config_default(p, false);
    struct rtune_launch_request request = {.args = {.in = host[0] + a->first[0] * size,
                                                    .in2 = host[1] + a->first[1] * size,
                                                    .out = got,
                                                    .n = a->n,
                                                    .scale = 1},
                                           .grid = 1 + (uint32_t)rtune_rng_below(&rng, cpu->units)};
    config.items = items;
    OK(cpu->ops->kernel_open(cpu, p, &config, NULL, 0, &kernel, &err), &err);
    OK(cpu->ops->launch(cpu, kernel, &request, &err), &err);
    CHECK(reference_check(p, &a->result, got, message, sizeof message),
          "cpu, %s of %s, n = %llu: %s", rtune_op_name(p->op), rtune_dtype_name(p->dtype),
          (unsigned long long)a->n, message);
    cpu->ops->kernel_close(cpu, kernel);
}

/* The built-in kernel of cuda, and the cpu. */
static void every_problem(void) {
    struct rtune_error err;
    struct rtune_problem p;
    unsigned count = 0;
    for (size_t k = 0; rtune_problem_at(k, &p); k++) {
        if (p.mode != RTUNE_REPRODUCIBLE) continue;
        const struct rtune_config config = rtune_config_default(&p, true);
        const uint32_t items = rtune_config_default(&p, false).items;
        rtune_kernel *kernel = NULL;
        OK(bed.dev->ops->kernel_open(bed.dev, &p, &config, NULL, 0, &kernel, &err), &err);
        for (unsigned a = 0; a < ARRAYS; a++) {
            bed_begin(&bed);
            const struct array array = make(&p, a);
            for (int g = 0; g < 4; g++)
                launch_cuda(&p, &array, kernel, 1 + (uint32_t)rtune_rng_below(&rng, 300));
            bed_check(&bed, &config, "canonical");
            launch_cpu(&p, &array, items);
        }
        bed.dev->ops->kernel_close(bed.dev, kernel);
        count++;
    }
    CHECK(count == 16, "%u reproducible problems", count);
    printf("%u problems, built-in kernels of cuda and cpu: the bits of the reference\n", count);
    fflush(stdout);
}

static void golden(void) {
    struct rtune_error err;
    for (size_t k = 0; k < GOLDEN_ROWS; k++) {
        const struct golden_row *row = &golden_rows[k];
        struct rtune_problem p = RTUNE_PROBLEM(row->op, row->dtype, 0);
        struct array a = {.n = row->n, .first = {(unsigned)(k % 4), (unsigned)(k % 3)}};
        const size_t size = element_size(row->dtype);
        rtune_kernel *kernel = NULL;
        p.mode = RTUNE_REPRODUCIBLE;
        a.result = (struct reference_result){.exact = true, .size = reference_size(&p)};
        memcpy(a.result.bytes, &row->bits, a.result.size);
        for (unsigned i = 0; i < 2; i++) {
            for (uint64_t e = 0; e < row->n; e++)
                element_put(row->dtype, host[i], a.first[i] + e,
                            golden_element(row->dtype, row->seed + i, e));
            OK(bed.dev->ops->mem_put(bed.dev, device[i], host[i], (a.n + 4) * size, &err), &err);
        }
        const struct rtune_config config = rtune_config_default(&p, true);
        OK(bed.dev->ops->kernel_open(bed.dev, &p, &config, NULL, 0, &kernel, &err), &err);
        bed_begin(&bed);
        for (uint32_t grid = 1; grid < 300; grid += 97)
            launch_cuda(&p, &a, kernel, grid);
        bed_check(&bed, &config, "golden");
        bed.dev->ops->kernel_close(bed.dev, kernel);
    }
    printf("%d golden rows\n", (int)GOLDEN_ROWS);
}

static int compare(const void *a, const void *b) { return rtune_config_compare(a, b, true); }

/* All configs of the space for some sizes, each once. */
static size_t space_configs(struct rtune_problem *p, struct rtune_config *all) {
    struct rtune_error err;
    rtune_space *space = NULL;
    size_t count = 0, kept = 0;
    OK(rtune_space_parse(NULL, 0, "default", &space, &err), &err);
    for (p->n = 1 << 10; p->n <= UINT64_C(1) << 30; p->n *= 16) {
        struct rtune_config *some = NULL;
        size_t more = 0;
        OK(rtune_space_configs(space, &bed.dev->identity, p, &some, &more, &err), &err);
        CHECK(count + more <= CONFIGS_MAX, "the space has more than %d configs", CONFIGS_MAX);
        memcpy(all + count, some, more * sizeof *all);
        count += more;
        free(some);
    }
    rtune_space_free(space);
    qsort(all, count, sizeof *all, compare);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || !rtune_config_equal(&all[i], &all[kept - 1])) all[kept++] = all[i];
    return kept;
}

/* The instances of some configs, each once; of[i] is the instance of config i. */
static size_t instances_of(const struct rtune_problem *p, const struct rtune_config *configs,
                           size_t count, struct bed_instance *instances, size_t *of) {
    size_t made = 0;
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < made && !rtune_config_same_instance(&instances[k].config, &configs[i]))
            k++;
        if (k == made) instances[made++] = (struct bed_instance){*p, configs[i], NULL};
        of[i] = k;
    }
    return made;
}

static void every_config(void) {
    static struct rtune_config configs[CONFIGS_MAX];
    static struct bed_instance instances[CONFIGS_MAX];
    static size_t of[CONFIGS_MAX];
    struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, 0);
    const uint32_t units = bed.dev->units;
    p.mode = RTUNE_REPRODUCIBLE;
    const size_t count = space_configs(&p, configs);
    const size_t made = instances_of(&p, configs, count, instances, of);
    bed_compile(&bed, instances, made);
    for (unsigned a = 0; a < ARRAYS; a++) {
        struct array array = make(&p, 8 + a);
        for (size_t i = 0; i < count;) {
            bed_begin(&bed);
            for (; i < count && bed.count < BED_LAUNCHES; i++) {
                const rtune_kernel *kernel = instances[of[i]].kernel;
                const uint32_t resident = bed.dev->ops->kernel_resident(kernel);
                const uint32_t grid =
                    rtune_grid_resolve(&configs[i], p.dtype, array.n, units, resident);
                launch_cuda(&p, &array, kernel, gpu_grid(&configs[i], grid, units * resident));
            }
            bed_check(&bed, &configs[i - 1], "canonical, and configs in front of");
        }
    }
    for (size_t k = 0; k < made; k++)
        bed.dev->ops->kernel_close(bed.dev, instances[k].kernel);
    printf("%zu configs, %zu instances of f32 sum: the bits of the reference\n", count, made);
}

int main(void) {
    struct rtune_error err;
    const struct rtune_device_request request = {.spec = "cpu"};
    bed_open(&bed);
    OK(rtune_device_open(&request, &cpu, &err), &err);
    for (int i = 0; i < 2; i++)
        OK(bed.dev->ops->mem_alloc(bed.dev, sizeof host[i], &device[i], &err), &err);
    every_problem();
    golden();
    every_config();
    printf("%llu launches, all right\n", (unsigned long long)bed.total);
    for (int i = 0; i < 2; i++)
        bed.dev->ops->mem_free(bed.dev, device[i]);
    rtune_device_close(cpu);
    bed_close(&bed);
    return 0;
}
