// SPDX-License-Identifier: GPL-2.0-only
/*
 * Between struct fm_msg and the bytes of svc.proto.
 *
 * What comes out of fm_msg_unpack() is in range: strings end and fit, ports,
 * states and shapes exist, coordinates and node ids lie inside the shape that
 * came with them. What only the machine can know (is this node mine to hear
 * of?) it checks itself.
 *
 * Packing builds the generated structs on the stack, with pointers into the
 * message; only a table needs memory for its entries.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/fm/msg.h"
#include "daemon/svc.pb-c.h"

#define SCHEMA 1
#define PORTS TORUS_MAX_PORTS
#define FLOWS (TORUS_FC_COUNT * TORUS_COLOURS)

static const char *const names[] = {
	[FM_MSG_HELLO] = "hello",   [FM_MSG_WELCOME] = "welcome",
	[FM_MSG_REFUSE] = "refuse", [FM_MSG_ROW] = "row",
	[FM_MSG_LEFT] = "left",	    [FM_MSG_TABLE] = "table",
	[FM_MSG_FETCH] = "fetch",   [FM_MSG_STEP] = "step",
	[FM_MSG_REPORT] = "report", [FM_MSG_PING] = "ping",
	[FM_MSG_PONG] = "pong",	    [FM_MSG_AUTH] = "auth",
	[FM_MSG_ASK] = "ask",	    [FM_MSG_ANSWER] = "answer",
	[FM_MSG_ADOPTED] = "adopted",
};

const char *fm_msg_name(unsigned int type)
{
	return type < sizeof(names) / sizeof(names[0]) && names[type] ? names[type] : "?";
}

/* --- packing --------------------------------------------------------------- */

/** struct shape_room - a Shape and its array */
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

/** struct row_room - a Row and its ports */
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
		to->session = from->session;
		to->seq = from->seq;
		to->peer_guid = from->peer_guid;
		to->peer_port = from->peer_port;
		r->ports[r->m.n_port++] = to;
	}
	r->m.port = r->ports;
	return &r->m;
}

/** struct sums_room - a Sums and its array */
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
	return &r->m;
}

/** struct base_room - a Base and its array */
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

static int pack_message(Svc__Message *m, unsigned int type, uint8_t **data, size_t *len)
{
	m->schema = SCHEMA;
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
	struct sums_room sums;
	struct row_room row;

	b.role = h->role;
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
	return pack_message(m, FM_MSG_HELLO, data, len);
}

static void put_entry(Svc__Entry *to, Svc__Ended *ended, Svc__Ended **list,
		      const struct fm_entry *from)
{
	svc__entry__init(to);
	to->node = from->node;
	to->state = from->state;
	to->fault = from->fault;
	to->wiring = from->wiring;
	to->admin = from->admin;
	to->guid = from->guid;
	to->epoch = from->epoch;
	to->serial = from->serial;
	to->name = (char *)from->name;
	to->address = (char *)from->address;
	to->ended = list;
	for (unsigned int p = 0; p < PORTS; p++) {
		if (!(from->ended & 1u << p))
			continue;
		svc__ended__init(&ended[p]);
		ended[p].port = p;
		ended[p].session = from->session[p];
		ended[p].seq = from->seq[p];
		list[to->n_ended++] = &ended[p];
	}
}

/** struct entry_room - an Entry and what hangs on it */
struct entry_room {
	Svc__Entry m;
	Svc__Ended ended[PORTS];
	Svc__Ended *list[PORTS];
};

static int pack_table(Svc__Message *m, const struct fm_table_msg *t, uint8_t **data,
		      size_t *len)
{
	struct entry_room *rooms = calloc(t->nentries + 1, sizeof(*rooms));
	Svc__Entry **list = calloc(t->nentries + 1, sizeof(Svc__Entry *));
	Svc__Table b = SVC__TABLE__INIT;
	struct shape_room shape;
	int err = -ENOMEM;

	if (!rooms || !list)
		goto out;
	b.term = t->term;
	b.version = t->version;
	b.since = t->base;
	b.open = t->open;
	b.shape = put_shape(&shape, &t->shape);
	for (uint32_t i = 0; i < t->nentries; i++) {
		put_entry(&rooms[i].m, rooms[i].ended, rooms[i].list, &t->entries[i]);
		list[i] = &rooms[i].m;
	}
	b.n_entry = t->nentries;
	b.entry = list;
	m->table = &b;
	err = pack_message(m, FM_MSG_TABLE, data, len);
out:
	free(list);
	free(rooms);
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
	return pack_message(m, FM_MSG_ROW, data, len);
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
	return pack_message(m, FM_MSG_STEP, data, len);
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
	return pack_message(m, FM_MSG_REPORT, data, len);
}

