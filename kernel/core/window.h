/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Translation of addresses, as in a non-transparent bridge: an aperture of 2^bits bytes in a space
 * of 64-bit addresses, whose bytes lie in the memory of others. At the initiator of a remote access
 * it gives the node and the address there, at the owner of the memory the region and the offset.
 *
 * A. Sukhikh (Reducing the latency of traffic in the non-transparent bridges of a PCI Express
 * switch) describes two ways, and his switch has a third; numbers are his steps (section "The basic
 * algorithm of translation", figures 4 and 5; his text in Russian):
 *
 *  INDEX	"The basic algorithm": the table is indexed. His index comes from the address (6),
 *	here the bits above TN_WINDOW.shift, or from a field of its own (tn_window_look_index()).
 *	He searches the table for it; here it is the number of the row.
 *  HIGH	"Modification of the algorithm": rows are found by the high bits of the address
 *	(7). He searches the table for them; here rows are sorted, the six highest bits that
 *	differ among them select a part of the table, and a binary search in it finds the last
 *	row that begins at or before the address. Rows may have any length.
 *  DIRECT	RgTBA, direct translation: one target for the whole aperture.
 *  ARITH	no table: the bits above shift are the number of the target. Korneev (Routing in
 *	the communication medium of a system with distributed shared memory and synchronisation
 *	by FE bits, section "Foundations of the architecture", last part) makes addresses from
 *	module, block and offset like that.
 *
 * In all of them the aperture is compared first (5), an invalid row is refused (8), and the address
 * at the target is that of the row plus the offset (9, 10): added, not combined by OR as in a
 * bridge, because targets need not be aligned (row 3 of his table 1 is not). His tables have no
 * lengths, no rights, and no rule for rows that overlap, so an offset may leave the memory of its
 * target. Here
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

#define TN_WINDOW_ROWS_MAX	(1u << 24)	/* rows of a window, and targets of ARITH */
#define TN_WINDOW_NONE		(~0u)		/* the number of no row */
#define TN_WINDOW_PARTS		64		/* of a table of HIGH */

enum tn_window_mode {
	TN_WINDOW_DIRECT,
	TN_WINDOW_INDEX,
	TN_WINDOW_HIGH,
	TN_WINDOW_ARITH,
	TN_WINDOW_MODES,
};

/* Rights of a row; a row without any is not valid (his LT[Valid]). */
enum tn_window_access {
	TN_ACCESS_READ = 1,
	TN_ACCESS_WRITE = 2,
	TN_ACCESS_AMO = 4,
	TN_ACCESS_FE = 8,
	TN_ACCESS_ALL = 15,
};

/**
 * struct tn_window_row - one row of the table, his LT
 * @from: HIGH: offset of its first byte in the aperture (LT[AHigh]); INDEX: its number (LT[Index]);
 *	DIRECT and ARITH: 0
 * @bytes: how many, at most 2^shift for INDEX and ARITH; 0: there is no such row
 * @to: address of the first byte at the target (LT[TAdr])
 * @target: number of the target (LT[Par]): a node, or at the owner a region; ARITH: the first one
 * @key: what the target wants to be told, or to be told by others
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
 * struct tn_far - the result of a look-up; of one that fails, what is known until then
 * @to: address at the target
 * @room: bytes from there to the end of the row
 * @row: number of the row, TN_WINDOW_NONE if none was found
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
 * @base: address of its first byte, a multiple of its size
 * @span: offset of its last byte: 2^bits - 1
 * @mask: INDEX and ARITH: the bits of an address below the index
 * @from: HIGH: @from of each row, apart, because a search reads nothing else
 * @row: DIRECT and ARITH use the first one only
 * @room: how many there is memory for; ARITH: how many targets there are
 * @n: INDEX: rows up to the last one that was ever in use; HIGH: rows in use
 * @before: HIGH: number of rows that begin before each part of the aperture; the last one is @n
 * @part: HIGH: binary logarithm of the bytes of a part; the last row begins in one of them
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
 * @what: enum tn_window_value
 * @row: TN_WINDOW_OVERLAP: the row that is there already
 * @value: the value that is wrong
 * @min, @max: what is allowed; TN_WINDOW_BASE: @min is what it must be a multiple of;
 *	TN_WINDOW_OVERLAP: the offsets of the first and last byte of that row, INDEX: its number
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
 * @base: address of the aperture
 * @bits: binary logarithm of its size, 1 to 64
 * @shift: INDEX and ARITH: 0 to @bits, at most 63; other modes: 0
 * @from: memory of @room numbers for HIGH; NULL for other modes
 * @row: memory of @room rows, which is cleared; ARITH: of one row
 * @room: 1 to TN_WINDOW_ROWS_MAX; DIRECT: 1
 * Return: 0; -EINVAL with @why.
 */
int tn_window_init(struct tn_window *w, unsigned int mode, u64 base, unsigned int bits,
		   unsigned int shift, u64 *from, struct tn_window_row *row, u32 room,
		   struct tn_window_why *why);

/**
 * tn_window_put() - add a row; with HIGH, the rows behind it move, so their numbers change
 * Return: 0; with @why: -EEXIST if it overlaps another one, -ENOSPC if the table is full, -EINVAL,
 * or -ERANGE if it passes the end of the aperture or of the address space.
 */
int tn_window_put(struct tn_window *w, const struct tn_window_row *row, struct tn_window_why *why);

/** tn_window_drop() - remove the row with this @from. Return: 0, or -ENXIO if there is none */
int tn_window_drop(struct tn_window *w, u64 from);

/**
 * tn_window_look() - translate
 * @addr: address in the space of the window
 * @bytes: length of the access; an access of 0 bytes still needs a row at @addr
 * @need: enum tn_window_access, rights that it needs
 * @far: the result; on -EACCES and -ERANGE also, with the rights there are and the bytes there are
 * Return: 0; -ENXIO if no row has @addr; -ESTALE if that row is not valid; -EACCES if it does not
 * allow the access; -ERANGE if the access passes its end. They are found in this order.
 */
int tn_window_look(const struct tn_window *w, u64 addr, u64 bytes, u16 need, struct tn_far *far);

/**
 * tn_window_look_index() - translate for INDEX, with an index that is not part of the address
 * @offset: in the row
 * Return: as tn_window_look().
 */
int tn_window_look_index(const struct tn_window *w, u64 index, u64 offset, u64 bytes, u16 need,
			 struct tn_far *far);

#endif /* TN_WINDOW_H */
