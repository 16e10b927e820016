// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unpacks the bytes of svc.proto to struct fm_msg; codec.c packs. Each get_ function returns false
 * if a value is out of range.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/codec.h"
#include "daemon/fm/wire/plan.h"

#define PORTS TORUS_MAX_PORTS
#define PORTS_MASK ((1u << PORTS) - 1)
#define FLOWS (TORUS_FC_COUNT * TORUS_COLOURS)

/* Only printable ASCII: texts go to logs, terminals and JSON, some before the peer is checked. */
bool codec_text(char *to, size_t room, const char *from)
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
			.stalled = in->stalled,
			.session = in->session,
			.seq = (uint16_t)in->seq,
			.peer_guid = in->peer_guid,
			.peer_port = (uint8_t)in->peer_port,
			/* a manager of a later release may send a value that is not known here */
			.reason = in->reason < TORUS_REASONS ? (uint8_t)in->reason : 0,
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
	to->relayed = from->relayed;
	return true;
}

/*
 * Return: true if a term and a version are in range. Without this limit one wrong version near 2^64
 * would make the versions after it begin again at 0.
 */
static bool are_in_range(uint64_t term, uint64_t version)
{
	return term <= FM_EPOCH_MAX && version <= FM_VERSION_MAX;
}

static bool get_base(struct fm_base *to, const Svc__Base *from)
{
	if (!from || from->n_missing != TORUS_COLOURS || !are_in_range(0, from->version) ||
	    from->known >> (TORUS_COLOURS + 1))
		return false;
	to->version = from->version;
	to->set = from->set;
	to->known = (uint8_t)from->known;
	memcpy(to->missing, from->missing, sizeof(to->missing));
	to->replay_missing = from->replay_missing;
	return true;
}

static bool get_voters(struct fm_voters *to, size_t n, Svc__Voters **from)
{
	if (n > FM_VOTERS_MAX)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (from[i]->ups > TORUS_MAX_NODES && from[i]->ups != FM_VOTERS_ALL)
			return false;
		to->set[i].ups = from[i]->ups;
		to->set[i].maker = from[i]->maker;
	}
	to->n = (uint8_t)n;
	return true;
}

static bool get_line(struct fm_line *to, size_t n, Svc__Past **from)
{
	if (n > FM_LINE_MAX)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!are_in_range(from[i]->epoch, from[i]->version))
			return false;
		to->past[i] = (struct fm_past) { .epoch = from[i]->epoch,
						.version = from[i]->version,
						.root = from[i]->root };
	}
	to->n = (uint8_t)n;
	return true;
}

/*
 * Reads an address plan, whose prefixes must be large enough for @shape. If the message has no
 * plan, or the default plan, all members of @to become 0.
 */
static bool get_plan(struct torus_plan *to, const Svc__Plan *from, const struct torus_shape *shape)
{
	*to = (struct torus_plan) { .len4 = 0 };
	if (!from)
		return true;
	if (from->len4 > UINT8_MAX || from->len6 > UINT8_MAX ||
	    from->net6.len != sizeof(to->net6))
		return false;
	for (unsigned int i = 0; i < sizeof(to->net4); i++)
		to->net4[i] = (uint8_t)(from->net4 >> (24 - 8 * i));
	to->len4 = (uint8_t)from->len4;
	memcpy(to->net6, from->net6.data, sizeof(to->net6));
	to->len6 = (uint8_t)from->len6;
	if (!torus_plan_valid(to) || (shape->ndims && !fm_plan_holds(to, shape)))
		return false;
	*to = fm_plan_short(to);
	return true;
}

/* Reads a position. Its limits are the same as in an Init (wire/init.c). */
static bool get_position(int32_t *to, size_t n, const int32_t *from)
{
	if (n != TORUS_MAX_DIMS)
		return false;
	for (size_t d = 0; d < n; d++) {
		if (from[d] > TORUS_MAX_NODES || from[d] < -TORUS_MAX_NODES)
			return false;
		to[d] = from[d];
	}
	return true;
}

