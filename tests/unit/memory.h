/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that runs out when the test says so. A program is linked with
 * -Wl,--wrap= for malloc, calloc, realloc, strdup and free: what its own objects ask for
 * comes from here, what libraries ask for does not. What is written behind the end of a
 * block is found when the block is freed.
 */
#ifndef TESTS_MEMORY_H
#define TESTS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/** memory_fails_at() - the @n-th request from now on is refused, no other; 0: none */
void memory_fails_at(unsigned int n);
/** memory_failed() - whether that request has come; nothing is refused any more */
bool memory_failed(void);

/** memory_blocks() - how many are not freed yet */
size_t memory_blocks(void);
/** memory_bytes() - what is in them */
size_t memory_bytes(void);
/** memory_requests() - how many there were in all */
size_t memory_requests(void);

/** memory_on_free() - @fn sees each block when it is freed; NULL: nobody does */
void memory_on_free(void (*fn)(const void *p, size_t size));

#endif /* TESTS_MEMORY_H */
