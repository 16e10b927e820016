// SPDX-License-Identifier: GPL-2.0-only
/*
 * A node that receives an Init, or whose link changes, by itself: random Inits and links, and random
 * answers of the other parts of the manager. Which parts are called, in which order, and which
 * problems are reported is compared with a model.
 */
#include "tests/unit/inits.h"

#define SELF	0x10
#define FAR	0x40		/* the NIC at the other end of each cable, at port 1 */
#define EPOCH	5000

static void must_say(struct rnd *r, const char *text)
{
	expect(r, strstr(reported, text), "'%s' lacks '%s'", reported, text);
}

static void random_facts(struct rnd *r)
{
	uint8_t bits[32];
	bool *b = (bool *)&facts;

	rnd_fill(r, bits, sizeof(bits));
	memset(&facts, 0, sizeof(facts));
	for (size_t i = 0; i < offsetof(struct facts, latest); i++)
		b[i] = rnd_below(r, 2);
	facts.latest = rnd_one_in(r, 4) ? 0 : EPOCH;
	fm = (struct fm) { .guid = SELF, .nports = PORTS, .now = 1000 * SEC, .ndims = 2,
			   .have_root = rnd_one_in(r, 2), .have_position = rnd_one_in(r, 2),
			   .is_root = rnd_one_in(r, 3), .root_lost = rnd_one_in(r, 4),
			   .root_asks = rnd_one_in(r, 4), .root_guid = 0x20, .root_epoch = EPOCH,
			   .cfg = { .fabric = "fab", .name = "me" },
			   .root_address = "192.0.2.1:7", .ops = { .mgmt_send = mgmt_send } };
	fm.led.epoch = rnd_one_in(r, 3) ? EPOCH - 5 : 0;
	fm.kept.term = rnd_one_in(r, 3) ? EPOCH - 2 : 0;
	for (unsigned int p = 0; p < PORTS; p++) {
		fm.row.port[p].peer_guid = rnd_one_in(r, 4) ? 0 : FAR;
		fm.row.port[p].peer_port = 1;
	}
	did[0] = want[0] = reported[0] = '\0';
}

static struct fm_init random_init(struct rnd *r)
{
	uint64_t known = later(later(facts.latest, fm.led.epoch), fm.kept.term);
	struct fm_init i = { .placed = !rnd_one_in(r, 3), .received = rnd_one_in(r, 2),
			     .lost = rnd_one_in(r, 4), .asks = rnd_one_in(r, 4), .port = 1,
			     .ndims = rnd_one_in(r, 5) ? 3 : 2, .guid = FAR,
			     .root_guid = 0x20 + rnd_below(r, 2), .epoch = EPOCH,
			     .fabric = "fab", .name = "far", .root_address = "192.0.2.9:7" };

	if (rnd_one_in(r, 6))
		i.fabric[0] = 'x';
	if (rnd_one_in(r, 5))
		i.root_guid = 0;
	if (rnd_one_in(r, 6))
		i.guid++;
	if (rnd_one_in(r, 6))
		i.port = 2;
	if (rnd_one_in(r, 3))
		i.epoch = known + FM_EPOCH_STEP + rnd_below(r, 2);
	return i;
}

/* --- the model ---------------------------------------------------------------------------- */

static bool is_sender_right(struct rnd *r, unsigned int p, const struct fm_init *i)
{
	if (!facts.up[p] || !fm.row.port[p].peer_guid || (i->guid == FAR && i->port == 1)) {
		note(want, "clear wave %u\n", 1000 + p);
		return true;
	}
	note(want, "set wave %u\nlimit wave %u: 30 s\n", 1000 + p, 1000 + p);
	(void)r;
	return false;
}

static bool is_epoch_right(unsigned int p, const struct fm_init *i)
{
	uint64_t known = later(later(facts.latest, fm.led.epoch), fm.kept.term);
	bool right = !known || i->epoch <= known + FM_EPOCH_STEP;

	if (right && p != FM_NO_PORT)
		note(want, "clear root %u\n", 2000 + p);
	if (!right)
		note(want, "set root %u\n", 2000 + p);
	if (!right && p == FM_NO_PORT)
		note(want, "limit root %u: 30 s\n", 2000 + p);
	return right;
}

/* Return: the problem of an Init that is not of this node's fabric or root; "": none. */
static const char *problem_of(const struct fm_init *i, enum fm_port_problem *row, const char **text)
{
	bool leads = !i->lost && !i->asks && !fm.root_lost && !fm.root_asks;

	*row = FM_PROBLEM_FABRIC;
	*text = "fabric 'xab'";
	if (i->fabric[0] == 'x')
		return "fabric";
	*text = "3 dimensions";
	if (facts.refuses || (i->placed && fm.have_root && i->root_guid != fm.root_guid && leads &&
			      !facts.knows)) {
		*row = FM_PROBLEM_ROOT;
		*text = facts.refuses ? "root was <99>" : "two roots";
		return "root";
	}
	if (i->ndims == 3)
		return "fabric";
	*row = FM_PROBLEM_NONE;
	*text = "";
	return "";
}

