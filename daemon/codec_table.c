// SPDX-License-Identifier: GPL-2.0-only
/*
 * A table of a million nodes is sent to a million nodes, so the size of an entry matters. In
 * columns, nearly all members are runs of one value, names and addresses count up, and 12 bytes
 * remain of an entry: the GUID and the epoch.
 *
 * A small message cannot take much memory when it is unpacked: it contains a GUID for each entry
 * (tests/unit/test_codec_limits.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/codec_table.h"
#include "daemon/texts.h"

#define PORTS TORUS_MAX_PORTS
#define MASK ((1u << PORTS) - 1)

_Static_assert(TORUS_NAME_MAX < TEXTS_MAX && FM_ADDR_MAX <= TEXTS_MAX, "texts fit");

/* Columns that are packed as runs. */
enum column { STATE, DIFFERS, FAULT, WIRING, ADMIN, HELD, STALLED, SERIAL, JOB, NUMBER, COLUMNS };

static const uint32_t most[COLUMNS] = {
	FM_NODE_STATES - 1, (1u << FM_VOTERS_MAX) - 1, MASK, MASK, MASK, MASK, MASK, UINT32_MAX,
	FM_JOBS_MAX, TORUS_MAX_NODES - 1,
};

static uint32_t column_value(const struct fm_entry *e, enum column c)
{
	switch (c) {
	case STATE:
		return e->state;
	case DIFFERS:
		return e->differs;
	case FAULT:
		return e->fault;
	case WIRING:
		return e->wiring;
	case ADMIN:
		return e->admin;
	case HELD:
		return e->held;
	case STALLED:
		return e->stalled;
	case JOB:
		return e->job;
	case NUMBER:
		return e->number;
	default:
		return e->serial;
	}
}

static void member_set(struct fm_entry *e, enum column c, uint32_t value)
{
	switch (c) {
	case STATE:
		e->state = (uint8_t)value;
		break;
	case DIFFERS:
		e->differs = (uint8_t)value;
		break;
	case FAULT:
		e->fault = (uint16_t)value;
		break;
	case WIRING:
		e->wiring = (uint16_t)value;
		break;
	case ADMIN:
		e->admin = (uint16_t)value;
		break;
	case HELD:
		e->held = (uint16_t)value;
		break;
	case STALLED:
		e->stalled = (uint16_t)value;
		break;
	case JOB:
		e->job = (uint16_t)value;
		break;
	case NUMBER:
		e->number = value;
		break;
	default:
		e->serial = value;
	}
}

/* --- to columns --------------------------------------------------------------- */

/**
 * struct codec_columns - memory to which the message points until it is packed
 * @runs: the runs of node ids, then the runs of each column; @room: memory of all runs
 */
struct codec_columns {
	Svc__Entries m;
	Svc__Runs runs[1 + COLUMNS];
	uint32_t *room;
	struct texts_out name, address;
	Svc__NodeEnded *ended, **list;
};

/*
 * Adds one value to a column: if the last run has the same value, it becomes longer by one, else
 * another run begins.
 */
static void run_add(Svc__Runs *r, uint32_t value)
{
	if (!r->n_run || r->run[r->n_run - 2] != value) {
		r->run[r->n_run++] = value;
		r->run[r->n_run++] = 0;
	}
	r->run[r->n_run - 1]++;
}

static void node_runs(Svc__Runs *r, const struct fm_table_msg *t)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < t->nentries; i++) {
		uint32_t node = t->entries[i].node;

		if (!i || node != next) {
			r->run[r->n_run++] = node - next;
			r->run[r->n_run++] = 0;
		}
		r->run[r->n_run - 1]++;
		next = node + 1;
	}
}

static void column_runs(Svc__Runs *r, const struct fm_table_msg *t, enum column c)
{
	for (uint32_t i = 0; i < t->nentries; i++)
		run_add(r, column_value(&t->entries[i], c));
	if (r->n_run == 2 && !r->run[0])
		r->n_run = 0;
}

/*
 * Makes the runs of one column after the other; each column uses the memory that the columns before
 * it have left.
 */
