/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
#ifndef UTIL_HASH_H
#define UTIL_HASH_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct hash - table of 32-bit numbers by 32-bit keys, which may repeat; all zero: empty
 * Keys must already be hashes. The order of equal keys is undefined.
 */
struct hash {
	struct hash_slot *slot;
	uint32_t size, used;
};

/** hash_reserve() - make room for @n entries. Return: false without memory; @h is unchanged */
bool hash_reserve(struct hash *h, uint32_t n);
void hash_free(struct hash *h);

/** hash_put() - add an entry; hash_reserve() must have made room for it */
void hash_put(struct hash *h, uint32_t key, uint32_t value);
/* hash_del(), hash_change() - delete an entry, or change its value; the entry must exist */
void hash_del(struct hash *h, uint32_t key, uint32_t value);
void hash_change(struct hash *h, uint32_t key, uint32_t from, uint32_t to);

/** hash_next() - get the next @value of @key; *@at begins at 0. Return: false after the last */
bool hash_next(const struct hash *h, uint32_t key, uint32_t *at, uint32_t *value);

#endif /* UTIL_HASH_H */
