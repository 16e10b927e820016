// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes that connect to this one, by themselves: children that ask, come and leave, callers whose
 * Init comes over the service network, and a root that hands over. Random cases are compared with
 * what children.h, called.c and handover.c say of them.
 */
#include <stdio.h>
#include <string.h>

#include "tests/unit/seeds.h"
#include "daemon/fm/node/bootstrap.h"
#include "daemon/fm/node/called.h"
#include "daemon/fm/node/candidate.h"
#include "daemon/fm/node/children.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/follow.h"
#include "daemon/fm/node/handover.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/member.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/random.h"
#include "daemon/fm/node/reports.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/node/try.h"
#include "daemon/fm/node/uplink.h"
#include "daemon/fm/wire/init.h"

#define CONNS	3
#define SELF	0x10
#define EPOCH	50

static struct fm fm;
static struct fm_conn conn[CONNS];
static bool gone[CONNS];
static bool credible, tries, avoids, takes, ends, has_root;
static struct fm_conn *older;
static uint64_t drawn;
static char did[1500], want[1500];
static struct fm_init called_by;

#define note(text, ...) snprintf((text) + strlen(text), sizeof(did) - strlen(text), __VA_ARGS__)

/* --- the rest of the manager --------------------------------------------------------------- */

static void note_msg(char *text, const char *to, const struct fm_msg *msg)
{
	struct fm_init init;

	note(text, "%s: ", to);
	if (msg->type == FM_MSG_REFUSE) {
		note(text, "refuse %u '%s'\n", msg->refuse.wait_ms, msg->refuse.text);
	} else if (msg->type == FM_MSG_WELCOME) {
		note(text, "welcome %u %x%s\n", (unsigned int)msg->welcome.term,
		     (unsigned int)msg->welcome.root_guid, msg->welcome.adrift ? " adrift" : "");
	} else if (msg->type == FM_MSG_LEAD) {
		note(text, "lead %x %d\n", (unsigned int)msg->lead.guid, msg->lead.now);
	} else if (msg->type == FM_MSG_CLAIM) {
		assert_false(fm_init_get(msg->claim.init, msg->claim.ninit, &init));
		note(text, "call of %x, Init of %s\n", (unsigned int)msg->claim.guid, init.name);
	} else {
		note(text, "%s %x/%u parent %x attach %u\n",
		     msg->type == FM_MSG_ADOPTED ? "adopted" : "left", (unsigned int)msg->left.guid,
		     msg->left.epoch, (unsigned int)msg->left.parent, (unsigned int)msg->left.attach);
	}
}

void fm_conn_send(struct fm *f, const struct fm_conn *c, const struct fm_msg *msg)
{
	char to[8];

	(void)f;
	snprintf(to, sizeof(to), "%d", c->id);
	note_msg(did, to, msg);
}

void fm_uplink_send(struct fm *f, const struct fm_msg *msg)
{
	(void)f;
	note_msg(did, "parent", msg);
}

static void send_up(struct fm *f, const struct fm_msg *msg)
{
	(void)f;
	note_msg(did, "up", msg);
}

static void hello(struct fm *f, struct fm_conn *c, const struct fm_hello *h)
{
	(void)f;
	(void)h;
	note(did, "hello %d\n", c->id);
}

static void guest_left(struct fm *f, uint64_t guid)
{
	(void)f;
	note(did, "guest %x left\n", (unsigned int)guid);
}

static void answered(struct fm *f, uint64_t guid, bool follows)
{
	(void)f;
	note(did, "%x answers%s\n", (unsigned int)guid, follows ? ", follows" : "");
}

static const struct fm_up up = { .send = send_up, .hello = hello, .guest_left = guest_left,
				 .answered = answered };

unsigned int fm_conns_count(const struct fm *f)
{
	(void)f;
	return CONNS;
}

struct fm_conn *fm_conn_no(const struct fm *f, unsigned int i)
{
	(void)f;
	return i < CONNS ? &conn[i] : NULL;
}

struct fm_conn *fm_conn_find(struct fm *f, int id)
{
	(void)f;
	return gone[id] ? NULL : &conn[id];
}

struct fm_conn *fm_conn_of_child(const struct fm *f, uint64_t guid, const struct fm_conn *but)
{
	struct fm_conn *o = older;

	(void)f;
	assert_true(guid == conn[0].guid && but == &conn[0]);
	older = NULL;
	return o;
}

