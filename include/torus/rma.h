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

#define TORUS_RMA_ENTRIES	64	/* size of the request ring if the caller passes 0 */

struct torus_rma;

/* struct torus_far: @region of memory that is named by its address, not by region and key */
#define TORUS_RMA_BY_ADDRESS	UINT32_MAX

/**
 * struct torus_far - the name of a region; a process sends it to others as bytes
 * @node: node of the owner
 * @region: number of the region at that node, or TORUS_RMA_BY_ADDRESS: then the offset of a request
 *	is an address of torus_region_at(), and requests are 16 bytes shorter
 * @key: key that proves the right to use the region
 */
struct torus_far {
	uint32_t node;
	uint32_t region;
	uint32_t key;
};

/**
 * struct torus_peer - the name of a context, to which others send messages
 * @node: node of its process
 * @context: number of the context at that node
 * @key: key by which a later context with the same number is known
 */
struct torus_peer {
	uint32_t node;
	uint32_t context;
	uint32_t key;
};

/**
 * struct torus_region - memory that other processes may use, and that own requests read and write
 * @base: first byte of the region, on a page of its own
 * @bytes: size of the region
 * @far: name of the region, for other processes
 */
struct torus_region {
	void *base;
	size_t bytes;
	struct torus_far far;
};

/**
 * torus_rma_open() - open a context
 * @where: "unix:PATH", the socket of option --rma of torusemu(8); "dev:NAME", a netdev of torus(4)
 *	in this network namespace. NULL: $TORUS_RMA; if that is not set, the only such socket in
 *	/run/torus, or the only such netdev
 * @entries: most requests that may wait in the ring, a power of two; 0: TORUS_RMA_ENTRIES
 * @rmap: set to the context, which the caller closes with torus_rma_close()
 */
int torus_rma_open(const char *where, unsigned int entries, struct torus_rma **rmap);
/** torus_rma_close() - close a context and its regions; open requests end without a completion */
void torus_rma_close(struct torus_rma *rma);
/**
 * torus_rma_error() - Return: text of the last error; with @rma NULL, text of the last error of
 * torus_rma_open()
 */
const char *torus_rma_error(const struct torus_rma *rma);
/** torus_rma_node() - Return: number of this node */
uint32_t torus_rma_node(const struct torus_rma *rma);
/** torus_rma_nodes() - Return: number of nodes of the torus */
uint32_t torus_rma_nodes(const struct torus_rma *rma);

/**
 * torus_region_new() - make a region, whose memory is 0
 * @rma: the context
 * @bytes: size; with full/empty bits a multiple of 8
 * @access: what others may do, a mask of TORUS_RMA_ACCESS_*; 0: only requests of this context use
 *	the region
 * @flags: TORUS_RMA_HAS_FE, TORUS_RMA_STARTS_EMPTY
 * @regionp: set to the region, which exists until torus_region_free() or the end of the context
 */
int torus_region_new(struct torus_rma *rma, size_t bytes, unsigned int access, unsigned int flags,
		     struct torus_region **regionp);
/**
 * torus_region_at() - make a region as torus_region_new(), and give it the address @addr
 * Others name it by node and address, without a key: its user is enough. @addr must be a multiple
 * of 8, the region must end at 2^48, and must not overlap others of the same user at this node.
 */
int torus_region_at(struct torus_rma *rma, uint64_t addr, size_t bytes, unsigned int access,
		    unsigned int flags, struct torus_region **regionp);
/** torus_region_free() - free a region. Return: 0; -EBUSY if an open request has its data there */
int torus_region_free(struct torus_rma *rma, struct torus_region *region);

/*
 * Requests. They return -EAGAIN if the ring is full; the caller must then take completions. @offset
 * is an offset in the region @far. Data must be in a region of the context, except the data of a
 * torus_rma_put() or torus_rma_send() of at most 8 bytes.
 */

/** torus_rma_put() - write @bytes bytes, which are at @from */
int torus_rma_put(struct torus_rma *rma, const struct torus_far *far, uint64_t offset,
	      const void *from, size_t bytes, uint64_t cookie);
/**
 * torus_rma_put_notify() - write as torus_rma_put(), then add @add to the word of 8 bytes at offset
 * @word of the same region
 */
int torus_rma_put_notify(struct torus_rma *rma, const struct torus_far *far, uint64_t offset,
		     const void *from, size_t bytes, uint64_t word, uint64_t add, uint64_t cookie);
