// SPDX-License-Identifier: GPL-2.0-only
/* Buckets of events, one a cycle. */
#include <errno.h>

#include "flow_net.h"

int wheel_make(struct flow_net *net, struct wheel *w, u32 longest)
{
	u32 n = 2;

	while (n <= longest)
		n *= 2;
	w->bucket = calloc(n, sizeof(*w->bucket));
	if (!w->bucket)
		return -ENOMEM;
	w->mask = n - 1;
	net->bytes += n * sizeof(*w->bucket);
	return 0;
}

void wheel_free(struct wheel *w)
{
	for (u32 i = 0; w->bucket && i <= w->mask; i++)
		free(w->bucket[i].ev);
	free(w->bucket);
}

void bucket_grow(struct flow_net *net, struct bucket *b)
{
	u32 room = b->room ? 2 * b->room : 4;
	u64 *more = realloc(b->ev, room * sizeof(*more));

	if (!more) {
		net->failed = true;
		return;
	}
	net->bytes += (room - b->room) * sizeof(*more);
	b->ev = more;
	b->room = room;
}