/* The Init is read, and this node perhaps follows its root, before both are compared. */
static void read_model(struct rnd *r, unsigned int p, const struct fm_init *i, const char **text)
{
	bool follows = i->fabric[0] == 'f' && i->ndims == 2 && !facts.refuses, news = false;
	enum fm_port_problem row;
	const char *kind;

	if (!is_sender_right(r, p, i) || !is_epoch_right(p, i))
		return;
	note(want, "home %u %x\n", p, (unsigned int)i->root_guid);
	if (follows && facts.tries)
		note(want, "try %x\n", (unsigned int)i->root_guid);
	follows &= facts.takes && (fm.is_root || !facts.avoids);
	if (follows) {
		note(want, "follow %x\n", (unsigned int)i->root_guid);
		fm.have_root = true;
		fm.root_guid = i->root_guid;
	}
	kind = problem_of(i, &row, text);
	if (row)
		note(want, "set %s %u\n", kind, 1000 + p);
	else
		note(want, "clear fabric %u\nclear root %u\n", 1000 + p, 1000 + p);
	if (facts.problem_changes)
		note(want, "fm_uplink_row\n");
	note(want, "check %u Init\n", p);
	if (!row) {
		note(want, "squares %u\n", p);
		news = facts.squares;
	}
	if (!row && i->placed && i->root_guid == fm.root_guid && i->ndims == fm.ndims) {
		note(want, "wave %u\n", p);
		news |= facts.waves;
	} else if (news) {
		note(want, "fm_wave_squares\n");
	}
	if (i->root_guid && i->root_guid != fm.root_guid)
		note(want, "fm_wave_forget %u\n", p);
	if (follows)
		note(want, "fm_ports_ask\n");
	news |= i->received ? fm.have_root && facts.outdoes :
			   i->placed || (fm.have_root && fm.have_position);
	note(want, "port %u%s\n", p, news ? " answers" : "");
	if (follows)
		note(want, "fm_try_join\n");
}

static void compare(struct rnd *r)
{
	expect(r, !strcmp(did, want), "did\n%snot\n%s", did, want);
}

/* --- Inits -------------------------------------------------------------------------------- */

static void one_init(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	unsigned int p = rnd_below(&r, PORTS + 1);
	uint8_t buf[TORUS_MGMT_MAX];
	const char *text = "";
	struct fm before;
	struct fm_init i;
	size_t len;

	random_facts(&r);
	fm.ndims -= (unsigned int)rnd_one_in(&r, 4);
	i = random_init(&r);
	len = fm_init_put(buf, &i);
	before = fm;
	if (rnd_one_in(&r, 8)) {
		buf[4]++;
		text = "speaks version 4 of Init, this node version 3";
		if (p < PORTS)
			note(want, "set fabric %u\n%s", 1000 + p,
			     facts.problem_changes ? "fm_uplink_row\n" : "");
	} else if (rnd_one_in(&r, 8)) {
		len--;
	} else if (p < PORTS) {
		read_model(&r, p, &i, &text);
	}
	fm = before;
	fm_bootstrap_init(&fm, p, buf, len);
	compare(&r);
	if (p < PORTS)
		must_say(&r, text);
}

static void random_inits_have_effects_of_model(void **state)
{
	(void)state;
	for_seeds(12000, one_init);
}

static void one_call(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	unsigned int p = rnd_one_in(&r, 2) ? FM_NO_PORT : rnd_below(&r, PORTS);
	struct fm_init i;
	bool right;

	random_facts(&r);
	i = random_init(&r);
	right = is_epoch_right(p, &i);
	expect(&r, fm_bootstrap_credible(&fm, p, &i) == right, "port %u", p);
	compare(&r);
	if (!right)
		must_say(&r, p == FM_NO_PORT ? "a call: node" : "port p");
}

static void incredible_epochs_are_reported_by_port_or_call(void **state)
{
	(void)state;
	for_seeds(1000, one_call);
}

/* --- links -------------------------------------------------------------------------------- */