/** torus_rma_get() - read @bytes bytes into @to */
int torus_rma_get(struct torus_rma *rma, void *to, const struct torus_far *far, uint64_t offset,
	      size_t bytes, uint64_t cookie);
/** torus_rma_amo() - execute an atomic operation; the completion has the value before */
int torus_rma_amo(struct torus_rma *rma, const struct torus_far *far, uint64_t offset,
	      enum torus_rma_amo amo, enum torus_rma_type type, uint64_t operand, uint64_t compare,
	      uint64_t cookie);
/**
 * torus_rma_amo_post() - as torus_rma_amo(), but faster: the completion does not have the value
 * before
 */
int torus_rma_amo_post(struct torus_rma *rma, const struct torus_far *far, uint64_t offset,
		   enum torus_rma_amo amo, enum torus_rma_type type, uint64_t operand,
		   uint64_t compare, uint64_t cookie);
/**
 * torus_rma_fe() - wait until the full/empty bit of a word of 8 bytes is @q, execute an operation
 * on the word, and set the bit to @r
 */
int torus_rma_fe(struct torus_rma *rma, const struct torus_far *far, uint64_t offset,
	     enum torus_rma_fe fe, enum torus_rma_state q, enum torus_rma_state r, uint64_t value,
	     uint64_t cookie);
/** torus_rma_until() - wait until the comparison @cmp of a word of 8 bytes with @value is true */
int torus_rma_until(struct torus_rma *rma, const struct torus_far *far, uint64_t offset,
	       enum torus_rma_cmp cmp, enum torus_rma_type type, uint64_t value, uint64_t cookie);
/**
 * torus_rma_send() - send a message of @bytes bytes, which are at @from, to the context @to
 * @tag: number that the receiver gets with the message
 * Messages from one context to another are received in order, each at most once. The completion
 * says that the message is in the receiver's memory. It is refused with TORUS_RMA_NO_ROOM if the
 * receiver has posted no memory, and with TORUS_RMA_LENGTH if that is too small. Later messages may
 * be received then: torus_rma_fence() before each message keeps the order, if it is sent again.
 */
int torus_rma_send(struct torus_rma *rma, const struct torus_peer *to, const void *from,
		   size_t bytes, uint64_t tag, uint64_t cookie);
/**
 * torus_rma_recv() - post @bytes bytes at @to, in a region of the context, for a message
 * Messages take such memory in the order in which it was posted. The completion has the tag of the
 * message in @value, its length in @bytes, its sender in @node and @context.
 * Return: as for other requests; -EAGAIN also if as many as the ring has entries are posted, or
 * have ended in torus_rma_quiet() and were not taken yet.
 */
int torus_rma_recv(struct torus_rma *rma, void *to, size_t bytes, uint64_t cookie);
/** torus_rma_self() - Return: the name of this context, for those who send messages to it */
struct torus_peer torus_rma_self(const struct torus_rma *rma);
/** torus_rma_message_max() - Return: most bytes of a message */
size_t torus_rma_message_max(const struct torus_rma *rma);
/**
 * torus_rma_cancel() - end the request with cookie @of, if it waits for a bit, a comparison or a
 * message
 */
int torus_rma_cancel(struct torus_rma *rma, uint64_t of, uint64_t cookie);
/**
 * torus_rma_fence() - the next request is not sent before all earlier ones but those of
 * torus_rma_recv() have ended
 */
void torus_rma_fence(struct torus_rma *rma);

/** torus_rma_open_requests() - Return: number of requests whose completion was not taken yet */
uint64_t torus_rma_open_requests(const struct torus_rma *rma);
/** torus_rma_poll() - take at most @n completions, without waiting. Return: their number */
unsigned int torus_rma_poll(struct torus_rma *rma, struct torus_rma_end *ends, unsigned int n);
/**
 * torus_rma_wait() - take at most @n completions; if there is none yet, wait for the first one
 * @timeout_ms: longest time to wait; negative: without limit
 * Return: number of completions; -ETIMEDOUT; -ENODEV if the NIC has ended or lost its place.
 */
int torus_rma_wait(struct torus_rma *rma, struct torus_rma_end *ends, unsigned int n,
		   int timeout_ms);
/**
 * torus_rma_quiet() - wait until all requests but those of torus_rma_recv() have ended, and take
 * their completions
 * Completions of messages that arrive meanwhile are kept for torus_rma_poll().
 * Return: 0 if all succeeded; -EIO: torus_rma_error() says how the first of the others ended;
 * -ETIMEDOUT; -ENODEV.
 */
