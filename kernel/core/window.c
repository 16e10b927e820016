// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Translation of addresses; see window.h. */
#include "window.h"

static int refuse_value(struct tn_window_why *why, int err, u32 what, u64 value, u64 min, u64 max)
{
	*why = (struct tn_window_why) {
		.what = what, .row = TN_WINDOW_NONE, .value = value, .min = min, .max = max,
	};
	return err;
}

static bool has_index(unsigned int mode)
{
	return mode == TN_WINDOW_INDEX || mode == TN_WINDOW_ARITH;
}

/* Return: the largest number of @bits bits, 0 to 64. */
static u64 ones_of(unsigned int bits)
{
	return bits ? ~0ull >> (64 - bits) : 0;
}

int tn_window_init(struct tn_window *w, unsigned int mode, u64 base, unsigned int bits,
		   unsigned int shift, u64 *from, struct tn_window_row *row, u32 room,
		   struct tn_window_why *why)
{
	unsigned int shift_max = !has_index(mode) ? 0 : bits < 63 ? bits : 63;
	u32 room_max = mode == TN_WINDOW_DIRECT ? 1 : TN_WINDOW_ROWS_MAX;
	u64 span;

	if (mode >= TN_WINDOW_MODES)
		return refuse_value(why, -EINVAL, TN_WINDOW_MODE, mode, 0, TN_WINDOW_MODES - 1);
	if (bits < 1 || bits > 64)
		return refuse_value(why, -EINVAL, TN_WINDOW_BITS, bits, 1, 64);
	if (shift > shift_max)
		return refuse_value(why, -EINVAL, TN_WINDOW_SHIFT, shift, 0, shift_max);
	span = ones_of(bits);
	if (base & span)	/* an aperture of 2^64 bytes begins at 0 */
		return refuse_value(why, -EINVAL, TN_WINDOW_BASE, base, span + 1, ~span);
	if (room < 1 || room > room_max)
		return refuse_value(why, -EINVAL, TN_WINDOW_ROOM, room, 1, room_max);
	*w = (struct tn_window) {
		.base = base, .span = span, .from = from, .row = row, .room = room,
		.mask = ones_of(shift), .shift = (u8)shift, .mode = (u8)mode,
	};
	memset(row, 0, sizeof(*row) * (mode == TN_WINDOW_ARITH ? 1 : room));
	*why = (struct tn_window_why) { .row = TN_WINDOW_NONE };
	return 0;
}

/*
 * Return: how many rows of HIGH begin at or before @at. The loop has no branches that depend on
 * @at, because the processor could not predict them.
 */
static inline u32 count_rows(const struct tn_window *w, u64 at)
{
	u64 part = at >> w->part;
	const u64 *p;
	u32 n;

	if (part >= TN_WINDOW_PARTS)
		return w->n;
	p = w->from + w->before[part];
	n = w->before[part + 1] - w->before[part];
	if (!n)
		return w->before[part];
	while (n > 1) {
		u32 half = n / 2;

		p += half & (0u - (u32)(p[half] <= at));
		n -= half;
	}
	return (u32)(p - w->from) + (*p <= at);
}

/*
 * Adjusts the counts of the parts for a row that begins at @from and was inserted (@by 1) or
 * removed (@by ~0).
 */
static void change_parts(struct tn_window *w, u64 from, u32 by)
{
	u64 part = from >> w->part;

	while (++part <= TN_WINDOW_PARTS)
		w->before[part] += by;
}

/*
 * Chooses the size of the parts, so that the last row begins in one of them, and counts the rows of
 * all parts.
 */
static void divide_rows(struct tn_window *w)
{
	u32 i;

	while (w->from[w->n - 1] >> w->part >= TN_WINDOW_PARTS)
		w->part++;
	memset(w->before, 0, sizeof(w->before));
	for (i = 0; i < w->n; i++)
		w->before[(w->from[i] >> w->part) + 1]++;
	for (i = 0; i < TN_WINDOW_PARTS; i++)
		w->before[i + 1] += w->before[i];
}

