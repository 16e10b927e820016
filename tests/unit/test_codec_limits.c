// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each limit of the service protocol from both sides: the last valid value is accepted, and the
 * next one is refused. fm_msg_pack() makes no such messages, so they are unpacked by protobuf-c,
 * altered, and packed again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/codec_table.h"
#include "daemon/schema.h"
#include "daemon/texts.h"

#define TEXTS_LONG (TEXTS_MAX - 1)
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define NODES 6		/* nodes in the fabric of the tables */

static Svc__Message *m;

/* Unpacks @msg into @m, to be altered. */
static void take(const struct fm_msg *msg)
{
	uint8_t *data;
	size_t len;

	assert_int_equal(fm_msg_pack(msg, &data, &len), 0);
	m = svc__message__unpack(NULL, len, data);
	assert_non_null(m);
	free(data);
}

static void put(void)
{
	svc__message__free_unpacked(m, NULL);
}

/* Packs @m and unpacks it as the receiver does, into @out. */
static int unpack(struct fm_msg *out)
{
	size_t len = svc__message__get_packed_size(m);
	uint8_t *data = malloc(len + 1);
	int err;

	assert_non_null(data);
	svc__message__pack(m, data);
	err = fm_msg_unpack(data, len, out);
	free(data);
	return err;
}

static void gives(int err)
{
	struct fm_msg out;
	int is = unpack(&out);

	if (!is)
		fm_msg_clear(&out);
	assert_int_equal(is, err);
}

#define RIGHT(member, value) give(&(member), sizeof(member), value, 0)
#define WRONG(member, value) give(&(member), sizeof(member), value, -EBADMSG)

/* Checks the limit of an epoch or of a version, which is the same: FM_EPOCH_MAX, FM_VERSION_MAX. */
#define DATED(member) do { RIGHT(member, 1ull << 62); WRONG(member, (1ull << 62) + 1); } while (0)

/* Unpacks the message with another value of @member. */
static void give(void *member, size_t size, uint64_t value, int err)
{
	uint64_t was = 0;

	memcpy(&was, member, size);
	memcpy(member, &value, size);
	gives(err);
	memcpy(member, &was, size);
}

/* Checks that exactly @n elements of an array, all alike, are allowed, not one more or less. */
static void just(size_t *n, void *array, size_t size, size_t allowed, bool fewer)
{
	void **at = array, *was = *at;
	size_t had = *n;
	uint8_t *room = malloc(size * (allowed + 2));

	assert_non_null(room);
	assert_true(had);
	for (size_t i = 0; i < allowed + 2; i++)
		memcpy(room + i * size, was, size);
	*at = room;
	*n = allowed;
	gives(0);
	*n = allowed - 1;
	gives(fewer ? 0 : -EBADMSG);
	*n = allowed + 1;
	gives(-EBADMSG);
	*n = had;
	*at = was;
	free(room);
}

