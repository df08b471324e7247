/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cubin.c: a cubin is a 64-bit ELF file. Section .nv.info has a list of attributes: one byte of
 * format, one of kind, then for format 4 sixteen bits of size and so many bytes. Kind 0x11 is a
 * kernel's stack frame: index of its symbol, bytes.
 */
#include "tests/kernels/cubin.h"

#include <elf.h>
#include <string.h>

enum { FORMAT_SIZED = 4, KIND_FRAME_SIZE = 0x11 };

struct image {
    const char *bytes;
    size_t size;
    Elf64_Ehdr header;
};

static bool section_at(const struct image *image, size_t k, Elf64_Shdr *section) {
    const size_t at = image->header.e_shoff + k * sizeof *section;
    if (k >= image->header.e_shnum || at + sizeof *section > image->size) return false;
    memcpy(section, image->bytes + at, sizeof *section);
    return section->sh_type == SHT_NOBITS || section->sh_offset + section->sh_size <= image->size;
}

/* First section of this name. */
static bool section_find(const struct image *image, const char *name, Elf64_Shdr *section) {
    Elf64_Shdr names;
    if (!section_at(image, image->header.e_shstrndx, &names)) return false;
    for (size_t k = 0; section_at(image, k, section); k++)
        if (section->sh_name < names.sh_size &&
            strcmp(image->bytes + names.sh_offset + section->sh_name, name) == 0)
            return true;
    return false;
}

/* Index of a function's symbol; 0 if there is none. */
static uint32_t symbol_find(const struct image *image, const char *name, uint64_t *code) {
    Elf64_Shdr symbols, strings;
    if (!section_find(image, ".symtab", &symbols) || !section_at(image, symbols.sh_link, &strings))
        return 0;
    for (uint32_t k = 1; (k + 1) * sizeof(Elf64_Sym) <= symbols.sh_size; k++) {
        Elf64_Sym symbol;
        memcpy(&symbol, image->bytes + symbols.sh_offset + k * sizeof symbol, sizeof symbol);
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_name >= strings.sh_size)
            continue;
        if (strcmp(image->bytes + strings.sh_offset + symbol.st_name, name) != 0) continue;
        *code = symbol.st_size;
        return k;
    }
    return 0;
}

/* The frame size of one symbol. */
static bool frame_find(const struct image *image, uint32_t symbol, uint32_t *frame) {
    Elf64_Shdr info;
    if (!section_find(image, ".nv.info", &info)) return false;
    const unsigned char *at = (const unsigned char *)image->bytes + info.sh_offset;
    const unsigned char *end = at + info.sh_size;
    while (at + 4 <= end) {
        uint16_t size = 0;
        uint32_t words[2];
        if (at[0] == FORMAT_SIZED) memcpy(&size, at + 2, sizeof size);
        if (at[0] == FORMAT_SIZED && at[1] == KIND_FRAME_SIZE && size == sizeof words &&
            at + 4 + size <= end) {
            memcpy(words, at + 4, sizeof words);
            if (words[0] == symbol) {
                *frame = words[1];
                return true;
            }
        }
        at += 4 + size;
    }
    return false;
}

bool cubin_find(const void *bytes, size_t size, const char *name, struct cubin_kernel *kernel) {
    struct image image = {.bytes = bytes, .size = size};
    if (size < sizeof image.header) return false;
    memcpy(&image.header, bytes, sizeof image.header);
    if (memcmp(image.header.e_ident, ELFMAG, SELFMAG) != 0) return false;
    const uint32_t symbol = symbol_find(&image, name, &kernel->code);
    return symbol != 0 && frame_find(&image, symbol, &kernel->frame);
}