static struct torus_link random_link(struct rnd *r)
{
	static const uint8_t reasons[] = { TORUS_REASON_NONE, TORUS_REASON_BUBBLE,
					   TORUS_REASON_MISMATCH };
	static const uint8_t differs[] = { TORUS_DIFFERS_NOTHING, TORUS_DIFFERS_WIRE,
					   TORUS_DIFFERS_SLOTS, 250 };
	struct torus_link l = { .port = (uint8_t)rnd_below(r, PORTS), .carrier = !rnd_one_in(r, 4),
				.admin = !rnd_one_in(r, 4), .reason = reasons[rnd_below(r, 3)],
				.differs = differs[rnd_below(r, 4)], .differs_own = 4,
				.differs_peer = 6, .peer_port = 2 };

	l.state = rnd_one_in(r, 2) ? TORUS_LINK_UP : TORUS_LINK_DOWN;
	l.gauge[TORUS_PG_WIRE] = rnd_below(r, 3) * 2 + rnd_below(r, 2);
	l.peer_guid = rnd_one_in(r, 2) ? FAR : 0;
	return l;
}

/* Reports the problems that the link itself shows. Return: a part of the last one's text. */
static const char *link_model(const struct torus_link *l)
{
	const char *text = NULL;

	if (l->carrier && l->admin && l->reason != TORUS_REASON_NONE) {
		note(want, "set fabric %u\n", 2000 + l->port);
		text = l->differs == TORUS_DIFFERS_WIRE ? "<10> has " :
		       l->differs == TORUS_DIFFERS_SLOTS ? "<10> needs " :
							   torus_link_reason_name(l->reason);
	} else {
		note(want, "clear fabric %u\n", 2000 + l->port);
	}
	if (l->state == TORUS_LINK_UP && l->gauge[TORUS_PG_WIRE] && l->gauge[TORUS_PG_WIRE] < 5) {
		note(want, "set release %u\n", 3000 + l->port);
		text = "speak wire version";
	} else {
		note(want, "clear release %u\n", 3000 + l->port);
	}
	return text;
}

static void one_link(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct torus_link l;
	const char *text;
	bool was;

	random_facts(&r);
	l = random_link(&r);
	was = facts.up[l.port];
	text = link_model(&l);
	note(want, "fm_task_port %u\nlink %u\n", l.port, l.port);
	if (facts.row_changes)
		note(want, "fm_uplink_row\n");
	if (!facts.up_after) {
		note(want, "clear fabric %u\nclear root %u\nclear root %u\nclear wave %u\ncheck %u\n",
		     1000 + l.port, 1000 + l.port, 2000 + l.port, 1000 + l.port, l.port);
		if (was)
			note(want, "fm_home_down %u\n", l.port);
	}
	if (!facts.up_after || !facts.has_init[l.port])
		note(want, "fm_wave_forget %u\n", l.port);
	fm_bootstrap_link(&fm, &l);
	compare(&r);
	if (text) {
		must_say(&r, text);
		must_say(&r, l.peer_guid ? "port p2 of node <40>" : "the other end");
		must_say(&r, "of node <10>");
	}
	did[0] = '\0';
	l.port = PORTS;
	fm_bootstrap_link(&fm, &l);
	expect(&r, !did[0], "%s", did);
}

static void random_links_have_effects_of_model(void **state)
{
	(void)state;
	for_seeds(4000, one_link);
}

/* --- sending ------------------------------------------------------------------------------ */

/* A place is settled if it is a place of a table, and of the shape of the root. */
static void one_fill(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	bool placed, settled;

	random_facts(&r);
	fm.size[0] = 3;
	fm.size[1] = 4;
	fm.size[2] = 0;
	fm.table.version = rnd_below(&r, 2);
	fm.position[0] = (int32_t)rnd_below(&r, 5) - 1;
	fm.position[1] = (int32_t)rnd_below(&r, 6) - 1;
	placed = fm.have_root && fm.have_position;
	settled = placed && fm.table.version && fm.position[0] >= 0 && fm.position[0] < 3 &&
		  fm.position[1] >= 0 && fm.position[1] < 4;
	for (unsigned int p = 0; p < PORTS; p++) {
		facts.due[p] = p == 2 || p == PORTS - 1;
		facts.up[p] = true;
	}
	fm.lonely = fm.have_root;
	fm.rootless = fm.now;
	note(want, "fm_home_due\nfm_try_due\nsend 2\nfm_port_sent 2\n");
	if (fm.have_root)
		note(want, "clear root 0\n");
	fm_bootstrap_due(&fm);
	compare(&r);
	expect(&r, !fm.lonely, "%d", fm.have_root);
	expect(&r, fm.sent_lost == (fm.root_lost || fm.root_asks), "%d", fm.sent_lost);
	expect(&r, sent.placed == placed && sent.settled == settled, "%d %d", placed, settled);
	expect(&r, sent.port == 2 && sent.received == facts.acknowledges[2] && sent.nends == 1 &&
	       sent.guid == SELF && sent.lost == fm.root_lost && sent.asks == fm.root_asks, "port %u",
	       sent.port);
	expect(&r, sent.doubt == (placed ? 3 : 0) && sent.ndims == (placed ? 2 : 0), "doubt %u",
	       sent.doubt);
	expect(&r, sent.root_guid == 0x20 && sent.epoch == EPOCH && !strcmp(sent.name, "me") &&
	       !strcmp(sent.fabric, "fab") &&
	       !strcmp(sent.root_address, fm.have_root ? "192.0.2.1:7" : ""), "%s", sent.root_address);
	expect(&r, sent.size[1] == 4 && sent.position[0] == fm.position[0] &&
	       sent.position[1] == fm.position[1], "at %d", sent.position[0]);
}

