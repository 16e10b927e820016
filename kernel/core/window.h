/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Translation of addresses, as in a non-transparent bridge: an aperture is a range of 2^bits bytes
 * of 64-bit addresses, whose bytes are in the memory of other nodes. At the initiator of a remote
 * access it gives the node and the address there, at the owner of the memory the region and the
 * offset.
 *
 * A. Sukhikh (Reducing the latency of traffic in the non-transparent bridges of a PCI Express
 * switch) describes two methods, and his switch has a third; numbers in parentheses are his steps
 * (section "The basic algorithm of translation", figures 4 and 5; his text in Russian):
 *
 *  INDEX	"The basic algorithm": the table is indexed. His index comes from the address (6),
 *	here the bits above TN_WINDOW.shift, or from a field of its own (tn_window_look_index()).
 *	He searches the table for the index; here the index is the number of the row.
 *  HIGH	"Modification of the algorithm": rows are found by the high bits of the address
 *	(7). He searches the whole table; here rows are sorted, the six highest bits in which they
 *	differ select a part of the table, and a binary search in that part finds the last row that
 *	begins at or before the address. Rows may have any length.
 *  DIRECT	RgTBA, direct translation: one target for the whole aperture.
 *  ARITH	no table: the bits above shift are the number of the target. Korneev (Routing in
 *	the communication medium of a system with distributed shared memory and synchronisation
 *	by FE bits, section "Foundations of the architecture", last part) makes addresses from
 *	module, block and offset like that.
 *
 * In all of them the aperture is compared first (5), an invalid row is refused (8), and the address
 * at the target is that of the row plus the offset (9, 10): the two are added, not combined by OR
 * as in a bridge, because targets need not be aligned (row 3 of his table 1 is not). His tables
 * have no lengths, no rights, and no rule for rows that overlap, so an offset may leave the memory
 * of its target. Here
 *
 *  1. rows are disjoint, lie in the aperture, and neither their addresses nor those of their
 *     targets pass 2^64 (tn_window_put());
 *  2. a look-up returns memory of one row only: the offset plus the length of the access stays
 *     within it;
 *  3. an access needs the rights of its row.
 *
 * tests/unit/test_window.c compares with a scan of all rows, at each of their boundaries. The
 * memory of the rows is the caller's, who also serialises all calls on one window.
 */
#ifndef TN_WINDOW_H
#define TN_WINDOW_H

#include "tn_deps.h"

/* the largest number of rows of a window, and of targets of ARITH */
#define TN_WINDOW_ROWS_MAX	(1u << 24)
#define TN_WINDOW_NONE		(~0u)		/* stands for no row */
#define TN_WINDOW_PARTS		64		/* number of parts of a HIGH table */

enum tn_window_mode {
	TN_WINDOW_DIRECT,
	TN_WINDOW_INDEX,
	TN_WINDOW_HIGH,
	TN_WINDOW_ARITH,
	TN_WINDOW_MODES,
};

/* Rights of a row. A row without rights is not valid (LT[Valid] of the paper). */
enum tn_window_access {
	TN_ACCESS_READ = 1,
	TN_ACCESS_WRITE = 2,
	TN_ACCESS_AMO = 4,
	TN_ACCESS_FE = 8,
	TN_ACCESS_ALL = 15,
};

/**
 * struct tn_window_row - one row of the table, LT in the paper
 * @from: HIGH: offset of the row's first byte in the aperture (LT[AHigh]); INDEX: number of the row
 *	(LT[Index]); DIRECT and ARITH: 0
 * @bytes: bytes of the row, for INDEX and ARITH at most 2^shift; 0: there is no such row
 * @to: address of the row's first byte at the target (LT[TAdr])
 * @target: number of the target (LT[Par]): at the initiator a node, at the owner a region; ARITH:
 *	number of the first target
 * @key: key that the target expects in a request
 * @ep: endpoint of the target
 * @access: enum tn_window_access
 */
struct tn_window_row {
	u64 from;
	u64 bytes;
	u64 to;
	u32 target;
	u32 key;
	u16 ep;
	u16 access;
};

/**
 * struct tn_far - the result of a look-up; if the look-up fails, what was found until then
 * @to: address at the target
 * @room: bytes from @to to the end of the row
 * @target: target of the row
 * @key: key of the row
 * @row: number of the row; TN_WINDOW_NONE: no row was found
 * @ep: endpoint of the target
 * @access: rights of the row
 */
struct tn_far {
	u64 to;
	u64 room;
	u32 target;
	u32 key;
	u32 row;
	u16 ep;
	u16 access;
};

