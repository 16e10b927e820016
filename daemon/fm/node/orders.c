// SPDX-License-Identifier: GPL-2.0-only
/*
 * Descriptions of the administrator's exclusions: user, reason, time. The exclusions themselves are
 * masks of ports. The mask alone decides what is excluded; an order only describes it. So if there
 * is no memory, or if a manager of an earlier release omits the orders, only the description is
 * lost, never the exclusion.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/fm/node/orders.h"
#include "daemon/fm/node/random.h"
#include "lib/deps/invariant.h"

/* Return: mask of the ports that have a cable; a dimension of size 1 has none. */
static uint16_t cable_ports(const struct torus_shape *shape)
{
	uint16_t mask = 0;

	for (unsigned int p = 0; p < 2u * shape->ndims; p++)
		if (shape->size[p % shape->ndims] > 1)
			mask |= (uint16_t)(1u << p);
	return mask;
}

bool fm_is_out_of_service(const struct torus_shape *shape, uint16_t admin)
{
	uint16_t all = cable_ports(shape);

	return all && (admin & all) == all;
}

static bool is_before(const struct fm_order *o, uint32_t node, uint16_t ports)
{
	return o->node != node ? o->node < node :
				 __builtin_ctz(o->ports) < __builtin_ctz(ports);
}

/* Return: index of the first order that does not precede these ports of @node. */
static uint32_t find_place(const struct fm_orders *s, uint32_t node, uint16_t ports)
{
	uint32_t low = 0, high = s->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (is_before(&s->of[mid], node, ports))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void remove_order(struct fm_orders *s, uint32_t i)
{
	invariant(i < s->n);
	memmove(&s->of[i], &s->of[i + 1], (--s->n - i) * sizeof(*s->of));
}

/* Inserts an order for ports that have no other order. Return: false if there is no memory. */
static bool insert_order(struct fm_orders *s, const struct fm_order *o)
{
	uint32_t i = find_place(s, o->node, o->ports);

	invariant(o->ports && s->n <= s->room);
	invariant(!i || s->of[i - 1].node < o->node || !(s->of[i - 1].ports & o->ports));
	invariant(i == s->n || s->of[i].node > o->node || !(s->of[i].ports & o->ports));
	if (s->n == s->room) {
		uint32_t room = 2 * s->room + 4;
		struct fm_order *of = realloc(s->of, room * sizeof(*of));

		if (!of)
			return false;
		s->of = of;
		s->room = room;
	}
	memmove(&s->of[i + 1], &s->of[i], (s->n++ - i) * sizeof(*s->of));
	s->of[i] = *o;
	return true;
}

/*
 * An order that loses its lowest port may have to move after others of its node, because orders
 * are sorted by lowest port.
 */
void fm_orders_drop(struct fm_orders *s, uint32_t node, uint16_t ports)
{
	uint32_t i = find_place(s, node, 1);

	while (i < s->n && s->of[i].node == node) {
		struct fm_order o = s->of[i];

		if (!(o.ports & ports)) {
			i++;
			continue;
		}
		remove_order(s, i);
		o.ports &= (uint16_t)~ports;
		if (o.ports)
			insert_order(s, &o);	/* cannot fail: the memory of a removed order is
						 * free */
	}
}

bool fm_orders_put(struct fm_orders *s, const struct fm_order *o)
{
	if (!o->ports)
		return true;
	fm_orders_drop(s, o->node, o->ports);
	return insert_order(s, o);
}

bool fm_orders_merge(struct fm_orders *s, const struct fm_order *o)
{
	struct fm_order new = *o;

	for (const struct fm_order *had = fm_orders_first(s, o->node); had;
	     had = fm_orders_next(s, had))
		if (had->since >= o->since)
			new.ports &= (uint16_t)~had->ports;
	new.ends = 0;	/* the end is a time of the sender's clock, which has no meaning here */
	fm_orders_put(s, &new);
	return new.ports;
}

void fm_orders_copy(struct fm_orders *to, const struct fm_orders *from)
{
	fm_orders_free(to);
	if (!from->n)
		return;
	to->of = malloc(from->n * sizeof(*to->of));
	if (!to->of)
		return;
	memcpy(to->of, from->of, from->n * sizeof(*to->of));
	to->n = to->room = from->n;
}

void fm_orders_free(struct fm_orders *s)
{
	free(s->of);
	*s = (struct fm_orders) { .n = 0 };
}

const struct fm_order *fm_orders_first(const struct fm_orders *s, uint32_t node)
{
	uint32_t i = s->n ? find_place(s, node, 1) : 0;

	return i < s->n && s->of[i].node == node ? &s->of[i] : NULL;
}

const struct fm_order *fm_orders_next(const struct fm_orders *s, const struct fm_order *o)
{
	const struct fm_order *next = o + 1;

	return next < s->of + s->n && next->node == o->node ? next : NULL;
}

static bool is_same(const struct fm_order *a, const struct fm_order *b)
{
	return a->ports == b->ports && a->uid == b->uid && a->since == b->since &&
	       a->until == b->until && !strcmp(a->by, b->by) && !strcmp(a->reason, b->reason);
}

bool fm_orders_same(const struct fm_orders *a, const struct fm_orders *b, uint32_t node)
{
	const struct fm_order *x = fm_orders_first(a, node), *y = fm_orders_first(b, node);

	for (; x && y; x = fm_orders_next(a, x), y = fm_orders_next(b, y))
		if (!is_same(x, y))
			return false;
	return !x && !y;
}

uint64_t fm_orders_sum(const struct fm_orders *s, uint64_t sum)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const struct fm_order *o = &s->of[i];

		sum = fm_mix(fm_mix(sum + o->node) + o->ports);
		sum = fm_mix(fm_mix(fm_mix(sum + o->uid) + o->since) + o->until);
		sum = fm_mix_text(fm_mix_text(sum, o->by), o->reason);
	}
	return sum;
}