/* The bodies that are a few scalars and strings. */
static int pack_small(Svc__Message *m, const struct fm_msg *msg, uint8_t **data, size_t *len)
{
	Svc__Welcome welcome = SVC__WELCOME__INIT;
	Svc__Answer answer = SVC__ANSWER__INIT;
	Svc__Refuse refuse = SVC__REFUSE__INIT;
	Svc__Fetch fetch = SVC__FETCH__INIT;
	Svc__Left left = SVC__LEFT__INIT;
	Svc__Ping ping = SVC__PING__INIT;
	Svc__Pong pong = SVC__PONG__INIT;
	Svc__Auth auth = SVC__AUTH__INIT;
	Svc__Ask ask = SVC__ASK__INIT;

	switch (msg->type) {
	case FM_MSG_WELCOME:
		welcome.term = msg->welcome.term;
		welcome.root_guid = msg->welcome.root_guid;
		welcome.parent = (char *)msg->welcome.parent;
		m->welcome = &welcome;
		break;
	case FM_MSG_REFUSE:
		refuse.text = (char *)msg->refuse.text;
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
		m->fetch = &fetch;
		break;
	case FM_MSG_PING:
		m->ping = &ping;
		break;
	case FM_MSG_PONG:
		m->pong = &pong;
		break;
	case FM_MSG_AUTH:
		if (msg->auth.nonce_len > FM_AUTH_MAX || msg->auth.proof_len > FM_AUTH_MAX)
			return -EINVAL;
		auth.nonce.len = msg->auth.nonce_len;
		auth.nonce.data = (uint8_t *)msg->auth.nonce;
		auth.proof.len = msg->auth.proof_len;
		auth.proof.data = (uint8_t *)msg->auth.proof;
		auth.fabric = (char *)msg->auth.fabric;
		auth.name = (char *)msg->auth.name;
		m->auth = &auth;
		break;
	case FM_MSG_ASK:
		ask.id = msg->text.id;
		ask.text = msg->text.text;
		m->ask = &ask;
		break;
	case FM_MSG_ANSWER:
		answer.id = msg->text.id;
		answer.more = msg->text.more;
		answer.text = msg->text.text;
		m->answer = &answer;
		break;
	default:
		return -EINVAL;
	}
	return pack_message(m, msg->type, data, len);
}

int fm_msg_pack(const struct fm_msg *msg, uint8_t **data, size_t *len)
{
	Svc__Message m = SVC__MESSAGE__INIT;

	switch (msg->type) {
	case FM_MSG_HELLO:
		return pack_hello(&m, &msg->hello, data, len);
	case FM_MSG_TABLE:
		return pack_table(&m, &msg->table, data, len);
	case FM_MSG_ROW:
		return pack_row(&m, &msg->row, data, len);
	case FM_MSG_STEP:
		return pack_step(&m, &msg->step, data, len);
	case FM_MSG_REPORT:
		return pack_report(&m, &msg->report, data, len);
	default:
		return pack_small(&m, msg, data, len);
	}
}

/* --- unpacking: each get_ returns false for what breaks a limit ------------- */

/* Printable ASCII: it goes to logs, terminals and JSON, before any proof too. */
static bool get_text(char *to, size_t room, const char *from)
{
	size_t len = strlen(from);

	if (len >= room)
		return false;
	for (size_t i = 0; i < len; i++)
		if (from[i] < ' ' || from[i] > '~')
			return false;
	memcpy(to, from, len + 1);
	return true;
}

static bool get_shape(struct torus_shape *to, const Svc__Shape *from, bool may_be_none)
{
	uint64_t nodes = 1;

	if (!from || !from->n_size)
		return may_be_none;
	if (from->n_size > TORUS_MAX_DIMS)
		return false;
	to->ndims = (uint8_t)from->n_size;
	for (unsigned int d = 0; d < TORUS_MAX_DIMS; d++) {
		uint32_t size = d < to->ndims ? from->size[d] : 1;

		if (size < 1 || size > TORUS_MAX_SIZE)
			return false;
		to->size[d] = (uint16_t)size;
		nodes *= size;
		if (nodes > TORUS_MAX_NODES)
			return false;
	}
	return true;
}

static bool get_row(struct fm_row *to, const Svc__Row *from)
{
	if (!from || from->n_port > PORTS || from->n_port % 2)
		return false;
	to->serial = from->serial;
	to->nports = (uint8_t)from->n_port;
	for (unsigned int p = 0; p < to->nports; p++) {
		const Svc__PortRow *in = from->port[p];

		if (in->state > FM_PORT_FAULTY || in->problem > FM_PROBLEM_VERSION ||
		    in->peer_port > UINT8_MAX || in->seq > UINT16_MAX)
			return false;
		to->port[p] = (struct fm_port_row) {
			.state = (uint8_t)in->state,
			.problem = (uint8_t)in->problem,
			.closed = in->closed,
			.session = in->session,
			.seq = (uint16_t)in->seq,
			.peer_guid = in->peer_guid,
			.peer_port = (uint8_t)in->peer_port,
		};
	}
	return true;
}