int torus_rma_quiet(struct torus_rma *rma, int timeout_ms);
/**
 * torus_rma_arm() - make torus_rma_fd() readable when the next completion comes
 * The next torus_rma_poll() ends this, so the caller calls both in turn.
 * Return: true if there is a completion already.
 */
bool torus_rma_arm(struct torus_rma *rma);
/** torus_rma_fd() - Return: descriptor that the caller's loop polls, and does not read */
int torus_rma_fd(const struct torus_rma *rma);
/**
 * torus_rma_regions() - call @each for the regions that processes of this user have at a NIC; if
 * the user is root, for those of all users
 * @where: as of torus_rma_open()
 * @each: Return: 0, or another value, which ends the list and is returned
 */
int torus_rma_regions(const char *where,
		      int (*each)(void *ctx, const struct torus_rma_region_info *info), void *ctx);

/**
 * torus_rma_waits() - call @each for the requests that wait for words of these regions, in order
 */
int torus_rma_waits(const char *where,
		    int (*each)(void *ctx, const struct torus_rma_wait_info *info), void *ctx);

/*
 * Windows. A window is an aperture of 2^bits bytes in a space of addresses that the program
 * chooses; its rows say in which memory of which node they lie. torus_window_look() translates an
 * address; its result is what requests take. The kinds are those of non-transparent bridges.
 */
enum torus_window_kind {
	TORUS_WINDOW_DIRECT,	/* one row for the whole aperture */
	/* the bits above @shift are the number of the row */
	TORUS_WINDOW_INDEX,
	/* rows begin anywhere, and have any length */
	TORUS_WINDOW_HIGH,
	/* the bits above @shift are added to the node of the only row: no table */
	TORUS_WINDOW_ARITH,
};

struct torus_window;

/**
 * struct torus_window_row - where a part of the aperture lies
 * @from: HIGH: offset of its first byte in the aperture; INDEX: number of the row; others: 0
 * @bytes: its length; INDEX and ARITH: at most 2^shift
 * @far: the memory, as requests take it; ARITH: of the first node, by address only
 * @offset: offset or address of the first byte there
 * @access: what may be done there, a mask of TORUS_RMA_ACCESS_*
 */
struct torus_window_row {
	uint64_t from;
	uint64_t bytes;
	struct torus_far far;
	uint64_t offset;
	unsigned int access;
};

/**
 * struct torus_place - the result of a look-up
 * @far, @offset: as requests take them
 * @room: bytes from there to the end of the row
 */
struct torus_place {
	struct torus_far far;
	uint64_t offset;
	uint64_t room;
};

/**
 * torus_window_new() - make an empty window
 * @kind: enum torus_window_kind
 * @base: address of the aperture, a multiple of its size
 * @bits: binary logarithm of its size, 1 to 64
 * @shift: INDEX and ARITH: bits below the index; others: 0
 * @rows: most rows; ARITH: number of nodes; DIRECT: 1
 * @windowp: set to the window, which the caller frees with torus_window_free()
 * A window is used by one thread at a time. torus_window_error() has the text of an error; with
 * NULL that of torus_window_new().
 */
int torus_window_new(enum torus_window_kind kind, uint64_t base, unsigned int bits,
		     unsigned int shift, uint32_t rows, struct torus_window **windowp);
void torus_window_free(struct torus_window *window);
/** torus_window_error() - Return: text of the last error of this window */
const char *torus_window_error(const struct torus_window *window);
/**
 * torus_window_put() - add a row
 * Return: 0; -EEXIST: it overlaps another one; -ENOSPC: there are too many; -ERANGE: it passes the
 * end of the aperture or of the addresses there; -EINVAL: another value is wrong
 */
int torus_window_put(struct torus_window *window, const struct torus_window_row *row);
/** torus_window_drop() - remove the row with this @from. Return: 0, or -ENXIO if there is none */
int torus_window_drop(struct torus_window *window, uint64_t from);
/**
 * torus_window_look() - find the memory of an address
 * @need: what will be done, a mask of TORUS_RMA_ACCESS_*
 * Return: 0; -ENXIO: no row has this address; -EACCES: its row does not allow this; -ERANGE: the
 * bytes pass the end of the row.
 */
int torus_window_look(struct torus_window *window, uint64_t addr, size_t bytes, unsigned int need,
		      struct torus_place *place);

/** torus_rma_end_text() - write how a request ended to @text, of @size bytes. Return: @text */
const char *torus_rma_end_text(const struct torus_rma_end *end, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* TORUS_RMA_H */
