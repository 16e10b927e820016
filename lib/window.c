// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Windows of a process: kernel/core/window.c translates; here are the memory of the rows and the
 * text of errors. The target of a row is the number of an entry of @far, which has more than a row
 * can; with ARITH there is one entry, and the target is what is to be added to its node.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/core/window.h"
#include "rma.h"

_Static_assert((int)TORUS_WINDOW_ARITH == (int)TN_WINDOW_ARITH &&
	       (int)TORUS_RMA_ACCESS_FE == (int)TN_ACCESS_FE, "kinds and rights");

/**
 * struct torus_window - a window
 * @far: memory of the rows, by target
 * @idle: targets that are free, @n_idle of them
 */
struct torus_window {
	struct tn_window core;
	u64 *from;
	struct tn_window_row *row;
	struct torus_far *far;
	uint32_t *idle;
	uint32_t n_idle;
	char error[160];
};

static _Thread_local char new_error[160];

const char *torus_window_error(const struct torus_window *window)
{
	return window ? window->error : new_error;
}

/* Describes a value that was refused. @text: of 160 bytes. Return: @err */
static int explain_value(char *text, int err, const struct tn_window_why *why)
{
	static const char *const names[] = {
		[TN_WINDOW_MODE] = "kind", [TN_WINDOW_BITS] = "bits", [TN_WINDOW_SHIFT] = "shift",
		[TN_WINDOW_BASE] = "base", [TN_WINDOW_ROOM] = "rows", [TN_WINDOW_FROM] = "from",
		[TN_WINDOW_BYTES] = "bytes", [TN_WINDOW_TO] = "offset",
		[TN_WINDOW_TARGET] = "node", [TN_WINDOW_RIGHTS] = "access",
		[TN_WINDOW_FULL] = "rows",
	};
	unsigned long long value = why->value, min = why->min, max = why->max;

	if (why->what == TN_WINDOW_OVERLAP)
		snprintf(text, 160, "0x%llx is in the row from 0x%llx to 0x%llx", value, min, max);
	else if (why->what == TN_WINDOW_BASE)
		snprintf(text, 160, "base 0x%llx: must be a multiple of 0x%llx", value, min);
	else
		snprintf(text, 160, "%s 0x%llx: must be 0x%llx to 0x%llx", names[why->what], value,
			 min, max);
	return err;
}

__attribute__((format(printf, 3, 4)))
static int fail_window(struct torus_window *window, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(window->error, sizeof(window->error), fmt, ap);
	va_end(ap);
	return err;
}

void torus_window_free(struct torus_window *window)
{
	if (!window)
		return;
	free(window->from);
	free(window->row);
	free(window->far);
	free(window->idle);
	free(window);
}

/* Return: a window with memory of @n rows; NULL: there is no memory. */
static struct torus_window *make_window(uint32_t n)
{
	struct torus_window *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->from = calloc(n, sizeof(*w->from));
	w->row = calloc(n, sizeof(*w->row));
	w->far = calloc(n, sizeof(*w->far));
	w->idle = calloc(n, sizeof(*w->idle));
	if (w->from && w->row && w->far && w->idle)
		return w;
	torus_window_free(w);
	return NULL;
}

int torus_window_new(enum torus_window_kind kind, uint64_t base, unsigned int bits,
		     unsigned int shift, uint32_t rows, struct torus_window **windowp)
{
	uint32_t n = kind == TORUS_WINDOW_ARITH || !rows || rows > TN_WINDOW_ROWS_MAX ? 1 : rows;
	struct torus_window *w = make_window(n);
	struct tn_window_why why;
	int err;

	*windowp = NULL;
	if (!w) {
		snprintf(new_error, sizeof(new_error), "out of memory");
		return -ENOMEM;
	}
	err = tn_window_init(&w->core, kind, base, bits, shift,
			     kind == TORUS_WINDOW_HIGH ? w->from : NULL, w->row, rows, &why);
	if (err) {
		torus_window_free(w);
		return explain_value(new_error, err, &why);
	}
	while (w->n_idle < n) {
		w->idle[w->n_idle] = n - 1 - w->n_idle;
		w->n_idle++;
	}
	*windowp = w;
	return 0;
}

int torus_window_put(struct torus_window *window, const struct torus_window_row *row)
{
	bool arith = window->core.mode == TN_WINDOW_ARITH;
	uint32_t target = window->n_idle ? window->idle[window->n_idle - 1] : 0;
	struct tn_window_row core = {
		.from = row->from, .bytes = row->bytes, .to = row->offset, .target = target,
		.access = (uint16_t)(row->access & 0xffff),
	};
	struct tn_window_why why;
	int err;

	if (!row->access || row->access > TN_ACCESS_ALL)
		return fail_window(window, -EINVAL, "access 0x%x: must be 1 to 0x%x", row->access,
				   TN_ACCESS_ALL);
	if (arith && row->far.region != TORUS_RMA_BY_ADDRESS)
		return fail_window(window, -EINVAL,
				   "region %u: must be TORUS_RMA_BY_ADDRESS in a window without a "
				   "table", row->far.region);
	if (arith && row->far.node > UINT32_MAX - (window->core.room - 1))
		return fail_window(window, -ERANGE, "node %u: must be at most %u", row->far.node,
				   UINT32_MAX - (window->core.room - 1));
	err = tn_window_put(&window->core, &core, &why);
	if (err)
		return explain_value(window->error, err, &why);
	window->n_idle--;
	window->far[target] = row->far;
	return 0;
}

int torus_window_drop(struct torus_window *window, uint64_t from)
{
	struct tn_window *w = &window->core;
	uint32_t i = 0;

	while (i < w->n && (w->row[i].from != from || !w->row[i].bytes))
		i++;
	if (i == w->n)
		return fail_window(window, -ENXIO, "there is no row from 0x%llx on",
				   (unsigned long long)from);
	window->idle[window->n_idle++] = w->row[i].target;
	return tn_window_drop(w, from);
}

/* Describes an address that was refused. */
static int explain_look(struct torus_window *window, int err, uint64_t addr, size_t bytes,
			unsigned int need, const struct tn_far *far)
{
	unsigned long long at = addr;

	if (err == -EACCES)
		return fail_window(window, err, "address 0x%llx: access 0x%x: must be within 0x%x",
				   at, need, far->access);
	if (err == -ERANGE)
		return fail_window(window, err, "address 0x%llx: %zu bytes: must be at most %llu",
				   at, bytes, (unsigned long long)far->room);
	return fail_window(window, err, "address 0x%llx is in no row", at);
}

int torus_window_look(struct torus_window *window, uint64_t addr, size_t bytes, unsigned int need,
		      struct torus_place *place)
{
	/* no row has rights that do not exist */
	uint16_t rights = need > TN_ACCESS_ALL ? UINT16_MAX : (uint16_t)need;
	struct tn_far far;
	int err = tn_window_look(&window->core, addr, bytes, rights, &far);

	if (err)
		return explain_look(window, err, addr, bytes, need, &far);
	*place = (struct torus_place) { .offset = far.to, .room = far.room };
	if (window->core.mode == TN_WINDOW_ARITH) {
		place->far = window->far[0];
		place->far.node += far.target;
	} else {
		place->far = window->far[far.target];
	}
	return 0;
}