static bool get_hello(struct fm_hello *to, const Svc__Hello *from)
{
	if (!from->guid || from->role > FM_ROLE_CHILD || from->root_epoch > FM_EPOCH_MAX ||
	    !are_in_range(from->term, from->version) ||
	    !are_in_range(from->kept_term, from->kept) ||
	    !are_in_range(from->rows_term, from->table) ||
	    from->ups > TORUS_MAX_NODES || from->priority > FM_PRIORITY_AUTO ||
	    from->maybe_epoch > FM_EPOCH_MAX || from->clean >> TORUS_COLOURS ||
	    from->open >> TORUS_MAX_DIMS || (from->admin | from->across) & ~PORTS_MASK ||
	    !codec_text(to->fabric, sizeof(to->fabric), from->fabric) ||
	    !codec_text(to->name, sizeof(to->name), from->name) ||
	    !codec_text(to->address, sizeof(to->address), from->address) ||
	    !get_shape(&to->shape, from->shape, !from->placed) || !get_row(&to->row, from->row) ||
	    !get_sums(&to->sums, from->sums) || !get_base(&to->base, from->baseline) ||
	    !get_voters(&to->voters, from->n_voters, from->voters) ||
	    from->votes >> from->n_voters || !get_line(&to->line, from->n_line, from->line) ||
	    !get_position(to->position, from->n_position, from->position) ||
	    !get_plan(&to->plan, from->plan, &to->shape) ||
	    from->n_coords != (from->placed ? to->shape.ndims : 0))
		return false;
	to->role = (uint8_t)from->role;
	to->placed = from->placed;
	to->plans = from->plans;
	to->jobs = from->jobs;
	to->stray = from->stray;
	to->guid = from->guid;
	to->epoch = from->epoch;
	to->version = from->version;
	to->term = from->term;
	to->attach = from->attach;
	to->relay_packets = from->relay_packets;
	to->root_epoch = from->root_epoch;
	to->root_guid = from->root_guid;
	to->maybe_epoch = from->maybe_epoch;
	to->maybe_guid = from->maybe_guid;
	to->rows_term = from->rows_term;
	to->clean = (uint8_t)from->clean;
	to->open = (uint8_t)from->open;
	to->table = from->table;
	to->admin = (uint16_t)from->admin;
	to->across = (uint16_t)from->across;
	to->ups = from->ups;
	to->table_root = from->table_root;
	to->counted = from->counted;
	to->votes = (uint8_t)from->votes;
	to->in_force = from->in_force;
	to->priority = (uint16_t)from->priority;
	to->marked = from->marked;
	to->kept_term = from->kept_term;
	to->kept_root = from->kept_root;
	to->kept = from->kept;
	to->keeps = from->keeps;
	for (unsigned int d = 0; d < from->n_coords; d++) {
		if (from->coords[d] >= to->shape.size[d])
			return false;
		to->coords.c[d] = (uint16_t)from->coords[d];
	}
	return true;
}

static int get_table(struct fm_table_msg *to, const Svc__Table *from)
{
	uint32_t nodes = 1;
	int err;

	if (!get_shape(&to->shape, from->shape, false) || from->since >= from->version ||
	    !are_in_range(from->term, from->version) || from->open >> TORUS_MAX_DIMS ||
	    from->clean >> TORUS_COLOURS || !get_plan(&to->plan, from->plan, &to->shape) ||
	    !get_voters(&to->voters, from->n_voters, from->voters) ||
	    !get_line(&to->line, from->n_line, from->line))
		return -EBADMSG;
	for (unsigned int d = 0; d < to->shape.ndims; d++)
		nodes *= to->shape.size[d];
	to->term = from->term;
	to->version = from->version;
	to->base = from->since;
	to->open = (uint8_t)from->open;
	to->pause = from->pause;
	to->former = from->former;
	to->maker = from->maker;
	to->clean = (uint8_t)from->clean;
	err = codec_entries(to, from->entries, nodes);
	if (err)
		return err;
	err = codec_orders_get(to, from);
	if (err) {
		free(to->entries);
		return err;
	}
	err = codec_jobs_get(to, from);
	if (err) {
		free(to->orders);
		free(to->entries);
	}
	return err;
}