static int refuse_overlap(const struct tn_window *w, u32 at, u64 value, struct tn_window_why *why)
{
	const struct tn_window_row *row = &w->row[at];
	u64 last = w->mode == TN_WINDOW_INDEX ? row->from : row->from + (row->bytes - 1);

	refuse_value(why, -EEXIST, TN_WINDOW_OVERLAP, value, row->from, last);
	why->row = at;
	return -EEXIST;
}

/* Checks a row by itself, without comparing it with the other rows. */
static int check_window_row(const struct tn_window *w, const struct tn_window_row *row,
			    struct tn_window_why *why)
{
	u64 from_max = w->mode == TN_WINDOW_HIGH ? w->span :
		       w->mode == TN_WINDOW_INDEX ? w->room - 1 : 0;
	u64 bytes_max = has_index(w->mode) ? 1ull << w->shift : ~0ull;
	u64 last;

	if (row->from > from_max)
		return refuse_value(why, -EINVAL, TN_WINDOW_FROM, row->from, 0, from_max);
	if (row->bytes < 1 || row->bytes > bytes_max)
		return refuse_value(why, -EINVAL, TN_WINDOW_BYTES, row->bytes, 1, bytes_max);
	if (row->access & ~TN_ACCESS_ALL)
		return refuse_value(why, -EINVAL, TN_WINDOW_RIGHTS, row->access, 0, TN_ACCESS_ALL);
	last = row->bytes - 1;
	if (!has_index(w->mode) && last > w->span - row->from)
		return refuse_value(why, -ERANGE, TN_WINDOW_BYTES, row->bytes, 1,
				    w->span - row->from + 1);
	if (row->to > ~0ull - last)
		return refuse_value(why, -ERANGE, TN_WINDOW_TO, row->to, 0, ~0ull - last);
	if (w->mode == TN_WINDOW_ARITH && row->target > ~0u - (w->room - 1))
		return refuse_value(why, -ERANGE, TN_WINDOW_TARGET, row->target, 0,
				    ~0u - (w->room - 1));
	return 0;
}

/*
 * Inserts a row of HIGH before the rows that begin after it. Return: 0; -EEXIST if it overlaps
 * another row; -ENOSPC if the table is full.
 */
static int insert_row(struct tn_window *w, const struct tn_window_row *row,
		      struct tn_window_why *why)
{
	u32 at = count_rows(w, row->from);

	if (at && row->from - w->from[at - 1] < w->row[at - 1].bytes)
		return refuse_overlap(w, at - 1, row->from, why);
	if (at < w->n && w->from[at] - row->from < row->bytes)
		return refuse_overlap(w, at, row->from, why);
	if (w->n == w->room)
		return refuse_value(why, -ENOSPC, TN_WINDOW_FULL, (u64)w->n + 1, 0, w->room);
	memmove(w->row + at + 1, w->row + at, sizeof(*w->row) * (w->n - at));
	memmove(w->from + at + 1, w->from + at, sizeof(*w->from) * (w->n - at));
	w->row[at] = *row;
	w->from[at] = row->from;
	w->n++;
	if (row->from >> w->part < TN_WINDOW_PARTS)
		change_parts(w, row->from, 1);
	else
		divide_rows(w);
	tn_assert(w->before[TN_WINDOW_PARTS] == w->n);
	return 0;
}

int tn_window_put(struct tn_window *w, const struct tn_window_row *row, struct tn_window_why *why)
{
	int err = check_window_row(w, row, why);

	if (err)
		return err;
	*why = (struct tn_window_why) { .row = TN_WINDOW_NONE };
	if (w->mode == TN_WINDOW_HIGH)
		return insert_row(w, row, why);
	if (w->row[row->from].bytes)
		return refuse_overlap(w, (u32)row->from, row->from, why);
	w->row[row->from] = *row;
	if (w->n <= row->from)
		w->n = (u32)row->from + 1;
	return 0;
}

