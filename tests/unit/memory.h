/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that runs out when the test says so. A program is linked with -Wl,--wrap= for malloc,
 * calloc, realloc, strdup and free: requests of its own objects come here, those of libraries do
 * not. Writing past the end of a block is detected when the block is freed.
 */
#ifndef TESTS_MEMORY_H
#define TESTS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/** memory_fails_at() - refuses the @n-th request from now on, and no other; 0: none */
void memory_fails_at(unsigned int n);
/** memory_failed() - whether that request has come; from now on none is refused */
bool memory_failed(void);

/** memory_blocks() - how many blocks are not freed yet */
size_t memory_blocks(void);
/** memory_bytes() - how many bytes these blocks have */
size_t memory_bytes(void);
/** memory_requests() - how many requests there were in total */
size_t memory_requests(void);

/**
 * memory_guard() - whether what is asked for from now on has a page behind it that must not be
 * touched: who reads or writes on ends by a signal
 */
void memory_guard(bool on);

/** memory_on_free() - calls @fn with each block before it is freed; NULL: no call */
void memory_on_free(void (*fn)(const void *p, size_t size));

#endif /* TESTS_MEMORY_H */