static bool get_sums(struct fm_sums *to, const Svc__Sums *from)
{
	if (!from || from->n_flow != FLOWS)
		return false;
	memcpy(to->flow, from->flow, sizeof(to->flow));
	to->parked = from->parked;
	to->unresolved = from->unresolved;
	to->held = from->held;
	to->lost = from->lost;
	to->reopen = from->reopen;
	return true;
}

static bool get_base(struct fm_base *to, const Svc__Base *from)
{
	if (!from || from->n_missing != TORUS_COLOURS ||
	    from->known >> (TORUS_COLOURS + 1))
		return false;
	to->version = from->version;
	to->set = from->set;
	to->known = (uint8_t)from->known;
	memcpy(to->missing, from->missing, sizeof(to->missing));
	to->replay_missing = from->replay_missing;
	return true;
}

static bool get_hello(struct fm_hello *to, const Svc__Hello *from)
{
	if (from->role > FM_ROLE_CHILD || !get_text(to->fabric, sizeof(to->fabric), from->fabric) ||
	    !get_text(to->name, sizeof(to->name), from->name) ||
	    !get_text(to->address, sizeof(to->address), from->address) ||
	    !get_shape(&to->shape, from->shape, !from->placed) || !get_row(&to->row, from->row) ||
	    !get_sums(&to->sums, from->sums) || !get_base(&to->base, from->baseline) ||
	    from->n_position != TORUS_MAX_DIMS ||
	    from->n_coords != (from->placed ? to->shape.ndims : 0))
		return false;
	to->role = (uint8_t)from->role;
	to->placed = from->placed;
	to->stray = from->stray;
	to->guid = from->guid;
	to->epoch = from->epoch;
	to->version = from->version;
	to->term = from->term;
	to->attach = from->attach;
	memcpy(to->position, from->position, sizeof(to->position));
	for (unsigned int d = 0; d < from->n_coords; d++) {
		if (from->coords[d] >= to->shape.size[d])
			return false;
		to->coords.c[d] = (uint16_t)from->coords[d];
	}
	return true;
}

static bool get_entry(struct fm_entry *to, const Svc__Entry *from, uint32_t nodes, int64_t above)
{
	const uint32_t mask = (1u << PORTS) - 1;

	if (from->node >= nodes || from->node <= above || from->state >= FM_NODE_STATES ||
	    (from->fault | from->wiring | from->admin) & ~mask ||
	    !get_text(to->name, sizeof(to->name), from->name) ||
	    !get_text(to->address, sizeof(to->address), from->address))
		return false;
	to->node = from->node;
	to->state = (uint8_t)from->state;
	to->fault = (uint16_t)from->fault;
	to->wiring = (uint16_t)from->wiring;
	to->admin = (uint16_t)from->admin;
	to->guid = from->guid;
	to->epoch = from->epoch;
	to->serial = from->serial;
	for (size_t i = 0; i < from->n_ended; i++) {
		const Svc__Ended *e = from->ended[i];

		if (e->port >= PORTS || e->seq > UINT16_MAX)
			return false;
		to->ended |= (uint16_t)(1u << e->port);
		to->session[e->port] = e->session;
		to->seq[e->port] = (uint16_t)e->seq;
	}
	return true;
}

static int get_table(struct fm_table_msg *to, const Svc__Table *from)
{
	uint32_t nodes = 1;
	int64_t above = -1;

	if (!get_shape(&to->shape, from->shape, false) || from->since >= from->version ||
	    from->open >> TORUS_MAX_DIMS)
		return -EBADMSG;
	for (unsigned int d = 0; d < to->shape.ndims; d++)
		nodes *= to->shape.size[d];
	if (from->n_entry > nodes)
		return -EBADMSG;
	to->term = from->term;
	to->version = from->version;
	to->base = from->since;
	to->open = (uint8_t)from->open;
	to->entries = calloc(from->n_entry + 1, sizeof(*to->entries));
	if (!to->entries)
		return -ENOMEM;
	for (size_t i = 0; i < from->n_entry; i++) {
		if (!get_entry(&to->entries[i], from->entry[i], nodes, above)) {
			free(to->entries);
			return -EBADMSG;
		}
		above = from->entry[i]->node;
	}
	to->nentries = (uint32_t)from->n_entry;
	return 0;
}