void fm_conn_child(struct fm *f, struct fm_conn *c, uint64_t guid)
{
	(void)f;
	c->role = FM_CONN_CHILD;
	c->guid = guid;
}

#define NOTES_CONN(name, text, type)	\
void name(struct fm *f, type c)		\
{					\
	(void)f;			\
	note(did, text " %d\n", c->id);	\
}

NOTES_CONN(fm_conn_drop, "drop", struct fm_conn *)
NOTES_CONN(fm_uplink_pong, "pong", const struct fm_conn *)
NOTES_CONN(fm_reports_await, "await", struct fm_conn *)

/* The report of the connection is subtracted, so its flags must not have been reset before. */
void fm_reports_forget(struct fm *f, const struct fm_conn *c)
{
	(void)f;
	note(did, "forget %d%s\n", c->id, c->reported ? " reported" : "");
}

void fm_member_child(struct fm *f, struct fm_conn *c, uint64_t version)
{
	(void)f;
	note(did, "step to %d of %u\n", c->id, (unsigned int)version);
}

#define NOTES(name, text)	\
void name(struct fm *f)		\
{				\
	(void)f;		\
	note(did, text "\n");	\
}

NOTES(fm_member_left, "sum again")
NOTES(fm_ports_ask, "ask")
NOTES(fm_try_join, "join")
NOTES(fm_uplink_leave, "leave")

uint32_t fm_table_find(const struct fm *f, uint64_t guid)
{
	(void)f;
	return (uint32_t)guid + 1;
}

struct fm_conn *fm_uplink_conn(const struct fm *f)
{
	(void)f;
	return has_root ? &conn[2] : NULL;
}

void fm_uplink_retry_after(struct fm *f, uint64_t ns)
{
	(void)f;
	note(did, "connect after %u\n", (unsigned int)ns);
}

void fm_candidate_called(struct fm *f, bool unfit)
{
	(void)f;
	note(did, "asks%s\n", unfit ? " for unfit root" : "");
}

uint64_t fm_random(struct fm *f)
{
	(void)f;
	return drawn;
}

bool fm_bootstrap_credible(struct fm *f, unsigned int port, const struct fm_init *init)
{
	(void)f;
	assert_int_equal(port, FM_NO_PORT);
	called_by = *init;
	return credible;
}

void fm_bootstrap_fill(const struct fm *f, struct fm_init *init)
{
	(void)f;
	*init = (struct fm_init) { .fabric = "fab", .name = "self" };
}

bool fm_follow_tries(struct fm *f, const struct fm_init *init)
{
	(void)f;
	(void)init;
	return tries;
}

void fm_try(struct fm *f, const struct fm_init *init)
{
	(void)f;
	note(did, "try %x\n", (unsigned int)init->root_guid);
}

bool fm_try_avoids(struct fm *f, const struct fm_init *init)
{
	(void)f;
	(void)init;
	return avoids;
}

bool fm_follow_takes(struct fm *f, const struct fm_init *init, bool reached)
{
	(void)f;
	(void)init;
	assert_false(reached);
	return takes;
}

/* The connections of a root that gives way end. */
void fm_follow(struct fm *f, const struct fm_init *init)
{
	(void)f;
	note(did, "follow %x of %u in %u%s, %u at %s\n", (unsigned int)init->root_guid,
	     (unsigned int)init->epoch, init->ndims, init->asks ? " which asks" : "", init->size[1],
	     init->root_address);
	gone[1] = ends;
}

/* --- children ------------------------------------------------------------------------------ */

static void begin(struct rnd *r)
{
	fm = (struct fm) { .guid = SELF, .epoch = 4, .term = EPOCH, .root_guid = 0x20, .now = 9 * SEC,
			   .nports = 5, .ndims = 2, .up = &up, .cut_off = rnd_below(r, 2),
			   .is_root = rnd_one_in(r, 3), .root_asks = rnd_one_in(r, 3),
			   .root_epoch = EPOCH, .cfg = { .fabric = "fab", .resend = 1000 } };
	memset(gone, 0, sizeof(gone));
	for (int i = 0; i < CONNS; i++)
		conn[i] = (struct fm_conn) { .id = i, .guid = 0x30 + (uint64_t)i, .attach = 7,
					     .epoch = 2, .guest = rnd_one_in(r, 2),
					     .role = rnd_one_in(r, 2) ? FM_CONN_CHILD : FM_CONN_ROOT };
	older = NULL;
	did[0] = want[0] = '\0';
}