static bool make_runs(struct codec_columns *c, const struct fm_table_msg *t)
{
	uint32_t *at;

	c->room = malloc((1 + COLUMNS) * 2 * (t->nentries + 1ul) * sizeof(*c->room));
	if (!c->room)
		return false;
	at = c->room;
	for (unsigned int i = 0; i <= COLUMNS; i++) {
		svc__runs__init(&c->runs[i]);
		c->runs[i].run = at;
		if (i)
			column_runs(&c->runs[i], t, (enum column)(i - 1));
		else
			node_runs(&c->runs[i], t);
		at += c->runs[i].n_run;
	}
	c->m.node = &c->runs[0];
	c->m.state = &c->runs[1 + STATE];
	c->m.differs = &c->runs[1 + DIFFERS];
	c->m.fault = &c->runs[1 + FAULT];
	c->m.wiring = &c->runs[1 + WIRING];
	c->m.admin = &c->runs[1 + ADMIN];
	c->m.held = &c->runs[1 + HELD];
	c->m.stalled = &c->runs[1 + STALLED];
	c->m.serial = &c->runs[1 + SERIAL];
	c->m.job = &c->runs[1 + JOB];
	c->m.number = &c->runs[1 + NUMBER];
	return true;
}

static bool make_identities(struct codec_columns *c, const struct fm_table_msg *t)
{
	c->m.guid = malloc((t->nentries + 1) * sizeof(*c->m.guid));
	c->m.epoch = malloc((t->nentries + 1) * sizeof(*c->m.epoch));
	if (!c->m.guid || !c->m.epoch)
		return false;
	for (uint32_t i = 0; i < t->nentries; i++) {
		const struct fm_entry *e = &t->entries[i];

		c->m.guid[c->m.n_guid++] = e->guid;
		c->m.epoch[c->m.n_epoch++] = e->epoch;
		texts_put(&c->name, e->name);
		texts_put(&c->address, e->address);
	}
	c->m.name.data = c->name.data;
	c->m.name.len = c->name.n;
	c->m.address.data = c->address.data;
	c->m.address.len = c->address.n;
	return !c->name.failed && !c->address.failed;
}

static void entry_ended(struct codec_columns *c, const struct fm_entry *e)
{
	for (unsigned int p = 0; p < PORTS; p++) {
		Svc__NodeEnded *to = &c->ended[c->m.n_ended];

		if (!(e->ended & 1u << p))
			continue;
		svc__node_ended__init(to);
		to->node = e->node;
		to->port = p;
		to->session = e->session[p];
		to->seq = e->seq[p];
		c->list[c->m.n_ended++] = to;
	}
}

static bool make_ended(struct codec_columns *c, const struct fm_table_msg *t)
{
	size_t n = 1;

	for (uint32_t i = 0; i < t->nentries; i++)
		n += (unsigned int)__builtin_popcount(t->entries[i].ended);
	c->ended = malloc(n * sizeof(*c->ended));
	c->list = malloc(n * sizeof(Svc__NodeEnded *));
	if (!c->ended || !c->list)
		return false;
	for (uint32_t i = 0; i < t->nentries; i++)
		entry_ended(c, &t->entries[i]);
	c->m.ended = c->list;
	return true;
}

struct codec_columns *codec_columns_new(const struct fm_table_msg *t, Svc__Entries **out)
{
	struct codec_columns *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	svc__entries__init(&c->m);
	if (!make_runs(c, t) || !make_identities(c, t) || !make_ended(c, t)) {
		codec_columns_free(c);
		return NULL;
	}
	*out = &c->m;
	return c;
}

void codec_columns_free(struct codec_columns *c)
{
	if (!c)
		return;
	free(c->room);
	free(c->m.guid);
	free(c->m.epoch);
	free(c->name.data);
	free(c->address.data);
	free(c->ended);
	free(c->list);
	free(c);
}

/* --- from columns ------------------------------------------------------------- */

