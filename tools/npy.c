/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools/npy.c: a strict reader of the one Python dict literal that a .npy header is. Arrays in
 * Fortran order are contiguous too, and no op here depends on the order of dimensions, so both
 * orders are read as stored.
 */
#include "tools/npy.h"

#include "base/num.h"

#include <stdio.h>
#include <string.h>

enum { WORD_MAX = 64, DIMS_MAX = 64 };

static const unsigned char magic[NPY_MAGIC] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

static const struct {
    const char *descr; /* without the byte order */
    enum rtune_dtype dtype;
} types[] = {
    {"i1", RTUNE_I8},  {"u1", RTUNE_U8},  {"i2", RTUNE_I16}, {"u2", RTUNE_U16},
    {"i4", RTUNE_I32}, {"u4", RTUNE_U32}, {"i8", RTUNE_I64}, {"u8", RTUNE_U64},
    {"f2", RTUNE_F16}, {"f4", RTUNE_F32}, {"f8", RTUNE_F64}, {"b1", RTUNE_U8},
};

struct reader {
    const char *at;
    const char *end;
    struct rtune_error *err;
};

bool npy_is_magic(const unsigned char *bytes, size_t size) {
    return size >= NPY_MAGIC && memcmp(bytes, magic, NPY_MAGIC) == 0;
}

enum rtune_status npy_read_prefix(const unsigned char prefix[NPY_PREFIX_MAX], size_t *before,
                                  size_t *length, struct rtune_error *err) {
    unsigned major = prefix[NPY_MAGIC];
    unsigned minor = prefix[NPY_MAGIC + 1];
    const unsigned char *size = prefix + NPY_MAGIC + 2;
    if (major < 1 || major > 3 || minor != 0)
        return rtune_err_set(err, RTUNE_SYNTAX,
                             "format version %u.%u (1.0, 2.0 and 3.0 can be read)", major, minor);
    size_t bytes = (size_t)size[0] | (size_t)size[1] << 8;
    if (major > 1) bytes |= (size_t)size[2] << 16 | (size_t)size[3] << 24;
    if (bytes < 2 || bytes > NPY_HEADER_MAX)
        return rtune_err_set(err, RTUNE_RANGE, "a header of %zu bytes (expected 2 to %d)", bytes,
                             NPY_HEADER_MAX);
    *before = major == 1 ? 10 : 12;
    *length = bytes;
    return RTUNE_OK;
}

static enum rtune_status bad(struct reader *r, const char *expected) {
    return rtune_err_set(r->err, RTUNE_SYNTAX, "malformed header: expected %s", expected);
}

static void skip_space(struct reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n'))
        r->at++;
}

/* Take one character if it is next. */
static bool take(struct reader *r, char c) {
    skip_space(r);
    if (r->at == r->end || *r->at != c) return false;
    r->at++;
    return true;
}

/* A word between quotes of either kind, without escapes. */
static enum rtune_status read_word(struct reader *r, char word[WORD_MAX], const char *expected) {
    size_t length = 0;
    char quote = take(r, '\'') ? '\'' : '"';
    if (quote == '"' && !take(r, '"')) return bad(r, expected);
    for (; r->at < r->end && *r->at != quote; r->at++) {
        if (*r->at == '\\' || length == WORD_MAX - 1) return bad(r, expected);
        word[length++] = *r->at;
    }
    if (r->at == r->end) return bad(r, expected);
    r->at++;
    word[length] = '\0';
    return RTUNE_OK;
}

static enum rtune_status read_descr(struct reader *r, struct npy_header *header) {
    char word[WORD_MAX];
    skip_space(r);
    if (r->at < r->end && *r->at == '[')
        return rtune_err_set(r->err, RTUNE_UNSUPPORTED,
                             "a structured element type (save one field by itself)");
    enum rtune_status status = read_word(r, word, "a quoted element type after 'descr'");
    if (status != RTUNE_OK) return status;
    if (word[0] == '>')
        return rtune_err_set(r->err, RTUNE_UNSUPPORTED,
                             "big-endian elements %s (convert them: a.astype('<%s'))", word,
                             word + 1);
    bool ordered = word[0] == '<' || word[0] == '=';
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(types); k++) {
        bool byte = types[k].descr[1] == '1';
        if (strcmp(word + 1, types[k].descr) != 0 || !(ordered || (byte && word[0] == '|')))
            continue;
        header->dtype = types[k].dtype;
        return RTUNE_OK;
    }
    return rtune_err_set(r->err, RTUNE_UNSUPPORTED,
                         "element type %s (expected b1, i1 to i8, u1 to u8, f2, f4 or f8, as <f4)",
                         word);
}