static void compare(struct rnd *r)
{
	expect(r, !strcmp(did, want), "did\n%snot\n%s", did, want);
}

/* A child asks: it is welcomed if this node and its NIC have joined the same root, and not by JOIN. */
static void one_child(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct fm_hello h = { .guid = 0x40, .epoch = 6, .attach = 8, .version = 9,
			      .role = rnd_one_in(&r, 4) ? FM_ROLE_JOIN : FM_ROLE_CHILD };
	struct fm_conn *c = &conn[0];

	begin(&r);
	has_root = !rnd_one_in(&r, 5);
	h.term = EPOCH - (uint64_t)rnd_one_in(&r, 5);
	h.root_epoch = EPOCH - (uint64_t)rnd_one_in(&r, 3);
	h.root_guid = rnd_one_in(&r, 3) ? 0x20 + rnd_below(&r, 2) : 0;
	older = rnd_one_in(&r, 3) ? &conn[1] : NULL;
	c->role = FM_CONN_STRANGER;
	c->reported = c->failed = rnd_one_in(&r, 2);
	c->awaited = true;
	conn[1].reported = true;
	if (h.role == FM_ROLE_JOIN || !has_root || h.term != EPOCH ||
	    (h.root_epoch == EPOCH && h.root_guid && h.root_guid != 0x20)) {
		note(want, "0: refuse 0 '%s'\nforget 0%s\ndrop 0\n", h.role == FM_ROLE_JOIN ?
		     "this node is not the root" : "this node has not joined the root of that epoch",
		     c->reported ? " reported" : "");
		older = NULL;
	} else {
		note(want, "0: welcome 50 20%s\nforget 0%s\n", fm.cut_off ? " adrift" : "",
		     c->reported ? " reported" : "");
		if (older)
			note(want, "forget 1 reported\ndrop 1\n");
		note(want, "await 0\nup: adopted 40/6 parent 10 attach 8\n");
		if (fm.cut_off)
			note(want, "pong 0\n");
		if (!c->guest)
			note(want, "step to 0 of 9\n");
	}
	fm_child_ask(&fm, c, &h);
	compare(&r);
	if (strstr(want, "welcome"))
		expect(&r, !c->reported && !c->awaited && !c->failed && c->asked == fm.now &&
		       c->node == 0x41 && c->epoch == 6 && c->attach == 8, "node %u", c->node);
}

static void child_is_welcomed_or_refused_as_in_model(void **state)
{
	(void)state;
	for_seeds(1000, one_child);
}

static void hello_of_other_fabric_or_own_guid_is_refused(void **state)
{
	struct fm_hello h = { .guid = 0x40, .fabric = "fab" };
	struct rnd r = rnd_new(1);

	(void)state;
	begin(&r);
	fm_child_hello(&fm, &conn[0], &h);
	h.guid = SELF;
	fm_child_hello(&fm, &conn[0], &h);
	strcpy(h.fabric, "bar");
	fm_child_hello(&fm, &conn[0], &h);
	fm_child_defer(&fm, &conn[0], 2 * MS + 1, "later");
	assert_string_equal(did, "hello 0\n0: refuse 0 'it has connected to itself, or another NIC has "
			    "its GUID'\nforget 0\ndrop 0\n0: refuse 0 'fabric 'bar' is not 'fab''\n"
			    "forget 0\ndrop 0\n0: refuse 3 'later'\nforget 0\ndrop 0\n");
}

/* All children are announced to a new root, or dropped; one that has left is announced. */
static void one_family(uint64_t seed)
{
	struct rnd r = rnd_new(seed);

	begin(&r);
	for (int i = 0; i < CONNS; i++)
		if (conn[i].role == FM_CONN_CHILD)
			note(want, "up: adopted %x/2 parent 10 attach 7\n%d: welcome 50 20%s\n", 0x30 + i,
			     i, fm.cut_off ? " adrift" : "");
	fm_children_announce(&fm);
	for (int i = CONNS - 1; i >= 0; i--)
		if (conn[i].role == FM_CONN_CHILD)
			note(want, "forget %d\ndrop %d\n", i, i);
	fm_children_drop(&fm);
	conn[0].role = FM_CONN_CHILD;
	note(want, "up: left 30/2 parent 10 attach 7\n%ssum again\n",
	     conn[0].guest ? "guest 30 left\n" : "");
	fm_child_gone(&fm, &conn[0]);
	compare(&r);
}

