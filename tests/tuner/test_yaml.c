/* SPDX-License-Identifier: Apache-2.0 */
/* The strict YAML reader: what becomes a tree, and what is refused, where and how fast. */
#include "base/num.h"
#include "tuner/yaml.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

static void test_tree(void **state) {
    (void)state;
    static const char text[] = "# comment\n"
                               "a: 1\n"
                               "\"b c\": [x, 'y',\n"
                               "   {k: \"v\\n\", \xc3\xa9: w}]\n"
                               "long: |\n"
                               "  line\n";
    rtune_yaml *doc = NULL;
    struct rtune_error err = {0};
    if (rtune_yaml_parse(text, strlen(text), "f.yaml", "profile", &doc, &err) != RTUNE_OK)
        fail_msg("%d:%d: %s", err.line, err.column, err.message);
    const struct rtune_yaml_node *root = rtune_yaml_root(doc), *a = root->first, *b = a->next;
    assert_int_equal(root->kind, RTUNE_YAML_MAPPING);
    assert_int_equal(root->count, 3);
    assert_string_equal(a->key->text, "a");
    assert_string_equal(a->text, "1");
    assert_false(a->quoted);
    assert_int_equal(a->line, 2);
    assert_int_equal(a->column, 4);
    assert_string_equal(b->key->text, "b c");
    assert_true(b->key->quoted);
    assert_int_equal(b->kind, RTUNE_YAML_SEQUENCE);
    assert_int_equal(b->count, 3);
    assert_true(b->first->next->quoted);
    const struct rtune_yaml_node *map = b->first->next->next;
    assert_int_equal(map->kind, RTUNE_YAML_MAPPING);
    assert_int_equal(map->line, 4);
    assert_int_equal(map->column, 4);
    assert_string_equal(map->first->text, "v\n");
    assert_string_equal(map->first->next->text, "w");
    assert_int_equal(map->first->next->column, 18); /* characters, not bytes */
    assert_null(map->next);
    assert_string_equal(b->next->text, "line\n");
    assert_true(b->next->quoted);
    assert_string_equal(b->next->file, "f.yaml");
    rtune_yaml_free(doc);
    rtune_yaml_free(NULL);
}

static void test_accepted(void **state) {
    (void)state;
    static const char *const texts[] = {
        "a: 1",
        "\xef\xbb\xbfk: 1\n",
        "--- \na: 1\n...\n",
        "%YAML 1.1\n---\na: 1\n",
        "a: 1\r\nb: 2\r\n",
        "{}",
    };
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(texts); i++) {
        rtune_yaml *doc = NULL;
        struct rtune_error err = {0};
        if (rtune_yaml_parse(texts[i], strlen(texts[i]), "f", "profile", &doc, &err) != RTUNE_OK)
            fail_msg("%s: %s", texts[i], err.message);
        rtune_yaml_free(doc);
    }
}

struct refusal {
    const char *text;
    int line, column;
    const char *words;
};

static void check_refusal(const struct refusal *r, size_t size) {
    rtune_yaml *doc = NULL;
    struct rtune_error err = {0};
    enum rtune_status status = rtune_yaml_parse(r->text, size, "f.yaml", "profile", &doc, &err);
    assert_null(doc);
    if (status != RTUNE_SYNTAX && status != RTUNE_RANGE) fail_msg("%.60s: passed", r->text);
    assert_int_equal(err.status, status);
    assert_string_equal(err.file, "f.yaml");
    if (strstr(err.message, r->words) == NULL || err.line != r->line || err.column != r->column)
        fail_msg("%.60s: %d:%d: %s", r->text, err.line, err.column, err.message);
    assert_int_equal(rtune_yaml_parse(r->text, size, "f.yaml", "profile", &doc, NULL), status);
}

