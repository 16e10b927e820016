// SPDX-License-Identifier: GPL-2.0-only
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tests/unit/memory.h"

#define FENCE	32	/* bytes after a block */
#define FRESH	0xa5	/* content of a block before it is written */
#define BEHIND	0xff

/** struct head - in front of each block; all are in a list, the newest first */
struct head {
	_Alignas(max_align_t) struct head *next;
	size_t size;
};

static struct head *all;
static unsigned int fails_at, asked;
static bool failed;
static size_t blocks, bytes, requests;
static void (*on_free)(const void *p, size_t size);

void *__real_malloc(size_t size);
void *__real_realloc(void *p, size_t size);
void __real_free(void *p);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
char *__wrap_strdup(const char *text);
void *__wrap_realloc(void *p, size_t size);
void __wrap_free(void *p);

void memory_fails_at(unsigned int n)
{
	fails_at = n;
	asked = 0;
	failed = false;
}

bool memory_failed(void)
{
	fails_at = 0;
	return failed;
}

size_t memory_blocks(void)
{
	return blocks;
}

size_t memory_bytes(void)
{
	return bytes;
}

size_t memory_requests(void)
{
	return requests;
}

void memory_on_free(void (*fn)(const void *p, size_t size))
{
	on_free = fn;
}

/* Finds a block in the list. Return: NULL if it comes from a library. */
static struct head **find(const void *p)
{
	struct head **h = &all;

	while (*h && *h + 1 != p)
		h = &(*h)->next;
	return *h ? h : NULL;
}

void *__wrap_malloc(size_t size)
{
	struct head *h;

	requests++;
	if (fails_at && ++asked == fails_at) {
		failed = true;
		return NULL;
	}
	h = __real_malloc(sizeof(*h) + size + FENCE);
	if (!h)
		return NULL;
	*h = (struct head){ .next = all, .size = size };
	all = h;
	blocks++;
	bytes += size;
	memset(h + 1, FRESH, size);
	memset((uint8_t *)(h + 1) + size, BEHIND, FENCE);
	return h + 1;
}

void *__wrap_calloc(size_t n, size_t size)
{
	void *p;

	assert(!size || n <= SIZE_MAX / 2 / size);
	p = __wrap_malloc(n * size);
	return p ? memset(p, 0, n * size) : NULL;
}

char *__wrap_strdup(const char *text)
{
	char *p = __wrap_malloc(strlen(text) + 1);

	return p ? strcpy(p, text) : NULL;
}

void *__wrap_realloc(void *p, size_t size)
{
	struct head **was = find(p);
	void *new;

	if (p && !was)
		return __real_realloc(p, size);
	new = __wrap_malloc(size);
	if (new && p) {
		was = find(p);
		memcpy(new, p, (*was)->size < size ? (*was)->size : size);
		__wrap_free(p);
	}
	return new;
}

void __wrap_free(void *p)
{
	struct head **in = find(p), *h;
	const uint8_t *end;

	if (!in) {
		__real_free(p);
		return;
	}
	h = *in;
	end = (const uint8_t *)p + h->size;
	for (unsigned int i = 0; i < FENCE; i++)
		assert(end[i] == BEHIND);
	if (on_free)
		on_free(p, h->size);
	*in = h->next;
	blocks--;
	bytes -= h->size;
	__real_free(h);
}