static void init_that_is_due_says_what_node_knows(void **state)
{
	(void)state;
	for_seeds(1000, one_fill);
}

/* A node that no root leads for 30 s reports that once, until a root leads it. */
static void lonely_node_reports_it_once(void **state)
{
	struct rnd r = rnd_new(1);

	(void)state;
	random_facts(&r);
	memset(facts.due, 0, sizeof(facts.due));
	fm.have_root = false;
	fm.rootless = 100 * SEC;
	facts.home_at = facts.try_at = facts.ports_at = NEVER;
	assert_int_equal(fm_bootstrap_expiry(&fm), 130 * SEC);
	facts.ports_at = 120 * SEC;
	assert_int_equal(fm_bootstrap_expiry(&fm), 120 * SEC);
	facts.home_at = 110 * SEC;
	assert_int_equal(fm_bootstrap_expiry(&fm), 110 * SEC);
	facts.try_at = 105 * SEC;
	assert_int_equal(fm_bootstrap_expiry(&fm), 105 * SEC);
	facts.home_at = facts.try_at = facts.ports_at = NEVER;
	fm.now = 130 * SEC - 1;
	for (unsigned int k = 0; k < 3; k++, fm.now++) {
		did[0] = '\0';
		fm_bootstrap_due(&fm);
		assert_int_equal(!!strstr(did, "set root 0"), k == 1);
		assert_int_equal(fm.lonely, k >= 1);
	}
	assert_true(fm_bootstrap_expiry(&fm) == NEVER);
	fm.have_root = true;
	fm.lonely = false;
	assert_true(fm_bootstrap_expiry(&fm) == NEVER);
}

/* --- the begin ---------------------------------------------------------------------------- */

static void one_begin(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct torus_device dev = { .placed = rnd_one_in(&r, 2) };
	struct torus_link link[PORTS];
	bool marked = rnd_one_in(&r, 2), has_shape = rnd_one_in(&r, 2);

	random_facts(&r);
	torus_shape_parse("3x4x5", &dev.shape);
	dev.coords = (struct torus_coords) { { 1, 2, 3, 9 } };
	fm.ndims = 0;
	fm.have_position = false;
	fm.bootstrap = marked;
	memset(fm.position, 0x11, sizeof(fm.position));
	memset(fm.size, 0x11, sizeof(fm.size));
	if (has_shape)
		torus_shape_parse("6x7x8", &fm.cfg.shape);
	note(want, "ports begin\n");
	for (unsigned int p = 0; p < PORTS; p++) {
		link[p] = random_link(&r);
		link[p].port = (uint8_t)p;
		link_model(&link[p]);
	}
	fm_bootstrap_begin(&fm, &dev, link);
	compare(&r);
	expect(&r, fm.have_position == (marked || dev.placed), "%d", marked);
	if (dev.placed)
		expect(&r, fm.ndims == 3 && fm.size[2] == 5 && fm.position[0] == 1 &&
		       fm.position[2] == 3 && fm.position[3] == (marked ? 0 : 0x11111111), "at %d",
		       fm.position[0]);
	else if (marked)
		expect(&r, fm.ndims == (has_shape ? 3 : 2) && fm.size[2] == (has_shape ? 8 : 0) &&
		       !fm.position[0] && !fm.position[2], "at %d", fm.position[0]);
	else
		expect(&r, !fm.ndims && fm.position[0] == 0x11111111, "at %d", fm.position[0]);
}

static void node_begins_at_place_of_nic_or_at_origin(void **state)
{
	(void)state;
	for_seeds(400, one_begin);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(random_inits_have_effects_of_model),
		cmocka_unit_test(incredible_epochs_are_reported_by_port_or_call),
		cmocka_unit_test(random_links_have_effects_of_model),
		cmocka_unit_test(init_that_is_due_says_what_node_knows),
		cmocka_unit_test(lonely_node_reports_it_once),
		cmocka_unit_test(node_begins_at_place_of_nic_or_at_origin),
	};

	return cmocka_run_group_tests_name("fm_inits", all, NULL, NULL);
}