static void children_are_announced_and_dropped(void **state)
{
	(void)state;
	for_seeds(100, one_family);
}

/* --- calls --------------------------------------------------------------------------------- */

static struct fm_claim random_call(struct rnd *r, struct fm_init *i, bool *readable)
{
	struct fm_claim m = { .epoch = 0 };

	*i = (struct fm_init) { .guid = 0x50, .root_guid = rnd_one_in(r, 3) ? SELF : 0x50,
				.ndims = 2, .epoch = EPOCH - 1 + rnd_below(r, 3), .fabric = "fab",
				.name = "far", .root_address = "a:1" };
	i->size[1] = 5;
	*readable = !rnd_one_in(r, 3);
	m.ninit = (uint16_t)fm_init_put(m.init, i);
	if (*readable)
		return m;
	switch (rnd_below(r, 5)) {
	case 0: i->ndims = 3; break;
	case 1: i->guid = SELF; break;
	case 2: i->fabric[0] = 'x'; break;
	case 3: m.ninit--; return m;
	default: m.ninit = 0; return m;
	}
	m.ninit = (uint16_t)fm_init_put(m.init, i);
	return m;
}

static void one_call(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct fm_claim m;
	struct fm_init i;
	bool readable;

	begin(&r);
	m = random_call(&r, &i, &readable);
	credible = !rnd_one_in(&r, 4);
	tries = rnd_one_in(&r, 2);
	avoids = rnd_one_in(&r, 3);
	takes = !rnd_one_in(&r, 4);
	ends = rnd_one_in(&r, 3);
	if (readable && credible && !(fm.is_root && !fm.root_asks && i.epoch <= EPOCH)) {
		if (tries)
			note(want, "try %x\n", (unsigned int)i.root_guid);
		if (takes && (fm.is_root || !avoids))
			note(want, "follow %x of %u in 2, 5 at a:1\nask\njoin\n",
			     (unsigned int)i.root_guid, (unsigned int)i.epoch);
	}
	if (!readable)
		note(want, "drop 1\n");
	else if (!(ends && strstr(want, "follow")))
		note(want, "1: call of 10, Init of self\n");
	fm_called(&fm, &conn[1], &m);
	compare(&r);
	if (readable)
		expect(&r, called_by.guid == 0x50, "%x", (unsigned int)called_by.guid);
	note(want, "drop 1\n");
	if (readable)
		note(want, "31 answers%s\n", i.root_guid == SELF ? ", follows" : "");
	fm_called_back(&fm, &conn[1], &m);
	compare(&r);
}

static void call_is_taken_as_in_model(void **state)
{
	(void)state;
	for_seeds(2000, one_call);
}

/* --- handing over -------------------------------------------------------------------------- */

static void one_lead(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct fm_lead l = { .term = EPOCH, .guid = rnd_one_in(&r, 2) ? SELF : 0x60,
			     .now = rnd_one_in(&r, 2), .unfit = rnd_one_in(&r, 2), .address = "b:2" };

	begin(&r);
	fm.size[1] = 5;
	drawn = rnd_below(&r, 1000);
	for (int i = 0; i < CONNS; i++)
		if (conn[i].role == FM_CONN_CHILD)
			note(want, "%d: lead %x %d\n", i, (unsigned int)l.guid, l.now);
	if (!fm.is_root && l.now && l.guid == SELF)
		note(want, "leave\nasks%s\n", l.unfit ? " for unfit root" : "");
	else if (!fm.is_root && l.now)
		note(want, "follow 60 of 50 in 2 which asks, 5 at b:2\nask\nconnect after %u\n",
		     250 + (unsigned int)drawn % 126);
	else if (!fm.is_root && l.guid == SELF)
		note(want, "parent: lead 10 0\n");
	fm_handover(&fm, &l);
	compare(&r);
}

static void order_to_hand_over_is_passed_on_and_obeyed(void **state)
{
	(void)state;
	for_seeds(500, one_lead);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(child_is_welcomed_or_refused_as_in_model),
		cmocka_unit_test(hello_of_other_fabric_or_own_guid_is_refused),
		cmocka_unit_test(children_are_announced_and_dropped),
		cmocka_unit_test(call_is_taken_as_in_model),
		cmocka_unit_test(order_to_hand_over_is_passed_on_and_obeyed),
	};

	return cmocka_run_group_tests_name("fm_callers", all, NULL, NULL);
}