static void test_empty(void **state) {
    (void)state;
    static const struct refusal cases[] = {
        {"", 1, 1, "no profile found: the file is empty"},
        {"\n", 1, 1, "no profile found: the file is empty"},
        {"# x", 1, 1, "no profile found: the file is empty"},
        {"---\n...\n", 2, 1, "no profile found: expected a mapping (key: value), not null"},
        {"null", 1, 1, "no profile found: expected a mapping (key: value), not null"},
        {"~\n", 1, 1, "not null"},
        {"just words", 1, 1, "not \"just words\""},
        {"'just words'", 1, 1, "not the quoted text \"just words\""},
        {"- a\n- b\n", 1, 1, "no profile found: expected a mapping (key: value), not a list"},
        {"a: 1\n---\nb: 2\n", 2, 1, "one document expected (a second one starts here)"},
        {"---\n---\n", 2, 1, "one document expected"},
        {"a: 1\n...\n---\nb: 1\n", 3, 1, "one document expected"},
        {"%YAML 9.9", 1, 1, "not YAML"},
        {"%YAML 9.9\n---\na: 1\n", 1, 1, "not YAML: found incompatible YAML document"},
        {"%TAG ! tag:x,2000:\n---\na: 1\n", 1, 1, "%TAG is not allowed"},
    };
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(cases); i++)
        check_refusal(&cases[i], strlen(cases[i].text));
}

static void test_refused(void **state) {
    (void)state;
    static const struct refusal cases[] = {
        {"a: &x 1\n", 1, 4, "anchors (&name) are not allowed"},
        {"a: &x [1]\n", 1, 4, "anchors (&name) are not allowed"},
        {"a: &x [*x]\n", 1, 4, "anchors (&name) are not allowed"},
        {"b: 1\na: *x\n", 2, 4, "aliases (*name) are not allowed"},
        {"a: !!int 1\n", 1, 4, "tags (!name) are not allowed"},
        {"a: !x {b: 1}\n", 1, 4, "tags (!name) are not allowed"},
        {"a: ! 1\n", 1, 4, "tags (!name) are not allowed"},
        {"a: 1\nb: 2\na: 3\n", 3, 1, "key \"a\" is given twice: on line 1 and on line 3"},
        {"a: {b: 1,\n \"b\": 2}\n", 2, 2, "key \"b\" is given twice: on line 1 and on line 2"},
        {"a:\tb\n", 1, 3, "a tab"},
        {"a:\n\tb: 1\n", 2, 1, "a tab"},
        {"a: 1 #\tb\n", 1, 7, "a tab"},
        {"a: 1\n\xc3\xa9: \xff\n", 2, 4, "byte 0xff is not UTF-8"},
        {"a: \xc0\x80\n", 1, 4, "byte 0xc0 is not UTF-8"},
        {"a: \x01\n", 1, 4, "a control character"},
        {"a: b\r\x7f\n", 2, 1, "a control character"},
        {"a: \"\\0\"\n", 1, 4, "text must not contain \\0"},
        {"? [a]\n: 1\n", 1, 3, "expected a key"},
        {"? {a: b}\n: 1\n", 1, 3, "expected a key"},
        {": 1\n", 1, 1, "not YAML: did not find expected key"},
        {"~: 1\n", 1, 1, "expected a key"},
        {"a: [1\n", 2, 1, "not YAML: did not find expected"},
        {"a: 'b\n", 2, 1, "not YAML: found unexpected end of stream"},
        {"a: b: c\n", 1, 5, "not YAML: mapping values are not allowed"},
        {"a: 1\n b: 2\n", 2, 3, "not YAML"},
        {"\xff\xfe"
         "a\0:\0",
         1, 1, "byte 0xff is not UTF-8"},
    };
    for (size_t i = 0; i < RTUNE_ARRAY_SIZE(cases); i++)
        check_refusal(&cases[i], strlen(cases[i].text));
    static const struct refusal nul = {"a: 1\0b", 1, 5, "a NUL byte"};
    check_refusal(&nul, 6);
}

