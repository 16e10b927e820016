// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A manager's answer may have megabytes, and hundreds of clients may be slow to read it. So its
 * text is in memory once, and the bytes of all texts are counted: when too many are unread, no
 * more are asked for (control.c).
 *
 * Test: tests/unit/test_fabricweb_body.c.
 */
#include <event2/buffer.h>
#include <stdlib.h>

#include "body.h"

static size_t bytes_held;

struct body *body_new(char *at, size_t len)
{
	struct body *b = at ? malloc(sizeof(*b)) : NULL;

	if (!b) {
		free(at);
		return NULL;
	}
	*b = (struct body){ at, len, 1 };
	bytes_held += len;
	return b;
}

struct body *body_hold(struct body *b)
{
	b->holders++;
	return b;
}

void body_drop(struct body *b)
{
	if (--b->holders)
		return;
	bytes_held -= b->len;
	free(b->at);
	free(b);
}

static void drop_sent(const void *data, size_t len, void *b)
{
	(void)data;
	(void)len;
	body_drop(b);
}

int body_add(struct evbuffer *buf, struct body *b, const char *part, size_t len)
{
	if (!len)
		return 0;
	if (evbuffer_add_reference(buf, part, len, drop_sent, body_hold(b))) {
		body_drop(b);
		return -1;
	}
	return 0;
}

size_t body_total(void)
{
	return bytes_held;
}