static bool get_nodes(struct fm_entry *e, uint32_t n, const Svc__Runs *r, uint32_t nodes)
{
	uint32_t i = 0;
	uint64_t node = 0;

	if (!r || r->n_run % 2)
		return !n && !r;
	for (size_t k = 0; k < r->n_run; k += 2) {
		node += r->run[k];
		if (!r->run[k + 1] || r->run[k + 1] > n - i || node + r->run[k + 1] > nodes)
			return false;
		for (uint32_t j = 0; j < r->run[k + 1]; j++)
			e[i++].node = (uint32_t)node++;
	}
	return i == n;
}

static bool get_column(struct fm_entry *e, uint32_t n, const Svc__Runs *r, enum column c)
{
	uint32_t i = 0;

	if (!r || !r->n_run)
		return true;
	if (r->n_run % 2)
		return false;
	for (size_t k = 0; k < r->n_run; k += 2) {
		if (r->run[k] > most[c] || !r->run[k + 1] || r->run[k + 1] > n - i)
			return false;
		for (uint32_t j = 0; j < r->run[k + 1]; j++)
			member_set(&e[i++], c, r->run[k]);
	}
	return i == n;
}

static bool get_columns(struct fm_entry *e, uint32_t n, const Svc__Entries *from)
{
	const Svc__Runs *runs[COLUMNS] = {
		from->state, from->differs, from->fault, from->wiring, from->admin, from->held,
		from->stalled, from->serial, from->job, from->number,
	};

	for (unsigned int c = 0; c < COLUMNS; c++)
		if (!get_column(e, n, runs[c], (enum column)c))
			return false;
	return true;
}

/* Return: the end of the bytes. Empty data may have a NULL pointer. */
static const uint8_t *end_of(const ProtobufCBinaryData *d)
{
	return d->len ? d->data + d->len : d->data;
}

static bool get_identities(struct fm_entry *e, uint32_t n, const Svc__Entries *from)
{
	struct texts_in name = { .at = from->name.data, .end = end_of(&from->name) };
	struct texts_in address = {
		.at = from->address.data, .end = end_of(&from->address),
	};

	for (uint32_t i = 0; i < n; i++) {
		e[i].guid = from->guid[i];
		e[i].epoch = from->epoch[i];
		if (!texts_get(&name, e[i].name, sizeof(e[i].name)) ||
		    !texts_get(&address, e[i].address, sizeof(e[i].address)))
			return false;
	}
	return texts_end(&name) && texts_end(&address);
}

static bool get_ended(struct fm_entry *e, uint32_t n, const Svc__Entries *from)
{
	uint32_t i = 0;

	for (size_t k = 0; k < from->n_ended; k++) {
		const Svc__NodeEnded *in = from->ended[k];

		while (i < n && e[i].node < in->node)
			i++;
		if (i == n || e[i].node != in->node || in->port >= PORTS ||
		    in->seq > UINT16_MAX || e[i].ended >> in->port)
			return false;
		e[i].ended |= (uint16_t)(1u << in->port);
		e[i].session[in->port] = in->session;
		e[i].seq[in->port] = (uint16_t)in->seq;
	}
	return true;
}

/* Return: true if each set of voters that an entry refers to is in the table. */
static bool sets_there(const struct fm_table_msg *t, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (t->entries[i].differs >> t->voters.n)
			return false;
	return true;
}

int codec_entries(struct fm_table_msg *t, const Svc__Entries *from, uint32_t nodes)
{
	uint32_t n;

	if (!from || from->n_guid > nodes || from->n_epoch != from->n_guid)
		return -EBADMSG;
	n = (uint32_t)from->n_guid;
	t->entries = calloc(n + 1, sizeof(*t->entries));
	if (!t->entries)
		return -ENOMEM;
	if (!get_nodes(t->entries, n, from->node, nodes) || !get_columns(t->entries, n, from) ||
	    !get_identities(t->entries, n, from) || !get_ended(t->entries, n, from) ||
	    !sets_there(t, n)) {
		free(t->entries);
		return -EBADMSG;
	}
	t->nentries = n;
	return 0;
}
