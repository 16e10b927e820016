/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtorus: memory of other nodes. A process opens a context at its NIC, makes regions, and sends
 * their names (struct torus_far) to processes of the same user on other nodes, which can then write
 * and read them, execute atomic operations on their words, and wait for full/empty bits. The NIC of
 * the owner executes all this; its process does nothing. libtorus-rma(3) has a program.
 *
 * Requests return at once, and end later with a completion: struct torus_rma_end, which has the
 * cookie of its request. In the paper of V. Korneev a read suspends its thread; here a thread can
 * have many requests open, and torus_rma_quiet() waits for them. Requests to one node are executed
 * in the order in which they were made, each at most once, also while cables are cut.
 *
 * Functions return 0 or a negative errno; torus_rma_error() then returns the text of the error. A
 * context is used by one thread at a time. After fork() it belongs to the parent alone.
 */
#ifndef TORUS_RMA_H
#define TORUS_RMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <torus/torus_rma.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TORUS_RMA_ENTRIES	64	/* requests that a ring has if 0 is asked for */

struct torus_rma;

/** struct torus_far - the name of a region, of which a process may send the bytes to others */
struct torus_far {
	uint32_t node;
	uint32_t region;
	uint32_t key;
};

/**
 * struct torus_region - memory that others may use, and from which data are sent
 * @base: its first byte, on a page of its own
 * @bytes: its size
 * @far: its name
 */
struct torus_region {
	void *base;
	size_t bytes;
	struct torus_far far;
};

/**
 * torus_rma_open() - open a context
 * @where: "unix:PATH", the socket that torusemu(8) has by --rma; or NULL for $TORUS_RMA, or if that
 *	is not set the only one in /run/torus
 * @entries: requests that may wait in the ring, a power of two; 0: TORUS_RMA_ENTRIES
 * @rmap: set to the context, which the caller closes with torus_rma_close()
 */
int torus_rma_open(const char *where, unsigned int entries, struct torus_rma **rmap);
/** torus_rma_close() - close a context with its regions; requests that are open end unseen */
void torus_rma_close(struct torus_rma *rma);
/** torus_rma_error() - Return: text of the last error; with NULL, of torus_rma_open() */
const char *torus_rma_error(const struct torus_rma *rma);
/** torus_rma_node() - Return: number of this node */
uint32_t torus_rma_node(const struct torus_rma *rma);
/** torus_rma_nodes() - Return: how many nodes the torus has */
uint32_t torus_rma_nodes(const struct torus_rma *rma);

/**
 * torus_region_new() - make a region, of memory that is 0
 * @rma: the context
 * @bytes: size; with full/empty bits a multiple of 8
 * @access: mask of TORUS_RMA_ACCESS_*, what others may do; 0: it is only for data of this context
 * @flags: TORUS_RMA_HAS_FE, TORUS_RMA_STARTS_EMPTY
 * @regionp: set to the region, which ends with torus_region_free() or the context
 */
int torus_region_new(struct torus_rma *rma, size_t bytes, unsigned int access, unsigned int flags,
		     struct torus_region **regionp);
/** torus_region_free() - end a region. Return: 0; -EBUSY: open requests have their data there */
int torus_region_free(struct torus_rma *rma, struct torus_region *region);

/*
 * Requests. They return -EAGAIN if the ring is full: then completions must be taken. @offset is in
 * the region @far. Data are in regions of the context, but for a torus_rma_put() of up to 8 bytes.
 */

/** torus_rma_put() - write @bytes from @from */
int torus_rma_put(struct torus_rma *rma, const struct torus_far *far, uint64_t offset,
	      const void *from, size_t bytes, uint64_t cookie);
/** torus_rma_put_notify() - write, then add @add to the word of 8 bytes at @word of that region */
int torus_rma_put_notify(struct torus_rma *rma, const struct torus_far *far, uint64_t offset,
		     const void *from, size_t bytes, uint64_t word, uint64_t add, uint64_t cookie);
/** torus_rma_get() - read @bytes to @to */
int torus_rma_get(struct torus_rma *rma, void *to, const struct torus_far *far, uint64_t offset,
	      size_t bytes, uint64_t cookie);
/** torus_rma_amo() - atomic operation; the completion has the value before */
int torus_rma_amo(struct torus_rma *rma, const struct torus_far *far, uint64_t offset,
	      enum torus_rma_amo amo, enum torus_rma_type type, uint64_t operand, uint64_t compare,
	      uint64_t cookie);
/** torus_rma_amo_post() - the same without the value before, which takes less time */
int torus_rma_amo_post(struct torus_rma *rma, const struct torus_far *far, uint64_t offset,
		   enum torus_rma_amo amo, enum torus_rma_type type, uint64_t operand,
		   uint64_t compare, uint64_t cookie);
/** torus_rma_fe() - operation on a word of 8 bytes, once its state is @q; then it is @r */
int torus_rma_fe(struct torus_rma *rma, const struct torus_far *far, uint64_t offset,
	     enum torus_rma_fe fe, enum torus_rma_state q, enum torus_rma_state r, uint64_t value,
	     uint64_t cookie);
/** torus_rma_until() - end when the word of 8 bytes compares with @value as @cmp says */
int torus_rma_until(struct torus_rma *rma, const struct torus_far *far, uint64_t offset,
	       enum torus_rma_cmp cmp, enum torus_rma_type type, uint64_t value, uint64_t cookie);
/** torus_rma_cancel() - end the operation with full/empty bits whose cookie is @of, if it waits */
int torus_rma_cancel(struct torus_rma *rma, uint64_t of, uint64_t cookie);
/** torus_rma_fence() - the next request is not sent before all earlier ones have ended */
void torus_rma_fence(struct torus_rma *rma);

/** torus_rma_open_requests() - Return: requests whose completion was not taken yet */
uint64_t torus_rma_open_requests(const struct torus_rma *rma);
/** torus_rma_poll() - take up to @n completions, without waiting. Return: how many */
unsigned int torus_rma_poll(struct torus_rma *rma, struct torus_rma_end *ends, unsigned int n);
/**
 * torus_rma_wait() - take up to @n completions, and wait for the first one
 * @timeout_ms: longest time; negative: for ever
 * Return: how many; -ETIMEDOUT; -ENODEV: the NIC has ended, or lost its place.
 */
int torus_rma_wait(struct torus_rma *rma, struct torus_rma_end *ends, unsigned int n,
		   int timeout_ms);
/**
 * torus_rma_quiet() - wait until all requests have ended, and take their completions
 * Return: 0 if all succeeded; -EIO: torus_rma_error() says how the first of the others ended;
 * -ETIMEDOUT; -ENODEV.
 */
int torus_rma_quiet(struct torus_rma *rma, int timeout_ms);
/**
 * torus_rma_arm() - make torus_rma_fd() readable when there is a completion; once for each
 * torus_rma_poll(), which ends it. Return: true if there is one already
 */
bool torus_rma_arm(struct torus_rma *rma);
/** torus_rma_fd() - Return: the descriptor for a loop of the caller, who only polls it */
int torus_rma_fd(const struct torus_rma *rma);
/** torus_rma_end_text() - Return: how a request ended, as text in @text of @size bytes */
const char *torus_rma_end_text(const struct torus_rma_end *end, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* TORUS_RMA_H */