#define EXACTLY(message, member, allowed) \
	just(&(message)->n_##member, &(message)->member, sizeof(*(message)->member), allowed, false)
#define AT_MOST(message, member, allowed) \
	just(&(message)->n_##member, &(message)->member, sizeof(*(message)->member), allowed, true)

/* Checks that a text may have at most @room bytes with its NUL, and only printable characters. */
static void text(char **member, size_t room)
{
	char *was = *member, long_[512];

	memset(long_, '~', sizeof(long_));
	memset(long_, ' ', 2);
	*member = long_;
	long_[room - 1] = '\0';
	gives(0);
	long_[room - 1] = 'x';
	long_[room] = '\0';
	gives(-EBADMSG);
	long_[1] = '\0';
	long_[0] = ' ' - 1;
	gives(-EBADMSG);
	long_[0] = '~' + 1;
	gives(-EBADMSG);
	*member = was;
}

static void row_limits(Svc__Row *r)
{
	Svc__PortRow *p = r->port[1];

	RIGHT(p->state, FM_PORT_FAULTY);
	WRONG(p->state, FM_PORT_FAULTY + 1);
	RIGHT(p->problem, FM_PROBLEM_VERSION);
	WRONG(p->problem, FM_PROBLEM_VERSION + 1);
	RIGHT(p->peer_port, UINT8_MAX);
	WRONG(p->peer_port, UINT8_MAX + 1);
	RIGHT(p->reason, UINT32_MAX);	/* a later release may have other reasons */
	RIGHT(p->seq, UINT16_MAX);
	WRONG(p->seq, UINT16_MAX + 1);
}

static void base_limits(Svc__Base *base)
{
	EXACTLY(base, missing, TORUS_COLOURS);
	RIGHT(base->known, (2u << TORUS_COLOURS) - 1);
	WRONG(base->known, 2u << TORUS_COLOURS);
	DATED(base->version);
}

static void shape_limits(Svc__Shape *s)
{
	uint32_t *was = s->size, size[TORUS_MAX_DIMS + 1] = { 1, 1, 1, 1, 1, 1, 1 };
	size_t n = s->n_size;

	s->size = size;
	for (s->n_size = 1; s->n_size <= TORUS_MAX_DIMS; s->n_size++) {
		unsigned int last = (unsigned int)s->n_size - 1;

		RIGHT(size[last], TORUS_MAX_SIZE);
		WRONG(size[last], TORUS_MAX_SIZE + 1);
		WRONG(size[last], 0);
	}
	size[0] = NODES;
	gives(-EBADMSG);
	s->n_size = 3;
	size[0] = size[1] = TORUS_MAX_SIZE;
	RIGHT(size[2], TORUS_MAX_NODES / TORUS_MAX_SIZE / TORUS_MAX_SIZE);
	WRONG(size[2], TORUS_MAX_NODES / TORUS_MAX_SIZE / TORUS_MAX_SIZE + 1);
	s->n_size = n;
	s->size = was;
}

static void voters_limits(Svc__Voters **v)
{
	RIGHT(v[0]->ups, TORUS_MAX_NODES);
	WRONG(v[0]->ups, TORUS_MAX_NODES + 1u);
	RIGHT(v[0]->ups, FM_VOTERS_ALL);
	WRONG(v[0]->ups, FM_VOTERS_ALL - 1);
}

static struct fm_msg hello(void)
{
	struct fm_msg msg = { .type = FM_MSG_HELLO };

	msg.hello.guid = 1;
	msg.hello.placed = true;
	msg.hello.shape = (struct torus_shape) { .ndims = 2, .size = { 4, 3, 1, 1, 1, 1 } };
	msg.hello.row.nports = 4;
	msg.hello.voters.n = 2;
	return msg;
}

static void hello_accepts_each_limit_and_not_the_next_value(void **state)
{
	struct fm_msg msg = hello();
	Svc__Shape *shape;
	Svc__Hello *h;

	(void)state;
	take(&msg);
	h = m->hello;
	gives(0);
	text(&h->fabric, TORUS_NAME_MAX + 1);
	text(&h->name, TORUS_NAME_MAX + 1);
	text(&h->address, FM_ADDR_MAX);
	RIGHT(h->guid, ~0ull);
	WRONG(h->guid, 0);	/* means no node elsewhere */
	RIGHT(h->role, FM_ROLE_CHILD);
	WRONG(h->role, FM_ROLE_CHILD + 1);
	RIGHT(h->clean, 0xf);
	WRONG(h->clean, 0x10);
	RIGHT(h->open, 0x3f);
	WRONG(h->open, 0x40);
	DATED(h->root_epoch);
	DATED(h->term);
	DATED(h->version);
	DATED(h->table);
	DATED(h->kept);
	RIGHT(h->admin, (1u << TORUS_MAX_PORTS) - 1);
	WRONG(h->admin, 1u << TORUS_MAX_PORTS);
	RIGHT(h->ups, TORUS_MAX_NODES);
	WRONG(h->ups, TORUS_MAX_NODES + 1u);
	RIGHT(h->votes, 3);
	WRONG(h->votes, 4);
	voters_limits(h->voters);
	AT_MOST(h, voters, FM_VOTERS_MAX);
	DATED(h->maybe_epoch);
	DATED(h->rows_term);
	DATED(h->kept_term);
	RIGHT(h->priority, FM_PRIORITY_AUTO);
	WRONG(h->priority, FM_PRIORITY_AUTO + 1u);
	RIGHT(h->across, (1u << TORUS_MAX_PORTS) - 1);
	WRONG(h->across, 1u << TORUS_MAX_PORTS);
	EXACTLY(h, position, TORUS_MAX_DIMS);
	RIGHT(h->position[5], TORUS_MAX_NODES);
	WRONG(h->position[5], TORUS_MAX_NODES + 1);
	RIGHT(h->position[0], -TORUS_MAX_NODES);
	WRONG(h->position[0], -TORUS_MAX_NODES - 1);
	EXACTLY(h, coords, 2);
	RIGHT(h->coords[0], 3);
	WRONG(h->coords[0], 4);
	RIGHT(h->coords[1], 2);
	WRONG(h->coords[1], 3);
	EXACTLY(h->sums, flow, TORUS_FC_COUNT * TORUS_COLOURS);
	base_limits(h->baseline);
	/* A node that has a place, and no other, knows the shape. */
	WRONG(h->placed, false);
	shape = h->shape;
	h->shape = NULL;
	gives(-EBADMSG);
	h->n_coords = 0;
	gives(-EBADMSG);
	h->placed = false;
	gives(0);
	h->placed = true;
	h->n_coords = 2;
	h->shape = shape;
	gives(0);
	WRONG(h->row, 0);
	WRONG(h->sums, 0);
	WRONG(h->baseline, 0);
	put();
	/* A configured shape is no place. */
	msg.hello.placed = false;
	take(&msg);
	assert_int_equal(m->hello->n_coords, 0);
	gives(0);
	shape_limits(m->hello->shape);
	put();
}

static void row_accepts_each_limit_and_not_the_next_value(void **state)
{
	struct fm_msg msg = { .type = FM_MSG_ROW }, out;
	static Svc__PortRow *port[TORUS_MAX_PORTS + 3];
	Svc__PortRow **was;
	Svc__Row *r;

	(void)state;
	msg.row.row.nports = TORUS_MAX_PORTS;
	take(&msg);
	r = m->row->row;
	row_limits(r);
	was = r->port;
	for (unsigned int i = 0; i < COUNT(port); i++)
		port[i] = was[0];
	r->port = port;
	for (r->n_port = 0; r->n_port <= COUNT(port); r->n_port++)
		gives(r->n_port % 2 || r->n_port > TORUS_MAX_PORTS ? -EBADMSG : 0);
	r->n_port = TORUS_MAX_PORTS;
	r->port = was;
	WRONG(m->row->row, 0);
	put();
	/* Entries beyond the maximum are dropped. */
	msg.row.row.nports = TORUS_MAX_PORTS + 2;
	take(&msg);
	assert_int_equal(unpack(&out), 0);
	assert_int_equal(out.row.row.nports, TORUS_MAX_PORTS);
	put();
}

static void growths_accept_each_limit_and_not_the_next_number(void **state)
{
	struct fm_msg msg = { .type = FM_MSG_GROW };

	(void)state;
	take(&msg);
	DATED(m->grow->term);
	RIGHT(m->grow->nodes, TORUS_MAX_NODES);
	WRONG(m->grow->nodes, TORUS_MAX_NODES + 1);
	RIGHT(m->grow->links, TORUS_MAX_PORTS);
	WRONG(m->grow->links, TORUS_MAX_PORTS + 1);
	RIGHT(m->grow->margin, UINT16_MAX);
	WRONG(m->grow->margin, UINT16_MAX + 1);
	put();
	msg.type = FM_MSG_GROWN;
	take(&msg);
	RIGHT(m->grown->error, FM_ERRNO_MAX);
	WRONG(m->grown->error, FM_ERRNO_MAX + 1);
	RIGHT(m->grown->why, UINT8_MAX);
	WRONG(m->grown->why, UINT8_MAX + 1);
	RIGHT(m->grown->port, UINT8_MAX);
	WRONG(m->grown->port, UINT8_MAX + 1);
	RIGHT(m->grown->met, UINT8_MAX);
	WRONG(m->grown->met, UINT8_MAX + 1);
	put();
}

static void texts_and_numbers_accept_each_limit_and_not_the_next_value(void **state)
{
	struct fm_msg msg = { .type = FM_MSG_WELCOME };
	uint8_t init[FM_INIT_MAX + 1] = { 0 };

	(void)state;
	take(&msg);
	text(&m->welcome->parent, FM_ADDR_MAX);
	DATED(m->welcome->term);
	put();
	msg.type = FM_MSG_REFUSE;
	take(&msg);
	text(&m->refuse->text, FM_TEXT_MAX);
	put();
	msg.type = FM_MSG_DROP;
	take(&msg);
	text(&m->drop->address, FM_ADDR_MAX);
	DATED(m->drop->term);
	put();
	msg.type = FM_MSG_FAILED;
	take(&msg);
	RIGHT(m->failed->error, FM_ERRNO_MAX);
	WRONG(m->failed->error, FM_ERRNO_MAX + 1);
	DATED(m->failed->version);
	put();
	msg.type = FM_MSG_CLAIM;
	take(&msg);
	DATED(m->claim->epoch);
	m->claim->init.data = init;
	RIGHT(m->claim->init.len, FM_INIT_MAX);
	WRONG(m->claim->init.len, FM_INIT_MAX + 1);
	m->claim->init.data = NULL;
	put();
	msg.type = FM_MSG_LEAD;
	take(&msg);
	text(&m->lead->address, FM_ADDR_MAX);
	DATED(m->lead->term);
	put();
	msg.type = FM_MSG_KEPT;
	take(&msg);
	DATED(m->kept->term);
	DATED(m->kept->version);
	put();
	msg.type = FM_MSG_FETCH;
	take(&msg);
	DATED(m->fetch->version);
	put();
	msg.type = FM_MSG_REPORT;
	take(&msg);
	DATED(m->report->term);
	DATED(m->report->version);
	RIGHT(m->report->count, TORUS_MAX_NODES);
	WRONG(m->report->count, TORUS_MAX_NODES + 1u);
	put();
	assert_string_equal(fm_msg_name(FM_MSG_LEAD), "lead");
	assert_string_equal(fm_msg_name(FM_MSG_KEPT), "kept");
	assert_string_equal(fm_msg_name(FM_MSG_GROW), "grow");
	assert_string_equal(fm_msg_name(FM_MSG_GROWN), "grown");
	assert_string_equal(fm_msg_name(FM_MSG_CLAIM), "claim");
	assert_string_equal(fm_msg_name(FM_MSG_FAILED), "failed");
	assert_string_equal(fm_msg_name(FM_MSG_DROP), "drop");
	assert_string_equal(fm_msg_name(FM_MSG_TYPES), "?");
	assert_string_equal(fm_msg_name(FM_MSG_ADOPTED), "adopted");
	assert_string_equal(fm_msg_name(FM_MSG_ADOPTED + 1), "?");
	assert_string_equal(fm_msg_name(0), "?");
}

static void step_accepts_each_limit_and_not_the_next_value(void **state)
{
	struct fm_msg msg = { .type = FM_MSG_STEP, .step = { .step = FM_STEP_RESUME, .round = 1,
							     .nended = 1 } };
	static struct fm_msg out;

	(void)state;
	take(&msg);
	WRONG(m->step->clean, 0x10);
	DATED(m->step->term);
	DATED(m->step->version);
	RIGHT(m->step->step, FM_STEPS - 1);
	WRONG(m->step->step, FM_STEPS);
	AT_MOST(m->step, ended, FM_ENDED_MAX);
	RIGHT(m->step->ended[0]->port, TORUS_MAX_PORTS - 1);
	WRONG(m->step->ended[0]->port, TORUS_MAX_PORTS);
	RIGHT(m->step->ended[0]->seq, UINT16_MAX);
	WRONG(m->step->ended[0]->seq, UINT16_MAX + 1);
	base_limits(m->step->baseline);
	WRONG(m->step->baseline, 0);
	put();
	/* Rows are switched before the first round; all other steps belong to a round. */
	for (msg.step.step = FM_STEP_APPLY; msg.step.step < FM_STEP_RESUME; msg.step.step++) {
		bool apply = msg.step.step == FM_STEP_APPLY;

		take(&msg);
		assert_null(m->step->baseline);
		give(&m->step->round, sizeof(m->step->round), 0, apply ? 0 : -EBADMSG);
		give(&m->step->round, sizeof(m->step->round), 1, apply ? -EBADMSG : 0);
		put();
	}
	/* Entries beyond the maximum are dropped. */
	msg.step.step = FM_STEP_COUNT;
	msg.step.nended = FM_ENDED_MAX + 1;
	take(&msg);
	assert_int_equal(unpack(&out), 0);
	assert_int_equal(out.step.nended, FM_ENDED_MAX);
	put();
}

/*
 * A manager of a release whose refusals have no time reads the reason in a refusal that has one,
 * and a refusal of its own reads as one whose time is not known: then the node asks again after its
 * own wait (refused_node_asks_again_when_root_accepts_it() of test_fm_uplink.c).
 */
static void refusals_of_releases_with_and_without_time_are_understood(void **state)
{
	static const ProtobufCIntRange only_text[] = { { 1, 0 }, { 0, 1 } };
	struct fm_msg out, msg = { .type = FM_MSG_REFUSE,
				   .refuse = { .wait_ms = 60000, .text = "no" } };
	ProtobufCMessageDescriptor former = svc__refuse__descriptor;
	Svc__Refuse refusal = { .base = { .descriptor = &former }, .text = msg.refuse.text };
	Svc__Refuse *present, *read;
	uint8_t data[64];
	size_t len;

	(void)state;
	former.n_fields = 1;
	former.n_field_ranges = 1;
	former.field_ranges = only_text;
	former.message_init = NULL;
	take(&msg);
	len = protobuf_c_message_pack(&m->refuse->base, data);
	assert_in_range(len, 1, sizeof(data));
	read = (Svc__Refuse *)protobuf_c_message_unpack(&former, NULL, len, data);
	assert_non_null(read);
	assert_string_equal(read->text, "no");
	assert_int_equal(read->base.n_unknown_fields, 1);
	protobuf_c_message_free_unpacked(&read->base, NULL);
	assert_int_equal(unpack(&out), 0);
	assert_int_equal(out.refuse.wait_ms, 60000);
	present = m->refuse;
	m->refuse = &refusal;
	assert_int_equal(unpack(&out), 0);
	assert_string_equal(out.refuse.text, "no");
	assert_int_equal(out.refuse.wait_ms, 0);
	m->refuse = present;
	put();
}

static void only_schema_of_files_is_accepted(void **state)
{
	struct fm_msg msg = { .type = FM_MSG_PING };

	(void)state;
	take(&msg);
	/* In a file it does not matter; test_svc has the service network. */
	assert_int_equal(m->schema, SCHEMA_FILES);
	give(&m->schema, sizeof(m->schema), SCHEMA_FILES - 1, 0);
	give(&m->schema, sizeof(m->schema), SCHEMA_FILES + 1, 0);
	gives(0);
	m->body_case = SVC__MESSAGE__BODY__NOT_SET;
	gives(-EBADMSG);
	m->body_case = SVC__MESSAGE__BODY_PING;
	put();
}

/* --- tables -------------------------------------------------------------------- */

/*
 * Takes a table with nodes 1, 2 and 4 of six, of which two have a session that ended, and one has
 * two; with some @orders of the administrator.
 */
static void take_ordered(struct fm_order *orders, uint32_t n)
{
	struct fm_entry e[3] = { { .node = 1 }, { .node = 2 }, { .node = 4 } };
	struct fm_msg msg = { .type = FM_MSG_TABLE };

	for (unsigned int i = 0; i < 3; i++) {
		e[i].differs = 1;
		e[i].state = e[i].fault = e[i].wiring = e[i].admin = e[i].held = e[i].stalled = 1;
		e[i].serial = i;
		strcpy(e[i].name, "a");
		strcpy(e[i].address, "b");
	}
	e[0].ended = 1;
	e[2].ended = 3;
	msg.table.shape = (struct torus_shape) { .ndims = 1, .size = { NODES, 1, 1, 1, 1, 1 } };
	msg.table.version = 5;
	msg.table.voters.n = FM_VOTERS_MAX;
	msg.table.line.n = 1;
	msg.table.nentries = 3;
	msg.table.entries = e;
	msg.table.orders = orders;
	msg.table.norders = n;
	take(&msg);
}

static void take_table(void)
{
	take_ordered(NULL, 0);
}

static void table_accepts_each_limit_and_not_the_next_value(void **state)
{
	Svc__Table *t;

	(void)state;
	take_table();
	t = m->table;
	gives(0);
	shape_limits(t->shape);
	RIGHT(t->since, 4);
	WRONG(t->since, 5);
	DATED(t->term);
	DATED(t->version);
	DATED(t->line[0]->epoch);
	DATED(t->line[0]->version);
	WRONG(t->clean, 0x10);
	RIGHT(t->open, (1u << TORUS_MAX_DIMS) - 1);
	WRONG(t->open, 1u << TORUS_MAX_DIMS);
	WRONG(t->shape, 0);
	WRONG(t->entries, 0);
	voters_limits(t->voters);
	AT_MOST(t, voters, FM_VOTERS_MAX);
	RIGHT(t->n_voters, 1);
	WRONG(t->n_voters, 0);			/* node 1 differs from the first */
	EXACTLY(t->entries, guid, 3);
	EXACTLY(t->entries, epoch, 3);
	RIGHT(t->shape->size[0], 5);
	WRONG(t->shape->size[0], 4);		/* node 4 does not exist any more */
	WRONG(t->shape->size[0], 2);		/* there are not three nodes either */
	put();
}

/* Replaces the runs of a column. */
static void runs(Svc__Runs *r, const uint32_t *run, size_t n, int err)
{
	Svc__Runs was = *r;

	r->run = (uint32_t *)run;
	r->n_run = n;
	gives(err);
	*r = was;
}

#define RUNS(r, err, ...) do { \
		const uint32_t run_[] = { __VA_ARGS__ }; \
		runs(r, run_, COUNT(run_), err); \
	} while (0)

static void runs_of_nodes_must_fill_table_within_shape(void **state)
{
	Svc__Runs *r;
	size_t ended;

	(void)state;
	take_table();
	ended = m->table->entries->n_ended;
	m->table->entries->n_ended = 0;
	r = m->table->entries->node;
	RUNS(r, 0, 1, 2, 1, 1);
	RUNS(r, 0, 0, 3);
	RUNS(r, 0, 3, 3);
	RUNS(r, 0, 0, 1, 0, 2);
	RUNS(r, -EBADMSG, 4, 3);		/* past the end of the shape */
	RUNS(r, -EBADMSG, 0, 2);		/* too few numbers */
	RUNS(r, -EBADMSG, 0, 4);		/* too many numbers */
	RUNS(r, -EBADMSG, 0, NODES);
	RUNS(r, -EBADMSG, 0, 3, 0, 1);
	RUNS(r, -EBADMSG, 0, 0, 0, 3);		/* an empty run */
	RUNS(r, -EBADMSG, 0, 3, 0, 0);
	RUNS(r, -EBADMSG, 0, 3, 0);		/* half a run */
	RUNS(r, -EBADMSG, UINT32_MAX, 1, 0, 2);	/* round again */
	RUNS(r, -EBADMSG, UINT32_MAX, 3);
	runs(r, NULL, 0, -EBADMSG);
	WRONG(m->table->entries->node, 0);
	m->table->entries->n_ended = ended;
	put();
}

static void table_without_nodes_has_no_columns(void **state)
{
	struct fm_msg msg = { .type = FM_MSG_TABLE };
	struct fm_entry e = { .node = 0 };
	Svc__Entries none, *was;
	Svc__Runs *r;

	(void)state;
	msg.table.shape = (struct torus_shape) { .ndims = 1, .size = { NODES, 1, 1, 1, 1, 1 } };
	msg.table.version = 1;
	take(&msg);
	gives(0);
	r = m->table->entries->node;
	RIGHT(m->table->entries->node, 0);
	RUNS(r, -EBADMSG, 0);
	RUNS(r, -EBADMSG, 0, 1);
	put();
	/* A node that is not there has no ended session either. */
	take_table();
	was = m->table->entries;
	svc__entries__init(&none);
	none.ended = was->ended;
	none.ended[0]->node = 0;
	m->table->entries = &none;
	gives(0);
	none.n_ended = 1;
	gives(-EBADMSG);
	m->table->entries = was;
	put();
	/* A column of zeroes takes no bytes. */
	msg.table.entries = &e;
	msg.table.nentries = 1;
	take(&msg);
	assert_int_equal(m->table->entries->state->n_run, 0);
	put();
}

static void columns_accept_each_limit_and_not_the_next_value(void **state)
{
	static const uint32_t most[7] = {
		FM_NODE_STATES - 1, (1u << FM_VOTERS_MAX) - 1, (1u << TORUS_MAX_PORTS) - 1, (1u << TORUS_MAX_PORTS) - 1,
		(1u << TORUS_MAX_PORTS) - 1, (1u << TORUS_MAX_PORTS) - 1, (1u << TORUS_MAX_PORTS) - 1,
	};
	Svc__Entries *e;

	(void)state;
	take_table();
	e = m->table->entries;
	{
		Svc__Runs *const r[7] = { e->state, e->differs, e->fault, e->wiring, e->admin, e->held, e->stalled };

		for (unsigned int c = 0; c < 7; c++) {
			RUNS(r[c], 0, most[c], 3);
			RUNS(r[c], 0, 0, 1, most[c], 2);
			RUNS(r[c], -EBADMSG, most[c] + 1, 3);
			RUNS(r[c], -EBADMSG, 0, 2);
			RUNS(r[c], -EBADMSG, 0, 4);
			RUNS(r[c], -EBADMSG, 0, 1000);
			RUNS(r[c], -EBADMSG, 0, 3, 1, 1);
			RUNS(r[c], -EBADMSG, 0, 0, 1, 3);
			RUNS(r[c], -EBADMSG, 0, 3, 1);
			runs(r[c], NULL, 0, 0);
		}
	}
	RUNS(e->serial, 0, UINT32_MAX, 3);
	put();
}

/* Replaces a column of texts. */
static void texts(ProtobufCBinaryData *d, const void *data, size_t n, int err)
{
	ProtobufCBinaryData was = *d;

	d->data = (uint8_t *)data;
	d->len = n;
	gives(err);
	*d = was;
}

static void columns_of_texts_must_have_one_text_per_node(void **state)
{
	static const uint8_t three[] = { 0, 0, 1, 'a', 255, 0, 0, 1, 'b', 1, 0, 0 };
	static const uint8_t more[] = { 0, 0, 1, '1', 255, 2, 0 };
	uint8_t big[3 + TEXTS_LONG + 6] = { 0, 0, TEXTS_LONG };
	ProtobufCBinaryData *column[2];

	(void)state;
	take_table();
	column[0] = &m->table->entries->name;
	column[1] = &m->table->entries->address;
	memset(big + 3, 'x', TEXTS_LONG);
	memset(big + 3 + TEXTS_LONG, 0, 6);
	for (unsigned int i = 0; i < 2; i++) {
		texts(column[i], more, 6, 0);
		texts(column[i], more, 7, -EBADMSG);
		texts(column[i], more, 4, -EBADMSG);
		texts(column[i], three, 12, -EBADMSG);
		texts(column[i], NULL, 0, -EBADMSG);
		/* A text that counts on after all have been read. */
		texts(column[i], "\0\0\0011\377\3", 6, -EBADMSG);
		texts(column[i], big, sizeof(big), 0);
		big[2]++;
		big[3 + TEXTS_LONG] = 'x';
		texts(column[i], big, sizeof(big), -EBADMSG);
		big[3 + TEXTS_LONG] = 0;
		big[2]--;
	}
	put();
}

static void ended_ports_must_be_in_order_and_within_limits(void **state)
{
	Svc__NodeEnded *first, *last;
	Svc__Entries *e;

	(void)state;
	take_table();
	e = m->table->entries;
	assert_int_equal(e->n_ended, 3);
	first = e->ended[0];
	last = e->ended[2];
	RIGHT(last->port, TORUS_MAX_PORTS - 1);
	WRONG(last->port, TORUS_MAX_PORTS);
	WRONG(last->port, 0);			/* a port that is in the list already */
	RIGHT(last->seq, UINT16_MAX);
	WRONG(last->seq, UINT16_MAX + 1);
	WRONG(last->node, 5);			/* a node that is not in the table */
	WRONG(last->node, 3);
	WRONG(first->node, 0);
	RIGHT(first->node, 2);
	WRONG(last->node, 2);			/* the nodes are not in order */
	put();
}

/* Orders must be sorted by node and lowest port, and a port of a node is in at most one of them. */
static void orders_must_be_sorted_and_disjoint(void **state)
{
	struct fm_order some[3] = {
		{ .node = 1, .ports = 0x5 }, { .node = 1, .ports = 0x2 }, { .node = 4, .ports = 0x800 },
	}, all[3 * TORUS_MAX_PORTS];
	Svc__Order **o;

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		strcpy(some[i].by, "admin");
		strcpy(some[i].reason, "work");
	}
	take_ordered(some, 3);
	o = m->table->order;
	gives(0);
	RIGHT(o[0]->ports, 1);
	WRONG(o[0]->ports, 0);
	WRONG(o[0]->ports, 0x3);		/* a port that the next has, too */
	WRONG(o[0]->ports, 0x4);		/* the next has a lower one */
	/* as low as that of the order before, which has it */
	WRONG(o[1]->ports, 0x1);
	RIGHT(o[1]->ports, 0xffa);
	WRONG(o[1]->ports, 0xffe);		/* the highest of the one before */
	WRONG(o[1]->ports, 1u << TORUS_MAX_PORTS);
	RIGHT(o[1]->node, 2);
	RIGHT(o[1]->node, 4);
	WRONG(o[1]->node, 3);			/* a node that is not in the table */
	WRONG(o[1]->node, 0);
	RIGHT(o[2]->node, 1);
	WRONG(o[0]->node, 2);			/* the nodes are not in order */
	RIGHT(o[0]->since, FM_TIME_MAX);
	WRONG(o[0]->since, FM_TIME_MAX + 1);
	RIGHT(o[0]->until, FM_TIME_MAX);
	WRONG(o[0]->until, FM_TIME_MAX + 1);
	text(&o[0]->by, sizeof(some[0].by));
	text(&o[0]->reason, sizeof(some[0].reason));
	put();
	/* Each port of each node may have an order of its own. */
	memset(all, 0, sizeof(all));
	for (unsigned int i = 0; i < COUNT(all); i++) {
		all[i].node = 1u << i / TORUS_MAX_PORTS;
		all[i].ports = (uint16_t)(1u << i % TORUS_MAX_PORTS);
	}
	take_ordered(all, COUNT(all));
	gives(0);
	put();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hello_accepts_each_limit_and_not_the_next_value),
		cmocka_unit_test(row_accepts_each_limit_and_not_the_next_value),
		cmocka_unit_test(growths_accept_each_limit_and_not_the_next_number),
		cmocka_unit_test(texts_and_numbers_accept_each_limit_and_not_the_next_value),
		cmocka_unit_test(step_accepts_each_limit_and_not_the_next_value),
		cmocka_unit_test(refusals_of_releases_with_and_without_time_are_understood),
		cmocka_unit_test(only_schema_of_files_is_accepted),
		cmocka_unit_test(table_accepts_each_limit_and_not_the_next_value),
		cmocka_unit_test(runs_of_nodes_must_fill_table_within_shape),
		cmocka_unit_test(table_without_nodes_has_no_columns),
		cmocka_unit_test(columns_accept_each_limit_and_not_the_next_value),
		cmocka_unit_test(columns_of_texts_must_have_one_text_per_node),
		cmocka_unit_test(ended_ports_must_be_in_order_and_within_limits),
		cmocka_unit_test(orders_must_be_sorted_and_disjoint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
