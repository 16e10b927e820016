// SPDX-License-Identifier: GPL-2.0-only
/* Conversion of the orders of a table to messages of svc.proto and back. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/codec.h"

static void put_order(Svc__Order *to, const struct fm_order *o)
{
	svc__order__init(to);
	to->node = o->node;
	to->ports = o->ports;
	to->uid = o->uid;
	to->by = (char *)o->by;
	to->reason = (char *)o->reason;
	to->since = o->since;
	to->until = o->until;
}

bool codec_orders_put(struct codec_orders *o, const struct fm_table_msg *t, Svc__Table *out)
{
	if (!t->norders)
		return true;
	o->of = malloc(t->norders * sizeof(*o->of));
	o->list = malloc(t->norders * sizeof(Svc__Order *));
	if (!o->of || !o->list)
		return false;
	for (uint32_t i = 0; i < t->norders; i++) {
		put_order(&o->of[i], &t->orders[i]);
		o->list[i] = &o->of[i];
	}
	out->n_order = t->norders;
	out->order = o->list;
	return true;
}

void codec_orders_free(struct codec_orders *o)
{
	free(o->of);
	free(o->list);
}

static bool get_order(struct fm_order *to, const Svc__Order *from)
{
	if (!from->ports || from->ports >> TORUS_MAX_PORTS || from->since > FM_TIME_MAX ||
	    from->until > FM_TIME_MAX ||
	    !codec_text(to->by, sizeof(to->by), from->by) ||
	    !codec_text(to->reason, sizeof(to->reason), from->reason))
		return false;
	to->node = from->node;
	to->ports = (uint16_t)from->ports;
	to->uid = from->uid;
	to->since = from->since;
	to->until = from->until;
	return true;
}

/* Return: true if the entries from @i on include the node of @o; then @i is set to its entry. */
static bool is_next(const struct fm_table_msg *t, const struct fm_order *o, uint32_t *i)
{
	while (*i < t->nentries && t->entries[*i].node < o->node)
		++*i;
	return *i < t->nentries && t->entries[*i].node == o->node;
}

static bool follows_order(const struct fm_order *before, const struct fm_order *o, uint16_t *ports)
{
	if (before && before->node == o->node) {
		if (*ports & o->ports ||
		    __builtin_ctz(before->ports) > __builtin_ctz(o->ports))
			return false;
		*ports |= o->ports;
		return true;
	}
	*ports = o->ports;
	return !before || before->node < o->node;
}

int codec_orders_get(struct fm_table_msg *t, const Svc__Table *from)
{
	uint32_t at = 0;
	uint16_t ports = 0;

	if (!from->n_order)
		return 0;
	if (from->n_order > (size_t)TORUS_MAX_PORTS * t->nentries)
		return -EBADMSG;
	t->orders = calloc(from->n_order, sizeof(*t->orders));
	if (!t->orders)
		return -ENOMEM;
	for (uint32_t i = 0; i < from->n_order; i++) {
		struct fm_order *o = &t->orders[i];

		if (!get_order(o, from->order[i]) || !is_next(t, o, &at) ||
		    !follows_order(i ? o - 1 : NULL, o, &ports)) {
			free(t->orders);
			return -EBADMSG;
		}
	}
	t->norders = (uint32_t)from->n_order;
	return 0;
}
