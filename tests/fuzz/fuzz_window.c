// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as the rows of a window and as addresses. After each step the rows are disjoint, and a
 * look-up finds what a scan of all rows finds.
 *
 * Input: MODE, BITS, SHIFT, ROOM (1 byte each), BASE (8, little endian), then records of
 * WHAT (1 byte; 0: put, 1: drop, else look), FROM or ADDRESS (8), BYTES (8), TO (8), ACCESS (1).
 */
#include <stdint.h>
#include <stdlib.h>

#include "kernel/core/window.h"

#define ROWS	32
#define HEAD	12
#define RECORD	26

typedef unsigned __int128 wide;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void must(bool yes)
{
	if (!yes)
		abort();
}

static wide begin_of(const struct tn_window *w, const struct tn_window_row *row)
{
	return w->mode == TN_WINDOW_INDEX ? (wide)row->from << w->shift : row->from;
}

static u32 rows_of(const struct tn_window *w)
{
	return w->mode == TN_WINDOW_HIGH || w->mode == TN_WINDOW_INDEX ? w->n : 1;
}

static void check_rows(const struct tn_window *w)
{
	wide end = 0;

	must(w->n <= w->room);
	for (u32 i = 0; i < rows_of(w); i++) {
		const struct tn_window_row *row = &w->row[i];

		if (!row->bytes)
			continue;
		must(begin_of(w, row) >= end);
		end = begin_of(w, row) + row->bytes;
		must((wide)row->to + row->bytes <= (wide)1 << 64);
		must(w->mode == TN_WINDOW_INDEX || end <= (wide)w->span + 1);
		must(w->mode != TN_WINDOW_HIGH || w->from[i] == row->from);
	}
}

/* Return: what tn_window_look() has to return; @to, @target: what it has to find. */
static int scan_rows(const struct tn_window *w, u64 addr, u64 bytes, u16 need, u64 *to, u32 *target)
{
	wide at = (wide)addr - w->base;

	*to = *target = 0;
	if (addr < w->base || at > w->span)
		return -ENXIO;
	if (w->mode == TN_WINDOW_ARITH) {
		if (at >> w->shift >= w->room)
			return -ENXIO;
		*target = (u32)(at >> w->shift);
		at -= (wide)*target << w->shift;
	}
	for (u32 i = 0; i < rows_of(w); i++) {
		const struct tn_window_row *row = &w->row[i];
		wide begin = begin_of(w, row);

		if (at < begin || at >= begin + row->bytes)
			continue;
		*to = (u64)(row->to + (at - begin));
		*target += row->target;
		return !row->access ? -ESTALE : need & ~row->access ? -EACCES :
		       at + bytes > begin + row->bytes ? -ERANGE : 0;
	}
	*target = 0;
	return -ENXIO;
}

static void take_record(struct tn_window *w, const uint8_t *p)
{
	struct tn_window_row row = {
		.from = tn_get_le64(p + 1), .bytes = tn_get_le64(p + 9), .to = tn_get_le64(p + 17),
		.target = p[25] * 0x1010101u, .access = p[25],
	};
	struct tn_window_why why;
	struct tn_far far;
	u32 target;
	u64 to;
	int err;

	if (!p[0]) {
		err = tn_window_put(w, &row, &why);
		must(!err == (why.what == TN_WINDOW_FINE));
	} else if (p[0] == 1) {
		tn_window_drop(w, row.from);
	} else {
		err = scan_rows(w, row.from, row.bytes, row.access, &to, &target);
		must(tn_window_look(w, row.from, row.bytes, row.access, &far) == err);
		must(far.to == to && far.target == target);
		must(err == -ENXIO || far.row < w->room);
	}
	check_rows(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct tn_window_row row[ROWS];
	struct tn_window_why why;
	struct tn_window w;
	u64 from[ROWS];

	if (len < HEAD)
		return 0;
	if (tn_window_init(&w, data[0], tn_get_le64(data + 4), data[1], data[2], from, row,
			   data[3] % (ROWS + 1), &why)) {
		must(why.what != TN_WINDOW_FINE);
		return 0;
	}
	for (data += HEAD, len -= HEAD; len >= RECORD; data += RECORD, len -= RECORD)
		take_record(&w, data);
	return 0;
}