static bool get_step(struct fm_step *to, const Svc__Step *from)
{
	if (from->n_ended > FM_ENDED_MAX || from->clean >> TORUS_COLOURS ||
	    from->step >= FM_STEPS || !are_in_range(from->term, from->version) ||
	    (from->step == FM_STEP_APPLY) != !from->round)
		return false;
	to->term = from->term;
	to->version = from->version;
	to->round = from->round;
	to->step = (uint8_t)from->step;
	to->orphans = from->orphans;
	to->clean = (uint8_t)from->clean;
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

static bool get_grow(struct fm_grow_msg *to, const Svc__Grow *from)
{
	to->term = from->term;
	to->guid = from->guid;
	to->serial = from->serial;
	to->nodes = from->nodes;
	to->links = (uint8_t)from->links;
	to->rate = from->rate;
	to->margin = (uint16_t)from->margin;
	to->limit_ms = from->limit_ms;
	return are_in_range(from->term, 0) && from->nodes <= TORUS_MAX_NODES &&
	       from->links <= PORTS && from->margin <= UINT16_MAX;
}

static bool get_grown(struct fm_grown_msg *to, const Svc__Grown *from)
{
	to->guid = from->guid;
	to->first = from->first;
	to->serial = from->serial;
	to->number = from->number;
	to->err = from->error;
	to->ended = from->ended;
	to->why = (uint8_t)from->why;
	to->at = from->at;
	to->port = (uint8_t)from->port;
	to->found = from->found;
	to->met = (uint8_t)from->met;
	return from->error <= FM_ERRNO_MAX && from->why <= UINT8_MAX && from->port <= UINT8_MAX &&
	       from->met <= UINT8_MAX;
}

static bool get_report(struct fm_report *to, const Svc__Report *from)
{
	to->term = from->term;
	to->version = from->version;
	to->round = from->round;
	to->count = from->count;
	to->set = from->set;
	return are_in_range(from->term, from->version) && from->count <= TORUS_MAX_NODES &&
	       get_sums(&to->sums, from->sums);
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
		out->welcome.adrift = m->welcome->adrift;
		out->welcome.here = m->welcome->here;
		out->welcome.need = m->welcome->need;
		fine = are_in_range(m->welcome->term, 0) &&
		       codec_text(out->welcome.parent, FM_ADDR_MAX, m->welcome->parent);
		break;
	case FM_MSG_REFUSE:
		out->refuse.wait_ms = m->refuse->wait_ms;
		fine = codec_text(out->refuse.text, FM_TEXT_MAX, m->refuse->text);
		break;
	case FM_MSG_ROW:
		out->row.guid = m->row->guid;
		out->row.epoch = m->row->epoch;
		fine = get_row(&out->row.row, m->row->row);
		break;
	case FM_MSG_LEFT:
	case FM_MSG_ADOPTED:	/* both messages use the same member of the union */
		out->left.guid = m->left->guid;
		out->left.epoch = m->left->epoch;
		out->left.parent = m->left->parent;
		out->left.attach = m->left->attach;
		break;
	case FM_MSG_TABLE:
		return get_table(&out->table, m->table);
	case FM_MSG_FETCH:
		out->fetch.version = m->fetch->version;
		out->fetch.former = m->fetch->former;
		fine = are_in_range(0, m->fetch->version);
		break;
	case FM_MSG_STEP:
		fine = get_step(&out->step, m->step);
		break;
	case FM_MSG_REPORT:
		fine = get_report(&out->report, m->report);
		break;
	case FM_MSG_PING:
		break;
	case FM_MSG_PONG:
		out->pong.adrift = m->pong->adrift;
		out->pong.waits = m->pong->waits;
		break;
	case FM_MSG_DROP:
		out->drop.term = m->drop->term;
		out->drop.guid = m->drop->guid;
		fine = are_in_range(m->drop->term, 0) &&
		       codec_text(out->drop.address, FM_ADDR_MAX, m->drop->address);
		break;
	case FM_MSG_FAILED:
		out->failed.guid = m->failed->guid;
		out->failed.epoch = m->failed->epoch;
		out->failed.version = m->failed->version;
		out->failed.err = m->failed->error;
		out->failed.by = m->failed->by;
		out->failed.round = m->failed->round;
		fine = are_in_range(0, m->failed->version) && m->failed->error <= FM_ERRNO_MAX;
		break;
	case FM_MSG_CLAIM:
		out->claim.epoch = m->claim->epoch;
		out->claim.guid = m->claim->guid;
		fine = are_in_range(m->claim->epoch, 0) && m->claim->init.len <= FM_INIT_MAX;
		if (!fine)
			break;
		out->claim.ninit = (uint16_t)m->claim->init.len;
		if (out->claim.ninit)
			memcpy(out->claim.init, m->claim->init.data, out->claim.ninit);
		out->claim.here = m->claim->here;
		out->claim.need = m->claim->need;
		out->claim.again_ms = m->claim->again_ms;
		break;
	case FM_MSG_LEAD:
		out->lead.term = m->lead->term;
		out->lead.guid = m->lead->guid;
		out->lead.now = m->lead->now;
		out->lead.unfit = m->lead->unfit;
		fine = are_in_range(m->lead->term, 0) &&
		       codec_text(out->lead.address, FM_ADDR_MAX, m->lead->address);
		break;
	case FM_MSG_KEPT:
		out->kept.term = m->kept->term;
		out->kept.version = m->kept->version;
		out->kept.guid = m->kept->guid;
		out->kept.failed = m->kept->failed;
		fine = are_in_range(m->kept->term, m->kept->version);
		break;
	case FM_MSG_GROW:
		fine = get_grow(&out->grow, m->grow);
		break;
	case FM_MSG_GROWN:
		fine = get_grown(&out->grown, m->grown);
		break;
	default:
		fine = false;
	}
	return fine ? 0 : -EBADMSG;
}

int codec_open(const uint8_t *data, size_t len, Svc__Message **m)
{
	*m = svc__message__unpack(NULL, len, data);
	if (!*m)
		return -EBADMSG;
	return (*m)->body_case == SVC__MESSAGE__BODY__NOT_SET ? -EBADMSG : 0;
}

int codec_fm(struct fm_msg *out, const Svc__Message *m)
{
	memset(out, 0, sizeof(*out));
	out->type = (uint8_t)(m->body_case - 1);
	return get_body(out, m);
}

int fm_msg_unpack(const uint8_t *data, size_t len, struct fm_msg *out)
{
	Svc__Message *m;
	int err = codec_open(data, len, &m);

	memset(out, 0, sizeof(*out));
	if (!err)
		err = codec_fm(out, m);
	if (m)
		svc__message__free_unpacked(m, NULL);
	return err;
}

void fm_msg_clear(struct fm_msg *msg)
{
	if (msg->type == FM_MSG_TABLE) {
		free(msg->table.entries);
		free(msg->table.orders);
		free(msg->table.jobs);
	}
	memset(msg, 0, sizeof(*msg));
}
