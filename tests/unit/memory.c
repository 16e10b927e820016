// SPDX-License-Identifier: GPL-2.0-only
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/memory.h"

#define FENCE	32	/* bytes after a block */
#define FRESH	0xa5	/* content of a block before it is written */
#define BEHIND	0xff

/**
 * struct head - in front of a block; all are in a list, the youngest first
 * @mapped: bytes that were mapped for both; 0: they are from malloc()
 */
struct head {
	_Alignas(max_align_t) struct head *next;
	uint8_t *block;
	size_t size, mapped;
};

static struct head *all;
static unsigned int fails_at, asked;
static bool failed, guarded;
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

void memory_guard(bool on)
{
	guarded = on;
}

void memory_on_free(void (*fn)(const void *p, size_t size))
{
	on_free = fn;
}

/* Finds a block in the list. Return: NULL if it comes from a library. */
static struct head **find(const void *p)
{
	struct head **h = &all;

	while (*h && (*h)->block != p)
		h = &(*h)->next;
	return *h ? h : NULL;
}

static struct head *fenced(size_t size)
{
	struct head *h = __real_malloc(sizeof(*h) + size + FENCE);

	if (!h)
		return NULL;
	*h = (struct head){ .block = (uint8_t *)(h + 1) };
	memset(h->block + size, BEHIND, FENCE);
	return h;
}

/*
 * Allocates a block that ends, but for its alignment, where a page begins that must not be touched.
 */
static struct head *mapped(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), align = _Alignof(max_align_t);
	size_t room = (size + align - 1) / align * align;
	size_t both = (sizeof(struct head) + room + page - 1) / page * page;
	uint8_t *base = mmap(NULL, both + page, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct head *h = (struct head *)base;

	if (base == MAP_FAILED || mprotect(base + both, page, PROT_NONE))
		return NULL;
	*h = (struct head){ .block = base + both - room, .mapped = both + page };
	return h;
}

void *__wrap_malloc(size_t size)
{
	struct head *h;

	requests++;
	if (fails_at && ++asked == fails_at) {
		failed = true;
		return NULL;
	}
	h = guarded ? mapped(size) : fenced(size);
	if (!h)
		return NULL;
	h->next = all;
	h->size = size;
	all = h;
	blocks++;
	bytes += size;
	return memset(h->block, FRESH, size);
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
	end = h->block + h->size;
	for (unsigned int i = 0; !h->mapped && i < FENCE; i++)
		assert(end[i] == BEHIND);
	if (on_free)
		on_free(p, h->size);
	*in = h->next;
	blocks--;
	bytes -= h->size;
	if (h->mapped)
		munmap(h, h->mapped);
	else
		__real_free(h);
}