/* Removes a row of HIGH, and closes the gap. */
static int remove_row(struct tn_window *w, u64 from)
{
	u32 at = count_rows(w, from);

	if (!at || w->from[at - 1] != from)
		return -ENXIO;
	memmove(w->row + at - 1, w->row + at, sizeof(*w->row) * (w->n - at));
	memmove(w->from + at - 1, w->from + at, sizeof(*w->from) * (w->n - at));
	w->n--;
	change_parts(w, from, ~0u);
	return 0;
}

int tn_window_drop(struct tn_window *w, u64 from)
{
	if (w->mode == TN_WINDOW_HIGH)
		return remove_row(w, from);
	if (from >= w->n || !w->row[from].bytes)
		return -ENXIO;
	w->row[from] = (struct tn_window_row) { 0 };
	return 0;
}

/*
 * Fills in the result for byte @offset of a row, and checks the access (steps 8 to 10 of the
 * paper).
 */
static int translate_byte(const struct tn_window_row *row, u32 at, u64 offset, u64 bytes, u16 need,
			  struct tn_far *far)
{
	tn_assert(offset < row->bytes);
	*far = (struct tn_far) {
		.to = row->to + offset, .room = row->bytes - offset, .target = row->target,
		.key = row->key, .row = at, .ep = row->ep, .access = row->access,
	};
	if (unlikely(!row->access))
		return -ESTALE;
	if (unlikely(need & ~row->access))
		return -EACCES;
	return unlikely(bytes > far->room) ? -ERANGE : 0;
}

static int miss_row(struct tn_far *far)
{
	*far = (struct tn_far) { .row = TN_WINDOW_NONE };
	return -ENXIO;
}

int tn_window_look_index(const struct tn_window *w, u64 index, u64 offset, u64 bytes, u16 need,
			 struct tn_far *far)
{
	if (unlikely(index >= w->n || offset >= w->row[index].bytes))
		return miss_row(far);
	return translate_byte(&w->row[index], (u32)index, offset, bytes, need, far);
}

/* The searches are not inlined, so that tn_window_look() itself need not save registers. */
static noinline int look_high(const struct tn_window *w, u64 at, u64 bytes, u16 need,
			      struct tn_far *far)
{
	u32 i = count_rows(w, at) - 1;

	if (unlikely(i == TN_WINDOW_NONE || at - w->from[i] >= w->row[i].bytes))
		return miss_row(far);
	return translate_byte(&w->row[i], i, at - w->from[i], bytes, need, far);
}

static noinline int look_arith(const struct tn_window *w, u64 at, u64 bytes, u16 need,
			       struct tn_far *far)
{
	u64 index = at >> w->shift, offset = at & w->mask;
	int err;

	if (unlikely(index >= w->room || offset >= w->row->bytes))
		return miss_row(far);
	err = translate_byte(w->row, 0, offset, bytes, need, far);
	far->target += (u32)index;
	return err;
}

int tn_window_look(const struct tn_window *w, u64 addr, u64 bytes, u16 need, struct tn_far *far)
{
	u64 at = addr - w->base;

	if (unlikely(at > w->span))	/* step 5 of the paper */
		return miss_row(far);
	switch (w->mode) {
	case TN_WINDOW_HIGH:
		return look_high(w, at, bytes, need, far);
	case TN_WINDOW_INDEX:
		return tn_window_look_index(w, at >> w->shift, at & w->mask, bytes, need, far);
	case TN_WINDOW_ARITH:
		return look_arith(w, at, bytes, need, far);
	default:
		if (unlikely(at >= w->row->bytes))
			return miss_row(far);
		return translate_byte(w->row, 0, at, bytes, need, far);
	}
}
