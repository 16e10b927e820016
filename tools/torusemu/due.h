/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the next timer to expire: a binary heap of times. */
#ifndef EMU_DUE_H
#define EMU_DUE_H

#include "tn_deps.h"

#define DUE_NEVER	(~0ull)

/**
 * struct due - one entry, to be embedded in the struct that has the timer
 * @at: time of loop_now(), ns; DUE_NEVER: never
 * @place: index in the heap
 */
struct due {
	u64 at;
	u32 place;
};

struct due_heap {
	struct due **entry;
	u32 n;
	u32 room;
};

/** due_add() - add an entry with the time DUE_NEVER. Return: 0 or -ENOMEM */
int due_add(struct due_heap *h, struct due *d);
void due_set(struct due_heap *h, struct due *d, u64 at);
void due_del(struct due_heap *h, struct due *d);
/** due_first() - Return: the entry with the earliest time; NULL if the heap is empty */
struct due *due_first(const struct due_heap *h);
void due_fini(struct due_heap *h);

#endif /* EMU_DUE_H */