static void test_depth(void **state) {
    (void)state;
    struct rtune_error err = {0};
    rtune_yaml *doc = NULL;
    static const char deep[] = "a: [[[[[[[1]]]]]]]\n", deeper[] = "a: [[[[[[[[1]]]]]]]]\n";
    assert_int_equal(rtune_yaml_parse(deep, strlen(deep), "f", "profile", &doc, &err), RTUNE_OK);
    rtune_yaml_free(doc);
    static const struct refusal r = {deeper, 1, 11, "nested too deep (at most 8 levels)"};
    check_refusal(&r, strlen(deeper));
}

static double cpu_s(const struct rusage *used) {
    return (double)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) +
           (double)(used->ru_utime.tv_usec + used->ru_stime.tv_usec) / 1e6;
}

/* A refusal within a second of processor time and 64 MiB, whatever the text would unfold to. */
static void check_cheap(const char *text, size_t size, int line, const char *words) {
    struct rusage before, after;
    struct rtune_error err = {0};
    rtune_yaml *doc = NULL;
    getrusage(RUSAGE_SELF, &before);
    assert_int_not_equal(rtune_yaml_parse(text, size, "f.yaml", "profile", &doc, &err), RTUNE_OK);
    getrusage(RUSAGE_SELF, &after);
    assert_true(cpu_s(&after) - cpu_s(&before) < 1);
#if !defined(__SANITIZE_ADDRESS__)
    assert_true(after.ru_maxrss - before.ru_maxrss < 64 * 1024);
#endif
    assert_int_equal(err.line, line);
    if (strstr(err.message, words) == NULL) fail_msg("%s", err.message);
    assert_null(doc);
}

static void test_bombs(void **state) {
    (void)state;
    char bomb[1024];
    size_t used = (size_t)sprintf(bomb, "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for (int i = 1; i <= 9; i++) {
        used += (size_t)sprintf(bomb + used, "a%d: &a%d [", i, i);
        for (int k = 0; k < 10; k++)
            used += (size_t)sprintf(bomb + used, "%s*a%d", k == 0 ? "" : ",", i - 1);
        used += (size_t)sprintf(bomb + used, "]\n");
    }
    check_cheap(bomb, used, 1, "anchors");

    char *big = malloc(RTUNE_YAML_MAX + 1);
    assert_non_null(big);
    memset(big, '[', 20000);
    check_cheap(big, 20000, 1, "nested too deep");
    memset(big, '{', 20000);
    check_cheap(big, 20000, 1, "expected a key");
    for (size_t i = 0; i < 20000; i++)
        memcpy(big + 2 * i, "- ", 2);
    check_cheap(big, 40000, 1, "nested too deep");
    memset(big, 'a', RTUNE_YAML_MAX + 1);
    check_cheap(big, RTUNE_YAML_MAX + 1, 0, "file is too large: 1048577 bytes (at most 1048576)");
    check_cheap(big, RTUNE_YAML_MAX, 1, "no profile found");

    memcpy(big, "a: [", 4); /* more values than a document may have */
    for (size_t i = 4; i + 2 <= RTUNE_YAML_MAX; i += 2)
        memcpy(big + i, "1,", 2);
    check_cheap(big, RTUNE_YAML_MAX, 1, "too many values (at most 200000)");
    for (size_t i = 0; i + 8 <= RTUNE_YAML_MAX; i += 8) { /* and keys than a mapping may have */
        char line[16];
        snprintf(line, sizeof(line), "k%05zu:\n", i / 8 % 100000);
        memcpy(big + i, line, 8);
    }
    check_cheap(big, RTUNE_YAML_MAX / 8 * 8, 65, "too many keys (at most 64 in a mapping)");
    free(big);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree),  cmocka_unit_test(test_accepted),
        cmocka_unit_test(test_empty), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_depth), cmocka_unit_test(test_bombs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
