// SPDX-License-Identifier: GPL-2.0-or-later
/* Test: tests/unit/test_fabricweb_arena.c. */
#include <jansson.h>
#include <stdlib.h>

#include "arena.h"

#define BLOCK_BYTES (64u << 10)
/*
 * most blocks that are kept, because fresh memory of the system costs as much time as the work on a
 * tree
 */
#define BLOCKS_KEPT 16

/** struct block - memory that is taken from its beginning on; @used: bytes of @memory */
struct block {
	struct block *next;
	size_t size, used;
	_Alignas(16) char memory[];
};

static struct block *blocks;	/* list of blocks, the newest first */
static struct block *spare;
static unsigned int spares;
static json_malloc_t usual_malloc;
static json_free_t usual_free;

static struct block *add_block(size_t bytes)
{
	size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
	struct block *b = size == BLOCK_BYTES ? spare : NULL;

	if (b) {
		spare = b->next;
		spares--;
	} else {
		b = malloc(sizeof(*b) + size);
	}
	if (!b)
		return NULL;
	b->next = blocks;
	b->size = size;
	b->used = 0;
	blocks = b;
	return b;
}

static void *take_memory(size_t bytes)
{
	struct block *b = blocks;
	size_t whole = (bytes + 15) & ~(size_t)15;

	if (whole < bytes)
		return NULL;
	if (!b || b->size - b->used < whole)
		b = add_block(whole);
	if (!b)
		return NULL;
	b->used += whole;
	return b->memory + b->used - whole;
}

static void leave_memory(void *memory)
{
	(void)memory;
}

void arena_enter(void)
{
	json_get_alloc_funcs(&usual_malloc, &usual_free);
	json_set_alloc_funcs(take_memory, leave_memory);
}

void arena_leave(void)
{
	struct block *b;

	json_set_alloc_funcs(usual_malloc, usual_free);
	while ((b = blocks) != NULL) {
		blocks = b->next;
		if (b->size != BLOCK_BYTES || spares == BLOCKS_KEPT) {
			free(b);
			continue;
		}
		b->next = spare;
		spare = b;
		spares++;
	}
}
