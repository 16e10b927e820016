/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
#ifndef UTIL_HASH_H
#define UTIL_HASH_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct hash - numbers by 32-bit keys, of which several may be equal; all zero: empty
 * Keys must be scattered already. Their order tells nothing.
 */
struct hash {
	struct hash_slot *slot;
	uint32_t size, used;
};

/** hash_reserve() - make room for @n in all. Return: false if out of memory, and as it was */
bool hash_reserve(struct hash *h, uint32_t n);
void hash_free(struct hash *h);

/** hash_put() - there is room */
void hash_put(struct hash *h, uint32_t key, uint32_t value);
/** hash_del(), hash_change() - it is there */
void hash_del(struct hash *h, uint32_t key, uint32_t value);
void hash_change(struct hash *h, uint32_t key, uint32_t from, uint32_t to);

/** hash_next() - the next @value of @key; *@at begins at 0. Return: false past the last */
bool hash_next(const struct hash *h, uint32_t key, uint32_t *at, uint32_t *value);

#endif /* UTIL_HASH_H */