static bool get_step(struct fm_step *to, const Svc__Step *from)
{
	if (from->n_ended > FM_ENDED_MAX || from->step <= FM_STEP_APPLY || from->step >= FM_STEPS || !from->round)
		return false;
	to->term = from->term;
	to->version = from->version;
	to->round = from->round;
	to->step = (uint8_t)from->step;
	to->orphans = from->orphans;
	for (size_t i = 0; i < from->n_ended; i++) {
		const Svc__NodeEnded *e = from->ended[i];

		if (e->port >= PORTS || e->seq > UINT16_MAX)
			return false;
		to->ended[i].node = e->node;
		to->ended[i].port = (uint8_t)e->port;
		to->ended[i].session = e->session;
		to->ended[i].seq = (uint16_t)e->seq;
	}
	to->nended = (uint32_t)from->n_ended;
	return from->step != FM_STEP_RESUME || get_base(&to->base, from->baseline);
}

static bool get_report(struct fm_report *to, const Svc__Report *from)
{
	to->term = from->term;
	to->version = from->version;
	to->round = from->round;
	to->count = from->count;
	to->set = from->set;
	return get_sums(&to->sums, from->sums);
}

static bool get_auth(struct fm_auth *to, const Svc__Auth *from)
{
	if (!get_text(to->fabric, sizeof(to->fabric), from->fabric) ||
	    !get_text(to->name, sizeof(to->name), from->name) ||
	    from->nonce.len > FM_AUTH_MAX || from->proof.len > FM_AUTH_MAX)
		return false;
	to->nonce_len = (uint32_t)from->nonce.len;
	to->proof_len = (uint32_t)from->proof.len;
	if (to->nonce_len)
		memcpy(to->nonce, from->nonce.data, to->nonce_len);
	if (to->proof_len)
		memcpy(to->proof, from->proof.data, to->proof_len);
	return true;
}

static int get_asked(struct fm_text *to, uint64_t id, bool more, const char *text)
{
	to->id = id;
	to->more = more;
	to->text = strdup(text);
	return to->text ? 0 : -ENOMEM;
}

static int get_body(struct fm_msg *out, const Svc__Message *m)
{
	bool fine = true;

	switch (out->type) {
	case FM_MSG_HELLO:
		fine = get_hello(&out->hello, m->hello);
		break;
	case FM_MSG_WELCOME:
		out->welcome.term = m->welcome->term;
		out->welcome.root_guid = m->welcome->root_guid;
		fine = get_text(out->welcome.parent, FM_ADDR_MAX, m->welcome->parent);
		break;
	case FM_MSG_REFUSE:
		fine = get_text(out->refuse.text, FM_TEXT_MAX, m->refuse->text);
		break;
	case FM_MSG_ROW:
		out->row.guid = m->row->guid;
		out->row.epoch = m->row->epoch;
		fine = get_row(&out->row.row, m->row->row);
		break;
	case FM_MSG_LEFT:
	case FM_MSG_ADOPTED:	/* one place in the union */
		out->left.guid = m->left->guid;
		out->left.epoch = m->left->epoch;
		out->left.parent = m->left->parent;
		out->left.attach = m->left->attach;
		break;
	case FM_MSG_TABLE:
		return get_table(&out->table, m->table);
	case FM_MSG_FETCH:
		out->fetch.version = m->fetch->version;
		break;
	case FM_MSG_STEP:
		fine = get_step(&out->step, m->step);
		break;
	case FM_MSG_REPORT:
		fine = get_report(&out->report, m->report);
		break;
	case FM_MSG_PING:
	case FM_MSG_PONG:
		break;
	case FM_MSG_AUTH:
		fine = get_auth(&out->auth, m->auth);
		break;
	case FM_MSG_ASK:
		return get_asked(&out->text, m->ask->id, false, m->ask->text);
	case FM_MSG_ANSWER:
		return get_asked(&out->text, m->answer->id, m->answer->more, m->answer->text);
	default:
		fine = false;
	}
	return fine ? 0 : -EBADMSG;
}

int fm_msg_unpack(const uint8_t *data, size_t len, struct fm_msg *out)
{
	Svc__Message *m = svc__message__unpack(NULL, len, data);
	int err;

	memset(out, 0, sizeof(*out));
	if (!m)
		return -EBADMSG;
	if (m->schema != SCHEMA) {
		err = -EPROTONOSUPPORT;
	} else if (m->body_case == SVC__MESSAGE__BODY__NOT_SET) {
		err = -EBADMSG;
	} else {
		out->type = (uint8_t)(m->body_case - 1);
		err = get_body(out, m);
	}
	svc__message__free_unpacked(m, NULL);
	return err;
}

void fm_msg_clear(struct fm_msg *msg)
{
	if (msg->type == FM_MSG_TABLE)
		free(msg->table.entries);
	if (msg->type == FM_MSG_ASK || msg->type == FM_MSG_ANSWER)
		free(msg->text.text);
	memset(msg, 0, sizeof(*msg));
}