static enum rtune_status read_order(struct reader *r) {
    static const char *const words[] = {"False", "True"};
    skip_space(r);
    for (size_t k = 0; k < RTUNE_ARRAY_SIZE(words); k++) {
        size_t length = strlen(words[k]);
        if ((size_t)(r->end - r->at) < length || memcmp(r->at, words[k], length) != 0) continue;
        r->at += length;
        return RTUNE_OK;
    }
    return bad(r, "True or False after 'fortran_order'");
}

static enum rtune_status read_dimension(struct reader *r, struct npy_header *header, bool *zero) {
    uint64_t dimension = 0;
    skip_space(r);
    if (r->at == r->end || *r->at < '0' || *r->at > '9') return bad(r, "a number in 'shape'");
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
        if (!rtune_mul_u64(dimension, 10, &dimension) ||
            !rtune_add_u64(dimension, (uint64_t)(*r->at - '0'), &dimension))
            return rtune_err_set(r->err, RTUNE_RANGE, "a dimension above 2^64");
    if (++header->dims > DIMS_MAX)
        return rtune_err_set(r->err, RTUNE_RANGE, "more than %d dimensions", DIMS_MAX);
    *zero = *zero || dimension == 0;
    if (dimension != 0 && !rtune_mul_u64(header->n, dimension, &header->n))
        return rtune_err_set(r->err, RTUNE_RANGE, "a shape of more than 2^64 elements");
    return RTUNE_OK;
}

/* "(3, 4)", "(3,)", "()". */
static enum rtune_status read_shape(struct reader *r, struct npy_header *header) {
    enum rtune_status status = RTUNE_OK;
    bool zero = false;
    bool comma = true;
    header->n = 1;
    if (!take(r, '(')) TRY(bad(r, "a tuple after 'shape'"));
    while (!take(r, ')')) {
        if (!comma) TRY(bad(r, "a comma or ) in 'shape'"));
        TRY(read_dimension(r, header, &zero));
        comma = take(r, ',');
    }
    if (header->dims == 1 && !comma) TRY(bad(r, "a comma after the only dimension"));
    if (zero) header->n = 0;
done:
    return status;
}

/* One 'key': value of the dict. seen has a bit for every key. */
static enum rtune_status read_entry(struct reader *r, struct npy_header *header, unsigned *seen) {
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    enum rtune_status status = RTUNE_OK;
    char word[WORD_MAX];
    size_t k = 0;
    TRY(read_word(r, word, "a quoted key"));
    while (k < RTUNE_ARRAY_SIZE(keys) && strcmp(word, keys[k]) != 0)
        k++;
    if (k == RTUNE_ARRAY_SIZE(keys))
        TRY(bad(r, "the keys 'descr', 'fortran_order' and 'shape' alone"));
    if ((*seen >> k & 1) != 0) TRY(bad(r, "every key once"));
    *seen |= 1u << k;
    if (!take(r, ':')) TRY(bad(r, "a colon after a key"));
    if (k == 0) TRY(read_descr(r, header));
    if (k == 1) TRY(read_order(r));
    if (k == 2) TRY(read_shape(r, header));
done:
    return status;
}

enum rtune_status npy_read_header(const char *text, size_t length, struct npy_header *header,
                                  struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct reader r = {text, text + length, err};
    struct npy_header read = {.n = 1};
    unsigned seen = 0;
    bool comma = true;
    if (length == 0 || text[length - 1] != '\n') TRY(bad(&r, "a newline at its end"));
    if (!take(&r, '{')) TRY(bad(&r, "a dict"));
    while (!take(&r, '}')) {
        if (!comma) TRY(bad(&r, "a comma or } in the dict"));
        TRY(read_entry(&r, &read, &seen));
        comma = take(&r, ',');
    }
    skip_space(&r);
    if (r.at != r.end) TRY(bad(&r, "nothing after the dict"));
    if (seen != 7) TRY(bad(&r, "the keys 'descr', 'fortran_order' and 'shape'"));
    if (!rtune_mul_u64(read.n, rtune_dtype_size(read.dtype), &read.bytes) || read.bytes > INT64_MAX)
        TRY(rtune_err_set(err, RTUNE_RANGE, "a shape of more than 2^63 bytes"));
    *header = read;
done:
    return status;
}