/**
 * struct tn_window - an aperture and its table
 * @base: address of the aperture's first byte, a multiple of its size
 * @span: offset of the aperture's last byte: 2^bits - 1
 * @mask: INDEX and ARITH: mask of the bits of an address below the index
 * @from: HIGH: copies of the rows' @from, because a search reads nothing else of them
 * @row: the rows; DIRECT and ARITH use only the first one
 * @room: number of rows for which there is memory; ARITH: number of targets
 * @n: INDEX: number of rows up to the last one that was ever in use; HIGH: number of rows in use
 * @before: HIGH: for each part of the aperture, number of rows that begin before it; the last entry
 *	is @n
 * @part: HIGH: binary logarithm of the bytes of a part; the parts reach to the beginning of the
 *	last row
 * @shift: INDEX and ARITH: number of the bits below the index
 * @mode: enum tn_window_mode
 */
struct tn_window {
	u64 base;
	u64 span;
	u64 mask;
	u64 *from;
	struct tn_window_row *row;
	u32 room;
	u32 n;
	u32 before[TN_WINDOW_PARTS + 1];
	u8 part;
	u8 shift;
	u8 mode;
};

/* Values that are refused, for messages. */
enum tn_window_value {
	TN_WINDOW_FINE,
	TN_WINDOW_MODE,
	TN_WINDOW_BITS,
	TN_WINDOW_SHIFT,
	TN_WINDOW_BASE,
	TN_WINDOW_ROOM,
	TN_WINDOW_FROM,
	TN_WINDOW_BYTES,
	TN_WINDOW_TO,
	TN_WINDOW_TARGET,
	TN_WINDOW_RIGHTS,
	TN_WINDOW_OVERLAP,
	TN_WINDOW_FULL,
};

/**
 * struct tn_window_why - why tn_window_init(), tn_window_put() or tn_window_drop() refused
 * @what: enum tn_window_value: which value is wrong
 * @row: TN_WINDOW_OVERLAP: number of the row that the new one overlaps
 * @value: the wrong value
 * @min, @max: the allowed range. TN_WINDOW_BASE: the value must be a multiple of @min.
 *	TN_WINDOW_OVERLAP: offsets of the first and last byte of @row; INDEX: its number
 */
struct tn_window_why {
	u32 what;
	u32 row;
	u64 value;
	u64 min;
	u64 max;
};

/**
 * tn_window_init() - make an empty window
 * @w: the window
 * @mode: enum tn_window_mode
 * @base: address of the aperture
 * @bits: binary logarithm of the aperture's size, 1 to 64
 * @shift: INDEX and ARITH: bits below the index, 0 to @bits and at most 63; other modes: 0
 * @from: HIGH: memory of @room numbers; other modes: NULL
 * @row: memory of @room rows, which the function clears; ARITH: memory of one row
 * @room: number of rows, 1 to TN_WINDOW_ROWS_MAX; DIRECT: 1; ARITH: number of targets
 * @why: gets the reason of an error
 * Return: 0 or -EINVAL.
 */
int tn_window_init(struct tn_window *w, unsigned int mode, u64 base, unsigned int bits,
		   unsigned int shift, u64 *from, struct tn_window_row *row, u32 room,
		   struct tn_window_why *why);

/**
 * tn_window_put() - add a row
 * With HIGH, the rows after the new one move, so their numbers change.
 * Return: 0; or with the reason in @why -EEXIST if the row overlaps another one, -ENOSPC if the
 * table is full, -ERANGE if the row passes the end of the aperture or of the address space, -EINVAL
 * if another value is wrong.
 */
int tn_window_put(struct tn_window *w, const struct tn_window_row *row, struct tn_window_why *why);

/** tn_window_drop() - remove the row with this @from. Return: 0, or -ENXIO if there is none */
int tn_window_drop(struct tn_window *w, u64 from);

/**
 * tn_window_look() - translate an address
 * @w: the window
 * @addr: address in the space of the window
 * @bytes: length of the access; also an access of 0 bytes needs a row at @addr
 * @need: rights that the access needs, enum tn_window_access
 * @far: set to the result; after -EACCES and -ERANGE it has the rights and the bytes of the row
 * Return: 0; the first of these that is true: -ENXIO: no row has @addr; -ESTALE: that row is not
 * valid; -EACCES: the row does not allow the access; -ERANGE: the access passes the row's end.
 */
int tn_window_look(const struct tn_window *w, u64 addr, u64 bytes, u16 need, struct tn_far *far);

/**
 * tn_window_look_index() - translate with mode INDEX, if the index is not part of the address
 * @index: number of the row
 * @offset: offset in the row
 * The other arguments and the result are those of tn_window_look().
 */
int tn_window_look_index(const struct tn_window *w, u64 index, u64 offset, u64 bytes, u16 need,
			 struct tn_far *far);

#endif /* TN_WINDOW_H */
