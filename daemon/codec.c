// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packs struct fm_msg to the bytes of svc.proto; codec_unpack.c unpacks it, and codec_own.c does
 * both with fabricd's own messages.
 *
 * All members of an unpacked message are in range: strings end and fit; ports, states and shapes
 * exist; coordinates and node ids are inside the shape of the same message. The state machine
 * checks what depends on its state, such as whether the sender may report this node.
 *
 * Packing builds the generated structs on the stack, with pointers into the
 * message; only a table needs memory, for its columns (codec_table.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/codec.h"
#include "daemon/schema.h"

#define PORTS TORUS_MAX_PORTS
#define FLOWS (TORUS_FC_COUNT * TORUS_COLOURS)

static const char *const names[] = {
	[FM_MSG_HELLO] = "hello",   [FM_MSG_WELCOME] = "welcome",
	[FM_MSG_REFUSE] = "refuse", [FM_MSG_ROW] = "row",
	[FM_MSG_LEFT] = "left",	    [FM_MSG_TABLE] = "table",
	[FM_MSG_FETCH] = "fetch",   [FM_MSG_STEP] = "step",
	[FM_MSG_REPORT] = "report", [FM_MSG_PING] = "ping",
	[FM_MSG_PONG] = "pong",	    [FM_MSG_ADOPTED] = "adopted",
	[FM_MSG_DROP] = "drop",	    [FM_MSG_FAILED] = "failed",
	[FM_MSG_CLAIM] = "claim",   [FM_MSG_LEAD] = "lead",
	[FM_MSG_KEPT] = "kept",	    [FM_MSG_GROW] = "grow",
	[FM_MSG_GROWN] = "grown",
};

const char *fm_msg_name(unsigned int type)
{
	return type < sizeof(names) / sizeof(names[0]) && names[type] ? names[type] : "?";
}

/* --- packing --------------------------------------------------------------- */

/** struct shape_room - memory for a packed Shape and its array */
struct shape_room {
	Svc__Shape m;
	uint32_t size[TORUS_MAX_DIMS];
};

static Svc__Shape *put_shape(struct shape_room *r, const struct torus_shape *s)
{
	svc__shape__init(&r->m);
	for (unsigned int d = 0; d < s->ndims && d < TORUS_MAX_DIMS; d++)
		r->size[r->m.n_size++] = s->size[d];
	r->m.size = r->size;
	return &r->m;
}

/** struct row_room - memory for a packed Row and its ports */
struct row_room {
	Svc__Row m;
	Svc__PortRow port[PORTS];
	Svc__PortRow *ports[PORTS];
};

static Svc__Row *put_row(struct row_room *r, const struct fm_row *row)
{
	svc__row__init(&r->m);
	r->m.serial = row->serial;
	for (unsigned int p = 0; p < row->nports && p < PORTS; p++) {
		const struct fm_port_row *from = &row->port[p];
		Svc__PortRow *to = &r->port[p];

		svc__port_row__init(to);
		to->state = from->state;
		to->problem = from->problem;
		to->closed = from->closed;
		to->stalled = from->stalled;
		to->session = from->session;
		to->seq = from->seq;
		to->peer_guid = from->peer_guid;
		to->peer_port = from->peer_port;
		to->reason = from->reason;
		r->ports[r->m.n_port++] = to;
	}
	r->m.port = r->ports;
	return &r->m;
}

/** struct sums_room - memory for packed Sums and their array */
struct sums_room {
	Svc__Sums m;
	uint64_t flow[FLOWS];
};

static Svc__Sums *put_sums(struct sums_room *r, const struct fm_sums *s)
{
	svc__sums__init(&r->m);
	memcpy(r->flow, s->flow, sizeof(r->flow));
	r->m.n_flow = FLOWS;
	r->m.flow = r->flow;
	r->m.parked = s->parked;
	r->m.unresolved = s->unresolved;
	r->m.held = s->held;
	r->m.lost = s->lost;
	r->m.reopen = s->reopen;
	r->m.relayed = s->relayed;
	return &r->m;
}

/** struct base_room - memory for a packed Base and its array */
struct base_room {
	Svc__Base m;
	int64_t missing[TORUS_COLOURS];
};

static Svc__Base *put_base(struct base_room *r, const struct fm_base *b)
{
	svc__base__init(&r->m);
	r->m.version = b->version;
	r->m.set = b->set;
	r->m.known = b->known;
	memcpy(r->missing, b->missing, sizeof(r->missing));
	r->m.n_missing = TORUS_COLOURS;
	r->m.missing = r->missing;
	r->m.replay_missing = b->replay_missing;
	return &r->m;
}

/** struct voters_room - memory for a packed list of Voters */
struct voters_room {
	Svc__Voters m[FM_VOTERS_MAX], *list[FM_VOTERS_MAX];
};

static Svc__Voters **put_voters(struct voters_room *r, const struct fm_voters *v)
{
	for (unsigned int i = 0; i < v->n; i++) {
		svc__voters__init(&r->m[i]);
		r->m[i].ups = v->set[i].ups;
		r->m[i].maker = v->set[i].maker;
		r->list[i] = &r->m[i];
	}
	return r->list;
}

/** struct line_room - memory for a packed line of tables */
struct line_room {
	Svc__Past m[FM_LINE_MAX], *list[FM_LINE_MAX];
};

static Svc__Past **put_line(struct line_room *r, const struct fm_line *l)
{
	for (unsigned int i = 0; i < l->n; i++) {
		svc__past__init(&r->m[i]);
		r->m[i].epoch = l->past[i].epoch;
		r->m[i].version = l->past[i].version;
		r->m[i].root = l->past[i].root;
		r->list[i] = &r->m[i];
	}
	return r->list;
}

/** struct plan_room - memory for a packed address plan */
struct plan_room {
	Svc__Plan m;
	uint8_t net6[16];
};

/* Return: the address plan as a message; NULL if it is the default plan. */
static Svc__Plan *put_plan(struct plan_room *r, const struct torus_plan *p)
{
	if (!p->len4)
		return NULL;
	svc__plan__init(&r->m);
	memcpy(r->net6, p->net6, sizeof(r->net6));
	r->m.net4 = (uint32_t)p->net4[0] << 24 | (uint32_t)p->net4[1] << 16 |
		    (uint32_t)p->net4[2] << 8 | p->net4[3];
	r->m.len4 = p->len4;
	r->m.net6.data = r->net6;
	r->m.net6.len = sizeof(r->net6);
	r->m.len6 = p->len6;
	return &r->m;
}

int codec_pack(Svc__Message *m, unsigned int type, uint8_t **data, size_t *len)
{
	if (!m->schema)
		m->schema = SCHEMA_FILES;
	m->body_case = (Svc__Message__BodyCase)(type + 1);
	*len = svc__message__get_packed_size(m);
	*data = malloc(*len);
	if (!*data)
		return -ENOMEM;
	svc__message__pack(m, *data);
	return 0;
}

static int pack_hello(Svc__Message *m, const struct fm_hello *h, uint8_t **data, size_t *len)
{
	Svc__Hello b = SVC__HELLO__INIT;
	uint32_t coords[TORUS_MAX_DIMS];
	int32_t position[TORUS_MAX_DIMS];
	struct shape_room shape;
	struct base_room base;
	struct voters_room voters;
	struct line_room line;
	struct sums_room sums;
	struct row_room row;
	struct plan_room plan;

	b.role = h->role;
	b.plans = h->plans;
	b.jobs = h->jobs;
	b.plan = put_plan(&plan, &h->plan);
	b.placed = h->placed;
	b.stray = h->stray;
	b.fabric = (char *)h->fabric;
	b.name = (char *)h->name;
	b.address = (char *)h->address;
	b.guid = h->guid;
	b.epoch = h->epoch;
	b.version = h->version;
	b.term = h->term;
	b.attach = h->attach;
	b.relay_packets = h->relay_packets;
	b.root_epoch = h->root_epoch;
	b.root_guid = h->root_guid;
	b.maybe_epoch = h->maybe_epoch;
	b.maybe_guid = h->maybe_guid;
	b.rows_term = h->rows_term;
	b.clean = h->clean;
	b.open = h->open;
	b.table = h->table;
	b.admin = h->admin;
	b.across = h->across;
	b.ups = h->ups;
	b.table_root = h->table_root;
	b.counted = h->counted;
	b.votes = h->votes;
	b.in_force = h->in_force;
	b.n_voters = h->voters.n;
	b.voters = put_voters(&voters, &h->voters);
	b.n_line = h->line.n;
	b.line = put_line(&line, &h->line);
	b.priority = h->priority;
	b.marked = h->marked;
	b.kept_term = h->kept_term;
	b.kept_root = h->kept_root;
	b.kept = h->kept;
	b.keeps = h->keeps;
	b.shape = put_shape(&shape, &h->shape);
	for (unsigned int d = 0; d < TORUS_MAX_DIMS; d++) {
		coords[d] = h->coords.c[d];
		position[d] = h->position[d];
	}
	b.n_coords = h->placed ? h->shape.ndims : 0;
	b.coords = coords;
	b.n_position = TORUS_MAX_DIMS;
	b.position = position;
	b.row = put_row(&row, &h->row);
	b.sums = put_sums(&sums, &h->sums);
	b.baseline = put_base(&base, &h->base);
	m->hello = &b;
	return codec_pack(m, FM_MSG_HELLO, data, len);
}

static int pack_table(Svc__Message *m, const struct fm_table_msg *t, uint8_t **data,
		      size_t *len)
{
	Svc__Table b = SVC__TABLE__INIT;
	struct codec_orders orders = { .of = NULL };
	struct codec_jobs jobs = { .of = NULL };
	struct codec_columns *columns;
	struct voters_room voters;
	struct line_room line;
	struct shape_room shape;
	struct plan_room plan;
	int err;

	b.plan = put_plan(&plan, &t->plan);
	b.term = t->term;
	b.version = t->version;
	b.since = t->base;
	b.open = t->open;
	b.pause = t->pause;
	b.former = t->former;
	b.maker = t->maker;
	b.clean = t->clean;
	b.n_voters = t->voters.n;
	b.voters = put_voters(&voters, &t->voters);
	b.n_line = t->line.n;
	b.line = put_line(&line, &t->line);
	b.shape = put_shape(&shape, &t->shape);
	columns = codec_columns_new(t, &b.entries);
	m->table = &b;
	err = columns && codec_orders_put(&orders, t, &b) && codec_jobs_put(&jobs, t, &b) ?
	      codec_pack(m, FM_MSG_TABLE, data, len) : -ENOMEM;
	codec_jobs_free(&jobs);
	codec_orders_free(&orders);
	codec_columns_free(columns);
	return err;
}

static int pack_row(Svc__Message *m, const struct fm_row_msg *r, uint8_t **data, size_t *len)
{
	Svc__RowChange b = SVC__ROW_CHANGE__INIT;
	struct row_room row;

	b.guid = r->guid;
	b.epoch = r->epoch;
	b.row = put_row(&row, &r->row);
	m->row = &b;
	return codec_pack(m, FM_MSG_ROW, data, len);
}

static int pack_step(Svc__Message *m, const struct fm_step *s, uint8_t **data, size_t *len)
{
	Svc__NodeEnded ended[FM_ENDED_MAX], *list[FM_ENDED_MAX];
	Svc__Step b = SVC__STEP__INIT;
	struct base_room base;

	b.term = s->term;
	b.version = s->version;
	b.round = s->round;
	b.step = s->step;
	b.orphans = s->orphans;
	b.clean = s->clean;
	if (s->step == FM_STEP_RESUME)
		b.baseline = put_base(&base, &s->base);
	for (uint32_t i = 0; i < s->nended && i < FM_ENDED_MAX; i++) {
		svc__node_ended__init(&ended[i]);
		ended[i].node = s->ended[i].node;
		ended[i].port = s->ended[i].port;
		ended[i].session = s->ended[i].session;
		ended[i].seq = s->ended[i].seq;
		list[b.n_ended++] = &ended[i];
	}
	b.ended = list;
	m->step = &b;
	return codec_pack(m, FM_MSG_STEP, data, len);
}

static int pack_report(Svc__Message *m, const struct fm_report *r, uint8_t **data, size_t *len)
{
	Svc__Report b = SVC__REPORT__INIT;
	struct sums_room sums;

	b.term = r->term;
	b.version = r->version;
	b.round = r->round;
	b.count = r->count;
	b.set = r->set;
	b.sums = put_sums(&sums, &r->sums);
	m->report = &b;
	return codec_pack(m, FM_MSG_REPORT, data, len);
}

static int pack_grow(Svc__Message *m, const struct fm_grow_msg *g, uint8_t **data, size_t *len)
{
	Svc__Grow b = SVC__GROW__INIT;

	b.term = g->term;
	b.guid = g->guid;
	b.serial = g->serial;
	b.nodes = g->nodes;
	b.links = g->links;
	b.rate = g->rate;
	b.margin = g->margin;
	b.limit_ms = g->limit_ms;
	m->grow = &b;
	return codec_pack(m, FM_MSG_GROW, data, len);
}

static int pack_grown(Svc__Message *m, const struct fm_grown_msg *g, uint8_t **data, size_t *len)
{
	Svc__Grown b = SVC__GROWN__INIT;

	b.guid = g->guid;
	b.first = g->first;
	b.serial = g->serial;
	b.number = g->number;
	b.error = g->err;
	b.ended = g->ended;
	b.why = g->why;
	b.at = g->at;
	b.port = g->port;
	b.found = g->found;
	b.met = g->met;
	m->grown = &b;
	return codec_pack(m, FM_MSG_GROWN, data, len);
}

/* Packs bodies that consist of a few scalars and strings. */
static int pack_small(Svc__Message *m, const struct fm_msg *msg, uint8_t **data, size_t *len)
{
	Svc__Welcome welcome = SVC__WELCOME__INIT;
	Svc__Refuse refuse = SVC__REFUSE__INIT;
	Svc__Fetch fetch = SVC__FETCH__INIT;
	Svc__Left left = SVC__LEFT__INIT;
	Svc__Ping ping = SVC__PING__INIT;
	Svc__Pong pong = SVC__PONG__INIT;
	Svc__Drop drop = SVC__DROP__INIT;
	Svc__Failed failed = SVC__FAILED__INIT;
	Svc__Claim claim = SVC__CLAIM__INIT;
	Svc__Lead lead = SVC__LEAD__INIT;
	Svc__Kept kept = SVC__KEPT__INIT;

	switch (msg->type) {
	case FM_MSG_WELCOME:
		welcome.term = msg->welcome.term;
		welcome.root_guid = msg->welcome.root_guid;
		welcome.adrift = msg->welcome.adrift;
		welcome.here = msg->welcome.here;
		welcome.need = msg->welcome.need;
		welcome.parent = (char *)msg->welcome.parent;
		m->welcome = &welcome;
		break;
	case FM_MSG_REFUSE:
		refuse.text = (char *)msg->refuse.text;
		refuse.wait_ms = msg->refuse.wait_ms;
		m->refuse = &refuse;
		break;
	case FM_MSG_LEFT:
	case FM_MSG_ADOPTED:
		left.guid = msg->left.guid;
		left.epoch = msg->left.epoch;
		left.parent = msg->left.parent;
		left.attach = msg->left.attach;
		m->left = &left;
		break;
	case FM_MSG_FETCH:
		fetch.version = msg->fetch.version;
		fetch.former = msg->fetch.former;
		m->fetch = &fetch;
		break;
	case FM_MSG_PING:
		m->ping = &ping;
		break;
	case FM_MSG_PONG:
		pong.adrift = msg->pong.adrift;
		pong.waits = msg->pong.waits;
		m->pong = &pong;
		break;
	case FM_MSG_DROP:
		drop.term = msg->drop.term;
		drop.guid = msg->drop.guid;
		drop.address = (char *)msg->drop.address;
		m->drop = &drop;
		break;
	case FM_MSG_FAILED:
		failed.guid = msg->failed.guid;
		failed.epoch = msg->failed.epoch;
		failed.version = msg->failed.version;
		failed.error = msg->failed.err;
		failed.by = msg->failed.by;
		failed.round = msg->failed.round;
		m->failed = &failed;
		break;
	case FM_MSG_CLAIM:
		claim.epoch = msg->claim.epoch;
		claim.guid = msg->claim.guid;
		claim.init.data = (uint8_t *)msg->claim.init;
		claim.init.len = msg->claim.ninit;
		claim.here = msg->claim.here;
		claim.need = msg->claim.need;
		claim.again_ms = msg->claim.again_ms;
		m->claim = &claim;
		break;
	case FM_MSG_LEAD:
		lead.term = msg->lead.term;
		lead.guid = msg->lead.guid;
		lead.address = (char *)msg->lead.address;
		lead.now = msg->lead.now;
		lead.unfit = msg->lead.unfit;
		m->lead = &lead;
		break;
	case FM_MSG_KEPT:
		kept.term = msg->kept.term;
		kept.version = msg->kept.version;
		kept.guid = msg->kept.guid;
		kept.failed = msg->kept.failed;
		m->kept = &kept;
		break;
	default:
		return -EINVAL;
	}
	return codec_pack(m, msg->type, data, len);
}

int codec_fm_pack(Svc__Message *m, const struct fm_msg *msg, uint8_t **data, size_t *len)
{
	switch (msg->type) {
	case FM_MSG_HELLO:
		return pack_hello(m, &msg->hello, data, len);
	case FM_MSG_TABLE:
		return pack_table(m, &msg->table, data, len);
	case FM_MSG_GROW:
		return pack_grow(m, &msg->grow, data, len);
	case FM_MSG_GROWN:
		return pack_grown(m, &msg->grown, data, len);
	case FM_MSG_ROW:
		return pack_row(m, &msg->row, data, len);
	case FM_MSG_STEP:
		return pack_step(m, &msg->step, data, len);
	case FM_MSG_REPORT:
		return pack_report(m, &msg->report, data, len);
	default:
		return pack_small(m, msg, data, len);
	}
}

int fm_msg_pack(const struct fm_msg *msg, uint8_t **data, size_t *len)
{
	Svc__Message m = SVC__MESSAGE__INIT;

	return codec_fm_pack(&m, msg, data, len);
}
