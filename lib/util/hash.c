// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Open addressing with linear probing, at most half full. */
#include <stdlib.h>

#include "lib/deps/invariant.h"
#include "lib/util/hash.h"

#define SIZE_MIN 8

/* struct hash_slot: @value is the value plus 1; 0: the slot is empty */
struct hash_slot {
	uint32_t key, value;
};

static struct hash_slot *slot_at(const struct hash *h, uint32_t i)
{
	return &h->slot[i & (h->size - 1)];
}

void hash_put(struct hash *h, uint32_t key, uint32_t value)
{
	uint32_t i = key;

	invariant(2 * (h->used + 1) <= h->size);
	while (slot_at(h, i)->value)
		i++;
	*slot_at(h, i) = (struct hash_slot) { key, value + 1 };
	h->used++;
}

bool hash_reserve(struct hash *h, uint32_t n)
{
	struct hash new = { .size = h->size ? h->size : SIZE_MIN };

	while (new.size / 2 < n)
		new.size *= 2;
	if (new.size == h->size)
		return true;
	new.slot = calloc(new.size, sizeof(*new.slot));
	if (!new.slot)
		return false;
	for (uint32_t i = 0; i < h->size; i++)
		if (h->slot[i].value)
			hash_put(&new, h->slot[i].key, h->slot[i].value - 1);
	free(h->slot);
	*h = new;
	return true;
}

void hash_free(struct hash *h)
{
	free(h->slot);
	*h = (struct hash) { .size = 0 };
}

static uint32_t find_slot(const struct hash *h, uint32_t key, uint32_t value)
{
	uint32_t i = key;

	invariant(h->used);
	while (slot_at(h, i)->key != key || slot_at(h, i)->value != value + 1)
		i++;
	return i;
}

/*
 * Moves later entries of the run into the gap, unless the gap is before the slot that their key
 * selects.
 */
void hash_del(struct hash *h, uint32_t key, uint32_t value)
{
	uint32_t hole = find_slot(h, key, value), mask = h->size - 1;

	invariant(h->used);
	for (uint32_t i = hole + 1; slot_at(h, i)->value; i++) {
		if (((i - slot_at(h, i)->key) & mask) < i - hole)
			continue;
		*slot_at(h, hole) = *slot_at(h, i);
		hole = i;
	}
	slot_at(h, hole)->value = 0;
	h->used--;
}

void hash_change(struct hash *h, uint32_t key, uint32_t from, uint32_t to)
{
	slot_at(h, find_slot(h, key, from))->value = to + 1;
}

bool hash_next(const struct hash *h, uint32_t key, uint32_t *at, uint32_t *value)
{
	while (h->size && slot_at(h, key + *at)->value) {
		const struct hash_slot *s = slot_at(h, key + (*at)++);

		*value = s->value - 1;
		if (s->key == key)
			return true;
	}
	return false;
}
