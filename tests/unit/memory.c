// SPDX-License-Identifier: GPL-2.0-only
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "tests/unit/memory.h"

#define FENCE	32	/* bytes behind a block */
#define SIGN	0xa5

/** struct head - in front of a block */
struct head {
	_Alignas(max_align_t) size_t size;
};

static unsigned int fails_at, asked;
static bool failed;
static size_t blocks, bytes, requests;

void *__real_malloc(size_t size);
void __real_free(void *p);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
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
	h->size = size;
	blocks++;
	bytes += size;
	/* Whoever reads what was never written, or what is behind it, reads this. */
	memset(h + 1, SIGN, size + FENCE);
	return h + 1;
}

void *__wrap_calloc(size_t n, size_t size)
{
	void *p;

	assert(!size || n <= SIZE_MAX / 2 / size);
	p = __wrap_malloc(n * size);
	return p ? memset(p, 0, n * size) : NULL;
}

void *__wrap_realloc(void *p, size_t size)
{
	void *new = __wrap_malloc(size);
	size_t was = p ? ((struct head *)p)[-1].size : 0;

	if (new && p) {
		memcpy(new, p, was < size ? was : size);
		__wrap_free(p);
	}
	return new;
}

void __wrap_free(void *p)
{
	struct head *h = p;
	const uint8_t *end;

	if (!p)
		return;
	h--;
	end = (const uint8_t *)p + h->size;
	for (unsigned int i = 0; i < FENCE; i++)
		assert(end[i] == SIGN);
	blocks--;
	bytes -= h->size;
	__real_free(h);
}
