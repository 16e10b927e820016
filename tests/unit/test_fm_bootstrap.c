// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wave of Inits: to which neighbours a manager sends Inits and when, and which of the Inits
 * that it receives it believes.
 */
#include <errno.h>
#include <stdio.h>

#include "daemon/fm/node/table.h"
#include "stage.h"

static struct stage s;

#define ONLY_INIT "log hello row connect close place rows release lost ping "

/* --- when ------------------------------------------------------------------------------- */

/*
 * A node sends its Init at once, then at growing intervals up to 20 times the first one; none after
 * the answer.
 */
static void init_is_repeated_ever_more_seldom_until_answered(void **state)
{
	struct fm_init i;

	(void)state;
	stage_init(&s, "3x2", 0);
	s.deaf = ONLY_INIT;
	stage_start(&s);
	stage_run(&s, 10);
	stage_did_nothing(&s);
	stage_link_up(&s, 2, 7);
	stage_run(&s, 300);
	stage_did(&s, "init 2: 0/3 0/2 root 100 30.0.0.0:1\n"
		      "at 60 ms\ninit 2: 0/3 0/2 root 100 30.0.0.0:1\n"
		      "at 135 ms\ninit 2: 0/3 0/2 root 100 30.0.0.0:1\n"
		      "at 247.5 ms\ninit 2: 0/3 0/2 root 100 30.0.0.0:1\n");
	stage_run(&s, 20000);
	/* 50 ms * 1.5^8 is above 1 s: that interval is the last that grows. */
	assert_int_equal(stage_count(&s, "init 2"), 5 + (20000 - 2422) / 1281);
	stage_forget(&s);
	i = stage_neighbour(&s, 2);
	i.received = true;
	stage_receive(&s, 2, &i);
	stage_run(&s, 20010);
	/* The neighbour cannot know yet that its Init was received. */
	assert_int_equal(stage_count(&s, "init 2: settled heard"), 1);
	stage_forget(&s);
	stage_run(&s, 60000);
	stage_did_nothing(&s);
	/* The same session is not news; another session is. */
	stage_report_link(&s, 2);
	stage_run(&s, 60010);
	stage_did_nothing(&s);
	stage_link_up(&s, 2, 8);
	stage_run(&s, 60020);
	stage_did(&s, "init 2: settled 0/3 0/2 root 100 30.0.0.0:1\n");
	/* No Init is sent while the link is lost; one is sent when it is up again. */
	stage_link_lost(&s, 2, 0);
	stage_run(&s, 70000);
	stage_did_nothing(&s);
	stage_link_up(&s, 2, 8);
	stage_run(&s, 70010);
	stage_did(&s, "init 2: settled 0/3 0/2 root 100 30.0.0.0:1\n");
	stage_end(&s);
}

/* @when: "" if no time has passed since the last call. */
static void init_2(const char *when, const char *what)
{
	char text[128];

	sprintf(text, "%sinit 2: %s0/3 0/2 root 100 30.0.0.0:1\n", when, what);
	stage_did(&s, text);
}

/* A neighbour that has received no Init is answered, at most twice in an interval. */
static void neighbour_without_init_is_answered_twice_at_most(void **state)
{
	struct fm_init i;

	(void)state;
	stage_init(&s, "3x2", 0);
	s.deaf = ONLY_INIT;
	s.cfg.quiet = 100000 * MS;
	stage_start(&s);
	stage_link_up(&s, 2, 7);
	stage_run(&s, 1);
	init_2("at 0 ms\n", "");
	i = stage_neighbour(&s, 2);
	/* A neighbour that only asks is not heard: it has no position yet. */
	i.placed = false;
	i.ndims = 0;
	stage_receive(&s, 2, &i);
	stage_run(&s, 24.999);
	stage_did_nothing(&s);
	stage_run(&s, 26);
	init_2("at 25 ms\n", "");
	i = stage_neighbour(&s, 2);
	stage_receive(&s, 2, &i);
	stage_run(&s, 27);
	init_2("", "heard ");
	stage_receive(&s, 2, &i);
	stage_run(&s, 50.999);
	stage_did_nothing(&s);
	stage_run(&s, 60);
	init_2("at 51 ms\n", "heard ");
	stage_run(&s, 1000);
	stage_forget(&s);
	/* Now the neighbour has received one: no more are sent. */
	i.received = true;
	stage_receive(&s, 2, &i);
	stage_run(&s, 90000);
	stage_did_nothing(&s);
	/* Inits are sent again when the neighbour restarts and asks. */
	i.received = false;
	stage_receive(&s, 2, &i);
	stage_run(&s, 90001);
	init_2("", "settled heard ");
	stage_end(&s);
}

/* --- position --------------------------------------------------------------------------- */

#define ASKS(p) "init " #p ": asks\n"

/* The Init of a node at 1,2 of a 4x4 that has learned of the root at @port. */
static void placed_by(unsigned int port, bool settled, const char *want)
{
	struct fm_init i;
	char text[256];

	stage_init(&s, "4x4", 9);
	s.deaf = "log hello row ";
	stage_start(&s);
	for (unsigned int p = 0; p < 4; p++)
		stage_link_up(&s, p, 1);
	stage_run(&s, 1);
	stage_did(&s, "at 0 ms\n" ASKS(0) ASKS(1) ASKS(2) ASKS(3));
	i = stage_neighbour(&s, port);
	i.settled = settled;
	if (!settled)
		i.size[0] = i.size[1] = 0;
	stage_receive(&s, port, &i);
	stage_run(&s, 2);
	assert_non_null(strstr(s.text, "connect 30.0.0.0:1: 1\n"));
	for (unsigned int p = 0; p < 4; p++) {
		sprintf(text, "\ninit %u:%s %s root 100 30.0.0.0:1\n", p, p == port ? " heard" : "",
			want);
		assert_int_equal(stage_count(&s, text), 1);
	}
	assert_int_equal(stage_count(&s, "\n"), 5);
	stage_end(&s);
}

static void init_at_each_port_implies_position(void **state)
{
	(void)state;
	for (unsigned int p = 0; p < 4; p++) {
		placed_by(p, true, "1/4 2/4");
		placed_by(p, false, "1/0 2/0");
	}
}

/* Positions wrap around where sizes are known; where they are not, they fall below 0. */
static void position_wraps_where_size_is_known(void **state)
{
	static const struct {
		uint16_t size;
		int32_t from;
		unsigned int port;
		const char *is;
	} t[] = {
		{ 4, 0, 0, "3/4 5/9" }, { 4, 3, 2, "0/4 5/9" }, { 0, 0, 0, "-1/0 5/9" },
		{ 0, 3, 2, "4/0 5/9" }, { 4, 1, 0, "0/4 5/9" },
	};

	(void)state;
	for (unsigned int k = 0; k < 5; k++) {
		struct fm_init i;

		stage_init(&s, "4x9", 9);
		s.deaf = "log hello row ";
		stage_start(&s);
		stage_link_up(&s, t[k].port, 1);
		i = stage_neighbour(&s, t[k].port);
		i.size[0] = t[k].size;
		i.size[1] = 9;
		i.position[0] = t[k].from;
		i.position[1] = 5;
		stage_receive(&s, t[k].port, &i);
		stage_run(&s, 1);
		stage_did_some(&s, t[k].is);
		stage_end(&s);
	}
}

/* A cable between ports that are not opposite gives no position, but names the root. */
static void cable_between_wrong_ports_gives_no_position(void **state)
{
	struct fm_init i;

	(void)state;
	stage_init(&s, "4x4", 9);
	s.deaf = "log hello row ";
	stage_start(&s);
	for (unsigned int p = 0; p < 2; p++)
		stage_link_up(&s, p, 1);
	i = stage_neighbour(&s, 0);
	i.port = 3;
	stage_receive(&s, 0, &i);
	stage_run(&s, 1);
	/* The neighbour's Init counts as received, although there is nothing to report yet. */
	stage_did(&s, "at 0 ms\nconnect 30.0.0.0:1: 1\n"
		      "init 0: asks heard root 100 30.0.0.0:1\n"
		      "init 1: asks root 100 30.0.0.0:1\n");
	/* The first Init with a position gives the place; later ones do not change it. */
	i = stage_neighbour(&s, 1);
	stage_receive(&s, 1, &i);
	stage_run(&s, 2);
	stage_did(&s, "init 1: heard 1/4 2/4 root 100 30.0.0.0:1\n");
	i = stage_neighbour(&s, 0);
	i.position[0] = 3;
	i.received = true;
	stage_receive(&s, 0, &i);
	stage_run(&s, 60);
	stage_did_no(&s, "init 0: heard 0/4");
	stage_end(&s);
}

/* A NIC that already has a place knows it, and the number of dimensions. */
static void placed_nic_keeps_place_after_restart(void **state)
{
	struct fm_init i;
	const struct torus_coords at = { { 3, 1 } };

	(void)state;
	stage_init(&s, "4x4", 9);
	s.deaf = "log hello row ";
	s.dev.placed = true;
	s.dev.shape = s.shape;
	s.dev.coords = at;
	s.dev.node = torus_node_id(&s.shape, &at);
	s.dev.nports = 12;
	stage_start(&s);
	stage_link_up(&s, 1, 1);
	stage_run(&s, 1);
	stage_did(&s, "at 0 ms\n" ASKS(1));
	i = stage_neighbour(&s, 1);
	stage_receive(&s, 1, &i);
	stage_run(&s, 2);
	stage_did(&s, "connect 30.0.0.0:1: 1\ninit 1: heard 3/4 1/4 root 100 30.0.0.0:1\n");
	stage_end(&s);
}

/* A NIC may have more ports than the fabric has directions: no Inits are sent by these. */
static void no_init_is_sent_by_spare_port(void **state)
{
	struct fm_init i;

	(void)state;
	stage_init(&s, "4x4", 9);
	s.deaf = "log hello row ";
	s.dev.nports = 6;
	stage_start(&s);
	for (unsigned int p = 0; p < 6; p++) {
		s.link[p].state = TORUS_LINK_UP;
		s.link[p].session = 1;
		stage_report_link(&s, p);
	}
	stage_run(&s, 1);
	/* As long as the number of dimensions is unknown, all ports may be of use. */
	stage_did(&s, "at 0 ms\n" ASKS(0) ASKS(1) ASKS(2) ASKS(3) ASKS(4) ASKS(5));
	/* A neighbour that only asks does not know the number either, even at the same port. */
	i = (struct fm_init) { .port = 1, .guid = 0x999, .fabric = "fab", .name = "new" };
	stage_receive(&s, 1, &i);
	i = stage_neighbour(&s, 1);
	stage_receive(&s, 1, &i);
	stage_run(&s, 500);
	assert_int_equal(stage_count(&s, "init 3:"), 5);
	assert_int_equal(stage_count(&s, "init 4:"), 0);
	assert_int_equal(stage_count(&s, "init 5:"), 0);
	stage_end(&s);
	/* The node does not use ports that its NIC does not have. */
	stage_init(&s, "4x4", 0);
	s.deaf = "log hello row ";
	s.dev.nports = 3;
	stage_start(&s);
	for (unsigned int p = 0; p < 4; p++)
		stage_link_up(&s, p, 1);
	stage_run(&s, 1);
	assert_int_equal(stage_count(&s, "init 2:"), 1);
	assert_int_equal(stage_count(&s, "init 3:"), 0);
	stage_forget(&s);
	s.deaf = "";
	strcpy(i.fabric, "other");
	stage_receive(&s, 3, &i);
	stage_receive(&s, 200, &i);
	stage_did_nothing(&s);
	stage_end(&s);
}

/* --- which Inits are believed ----------------------------------------------------------- */

/* Node 1 of a 4x4 that has joined the root, to which port 2 leads. */
static void joined(void)
{
	struct fm_init i;

	stage_init(&s, "4x4", 1);
	stage_start(&s);
	for (unsigned int p = 0; p < 4; p++)
		stage_link_up(&s, p, 1);
	i = stage_neighbour(&s, 2);
	i.received = true;
	stage_receive(&s, 2, &i);
	stage_up(&s, 1);
	stage_welcome(&s, 1, TERM, "");
	s.deaf = "init ";
	stage_run(&s, 5);
	stage_forget(&s);
}

static void problem(struct fm_init *i, unsigned int port, const char *kind, const char *text)
{
	char want[400];

	stage_receive(&s, port, i);
	snprintf(want, sizeof(want), "log error %s: %s\n", kind, text);
	if (!strstr(s.text, want))
		fprintf(stderr, "%s", s.text);
	assert_non_null(strstr(s.text, want));
	/* The root learns of it, by the number of the problem. */
	assert_int_equal(stage_count(&s, "1 < row"), 1);
	assert_int_equal(fm_problem(s.fm, 0) != NULL, 1);
	assert_string_equal(fm_problem(s.fm, 0)->kind, kind);
	assert_string_equal(fm_problem(s.fm, 0)->text, text);
	assert_null(fm_problem(s.fm, 1));
	/* The problem is logged once. */
	stage_forget(&s);
	stage_receive(&s, port, i);
	stage_did_nothing(&s);
}

static void over(unsigned int port, const char *kind, const char *text)
{
	struct fm_init i = stage_neighbour(&s, port);
	char want[400];

	stage_receive(&s, port, &i);
	snprintf(want, sizeof(want), "log info %s: over: %s\n", kind, text);
	assert_non_null(strstr(s.text, want));
	assert_int_equal(stage_count(&s, "1 < row"), 1);
	assert_int_equal(stage_count(&s, "problem"), 0);
	assert_null(fm_problem(s.fm, 0));
	stage_forget(&s);
	/* Long enough for the next problem to be logged at once. */
	s.now += 60000 * MS;
}

static void neighbour_of_other_fabric_or_shape_is_problem(void **state)
{
	static const char *const at[] = { "+x", "+y", "-x", "-y" };
	struct fm_init i;
	uint8_t buf[TORUS_MGMT_MAX];
	char text[200];
	size_t len;

	(void)state;
	for (unsigned int p = 0; p < 4; p++) {
		joined();
		i = stage_neighbour(&s, p);
		strcpy(i.fabric, "other");
		sprintf(text, "port %s leads to node '%s' of fabric 'other'; this is "
			"'fab'", at[p], i.name);
		problem(&i, p, "fabric", text);
		over(p, "fabric", text);
		i = stage_neighbour(&s, p);
		i.root_guid = 0xbc;
		strcpy(i.root_address, "30.9.9.9:9");
		sprintf(text, "two roots: node '%s' at port %s obeys 00000000000000bc "
			"at 30.9.9.9:9, "
			"this one 0000000000000100 at 30.0.0.0:1", i.name, at[p]);
		problem(&i, p, "root", text);
		over(p, "root", text);
		i = stage_neighbour(&s, p);
		i.ndims = 3;
		i.size[2] = 3;
		sprintf(text, "port %s: node '%s' is in a fabric of 3 dimensions; this NIC has 4 "
			"ports",
			at[p], i.name);
		problem(&i, p, "fabric", text);
		over(p, "fabric", text);
		/* A node that only asks follows no root yet. */
		i = stage_neighbour(&s, p);
		i.placed = false;
		i.root_guid = 0xbc;
		stage_receive(&s, p, &i);
		stage_did_nothing(&s);
		/* A neighbour with another version of the protocol cannot be understood further. */
		i = stage_neighbour(&s, p);
		len = fm_init_put(buf, &i);
		buf[4]++;
		fm_mgmt(s.fm, p, buf, len, START + s.now);
		assert_int_equal(stage_count(&s, "problem3"), 1);
		assert_int_equal(stage_count(&s, "1 < row"), 1);
		stage_forget(&s);
		fm_mgmt(s.fm, p, buf, len, START + s.now);
		stage_did_nothing(&s);
		sprintf(text,
			"the neighbour at port %s speaks version 4 of Init, this node version "
			"3: update all managers together", at[p]);
		assert_string_equal(fm_problem(s.fm, 0)->text, text);
		over(p, "fabric", text);
		/* A packet that is no Init is not answered. */
		fm_mgmt(s.fm, p, buf, 3, START + s.now);
		stage_did_nothing(&s);
		stage_end(&s);
	}
}

/* A problem with a neighbour ends with the link, unless another node sends an Init by it. */
static void problem_ends_when_link_to_wrong_neighbour_is_lost(void **state)
{
	struct fm_init i;

	(void)state;
	for (unsigned int k = 0; k < 3; k++) {
		joined();
		i = stage_neighbour(&s, 1);
		if (k == 0)
			strcpy(i.fabric, "other");
		else
			i.root_guid = 0xbc;
		if (k == 2)
			i.epoch += 100000;
		stage_receive(&s, 1, &i);
		assert_string_equal(fm_problem(s.fm, 0)->kind, k ? "root" : "fabric");
		stage_link_lost(&s, 2, 7);
		assert_non_null(fm_problem(s.fm, 0));
		stage_link_lost(&s, 1, 7);
		assert_null(fm_problem(s.fm, 0));
		stage_end(&s);
	}
}

/*
 * An Init that names another sender than the NIC at the other end of the cable has no effect: here
 * it says that the root has moved, which the node would tell all its neighbours.
 */
static void init_of_another_sender_is_ignored(void **state)
{
	static const char text[] = "an Init at port +y names as its sender port -y of node "
		"0000000000000100, but the cable leads to port -y of node 0000000000000105: the "
		"Init "
		"is ignored";
	struct fm_init i;

	(void)state;
	joined();
	s.deaf = "";
	i = stage_neighbour(&s, 1);
	i.received = true;
	stage_receive(&s, 1, &i);
	stage_run(&s, 100);
	stage_forget(&s);
	i.guid = i.root_guid;
	strcpy(i.root_address, "30.9.9.9:9");
	stage_receive_other(&s, 1, &i);
	stage_did(&s, "log error wave: an Init at port +y names as its sender port -y of "
		  "node 0000000000000100, but the cable leads to port -y of node 0000000000000105: "
		  "the Init is ignored\n");
	assert_string_equal(fm_problem(s.fm, 0)->kind, "wave");
	assert_string_equal(fm_problem(s.fm, 0)->text, text);
	stage_run(&s, 3000);
	assert_int_equal(stage_count(&s, "30.9.9.9:9"), 0);
	/* The right sender ends the problem; so does the end of the link. */
	i = stage_neighbour(&s, 1);
	i.received = true;
	stage_receive_other(&s, 1, &i);
	assert_null(fm_problem(s.fm, 0));
	/* Another port of the right NIC is not the other end of the cable either. */
	i.port = 0;
	stage_receive_other(&s, 1, &i);
	assert_non_null(strstr(fm_problem(s.fm, 0)->text, "port +x of node 0000000000000105, but"));
	stage_link_lost(&s, 1, 7);
	assert_null(fm_problem(s.fm, 0));
	/* Another NIC at that cable is the sender from then on. */
	i = stage_neighbour(&s, 1);
	i.guid += 0x100000;
	s.link[1].state = TORUS_LINK_UP;
	s.link[1].session = 9;
	s.link[1].peer_guid = i.guid;
	stage_report_link(&s, 1);
	stage_receive_other(&s, 1, &i);
	assert_null(fm_problem(s.fm, 0));
	stage_end(&s);
}

/* If both ends are silent, no right Init ends that problem, but time does. */
static void another_sender_is_a_problem_for_30_s(void **state)
{
	struct fm_init i;

	(void)state;
	joined();
	i = stage_neighbour(&s, 1);
	i.received = true;
	stage_receive(&s, 1, &i);
	i.guid = i.root_guid;
	stage_run(&s, 100);
	stage_receive_other(&s, 1, &i);
	stage_run(&s, 30000);
	assert_string_equal(fm_problem(s.fm, 0)->kind, "wave");
	stage_run(&s, 30200);
	assert_null(fm_problem(s.fm, 0));
	stage_end(&s);
}

/* Return: the text of the only problem; NULL if there is none. */
static const char *problem_text(void)
{
	const struct fm_problem *p = fm_problem(s.fm, 0);

	assert_null(fm_problem(s.fm, 1));
	if (p)
		assert_string_equal(p->kind, "fabric");
	return p ? p->text : NULL;
}

/*
 * A neighbour's NIC with which this NIC cannot bring a link up is a problem, until either is
 * replaced.
 */
static void mismatched_nic_is_problem_until_replaced(void **state)
{
	static const struct {
		unsigned int reason, differs;
		uint32_t own, peer;
		uint64_t guid;
		const char *text;
	} t[] = {
		{ TORUS_REASON_BUBBLE, TORUS_DIFFERS_BUBBLE, 2, 0, 0x105,
		  "has bubble=mbs, port -y of node 0000000000000105 has bubble=bloc" },
		{ TORUS_REASON_BUBBLE, TORUS_DIFFERS_BUBBLE, 1, 7, 0x105,
		  "has bubble=cbs, port -y of node 0000000000000105 has bubble=7" },
		{ TORUS_REASON_MISMATCH, TORUS_DIFFERS_PAYLOAD_MAX, 4096, 1024, 0x105,
		  "has payload_max=4096, port -y of node 0000000000000105 has payload_max=1024" },
		{ TORUS_REASON_MISMATCH, TORUS_DIFFERS_RETRY, 3, 1, 0x105,
		  "has retry=hippi, port -y of node 0000000000000105 has retry=angara" },
		{ TORUS_REASON_MISMATCH, TORUS_DIFFERS_SLOTS, 2, 1, 0x105,
		  "needs slots=2, port -y of node 0000000000000105 has slots=1" },
		{ TORUS_REASON_MISMATCH, TORUS_DIFFERS_WIRE, 5, 6, 0,
		  "has wire=5, the other end has wire=6" },
		{ TORUS_REASON_MISMATCH, TORUS_DIFFERS_NOTHING, 0, 0, 0x105,
		  "and port -y of node 0000000000000105 have different parameters (mismatch)" },
	};

	(void)state;
	for (size_t n = 0; n < sizeof(t) / sizeof(t[0]); n++) {
		struct torus_link *l = &s.link[1];
		char text[512], who[FM_WHO_MAX];

		joined();
		for (unsigned int k = 0; k < 3; k++) {
			*l = (struct torus_link) {
				.port = 1, .state = TORUS_LINK_INIT, .carrier = true,
				.admin = true, .reason = (uint8_t)t[n].reason,
				.peer_guid = t[n].guid, .peer_port = 3,
				.differs = (uint8_t)t[n].differs, .differs_own = t[n].own,
				.differs_peer = t[n].peer,
			};
			stage_report_link(&s, 1);
			snprintf(text, sizeof(text), "no link comes up: port +y of node %s %s",
				 fm_table_name(s.fm, s.dev.guid, who), t[n].text);
			assert_string_equal(problem_text(), text);
			/* the neighbour speaks another wire version */
			l->state = TORUS_LINK_FAULTY;
			stage_report_link(&s, 1);
			assert_string_equal(problem_text(), text);
			switch (k) {
			case 0: l->carrier = false; break;
			case 1: l->admin = false; break;
			case 2: l->reason = TORUS_REASON_NONE; break;
			}
			stage_report_link(&s, 1);
			assert_null(problem_text());
		}
		stage_end(&s);
	}
}

/*
 * Mismatched or old NICs of links from before the manager began are found, although the NIC sends
 * no event for them.
 */
static void mismatches_from_before_start_are_found(void **state)
{
	(void)state;
	stage_init(&s, "4x4", 1);
	s.link[1] = (struct torus_link) {
		.port = 1, .state = TORUS_LINK_INIT, .carrier = true, .admin = true,
		.reason = TORUS_REASON_BUBBLE, .peer_guid = 0x105, .peer_port = 3,
		.differs = TORUS_DIFFERS_BUBBLE, .differs_own = TORUS_BUBBLE_MBS,
	};
	stage_start(&s);
	assert_non_null(problem_text());
	assert_non_null(strstr(problem_text(), "has bubble=mbs, "));
	s.link[1].state = TORUS_LINK_UP;
	s.link[1].reason = TORUS_REASON_NONE;
	stage_report_link(&s, 1);
	assert_null(problem_text());
	stage_end(&s);
}

/* A NIC of an earlier release is named as long as the link to it is up. */
static void nic_of_earlier_release_is_problem_while_link_is_up(void **state)
{
	struct torus_link *l = &s.link[1];
	const struct fm_problem *p;

	(void)state;
	joined();
	for (uint64_t wire = 0; wire <= 6; wire++) {
		l->gauge[TORUS_PG_WIRE] = wire;
		stage_link_up(&s, 1, 2);
		p = fm_problem(s.fm, 0);
		assert_int_equal(!!p, wire && wire < 5);
		if (wire == 4) {
			assert_string_equal(p->kind, "release");
			assert_non_null(strstr(p->text, "port +y of node"));
			assert_non_null(strstr(p->text, "speak wire version 4"));
		}
	}
	l->gauge[TORUS_PG_WIRE] = 4;
	stage_link_up(&s, 1, 2);
	assert_non_null(fm_problem(s.fm, 0));
	stage_link_lost(&s, 1, 0);
	assert_null(fm_problem(s.fm, 0));
	stage_end(&s);
}

/* The numbers of problems in the row are fixed, and a new session of the link has no problem. */
static void row_has_number_of_problem_until_next_session(void **state)
{
	struct fm_init i;

	(void)state;
	joined();
	i = stage_neighbour(&s, 1);
	strcpy(i.fabric, "other");
	stage_receive(&s, 1, &i);
	stage_did_some(&s, "u102.2 u105.3,problem1 u100.0 u10d.1\n");
	i = stage_neighbour(&s, 1);
	i.root_guid = 0xbc;
	stage_receive(&s, 1, &i);
	stage_did_some(&s, "u102.2 u105.3,problem2 u100.0 u10d.1\n");
	stage_link_up(&s, 1, 2);
	stage_did_some(&s, "u102.2 u105.3 u100.0 u10d.1\n");
	stage_receive(&s, 1, &i);
	stage_did_some(&s, "u105.3,problem2");
	stage_link_lost(&s, 1, 4);
	stage_did_some(&s, "u102.2 f105.3,s2/4,closed u100.0 u10d.1\n");
	stage_end(&s);
}

/* Another root is followed only when the way to the former one is lost. */
static void other_root_is_followed_only_if_former_is_lost(void **state)
{
	struct fm_init i;

	(void)state;
	joined();
	i = stage_neighbour(&s, 0);
	i.root_guid = 0xbc;
	strcpy(i.root_address, "30.9.9.9:9");
	stage_receive(&s, 0, &i);
	stage_did_no(&s, "connect");
	stage_down(&s, 1);
	stage_forget(&s);
	/* A root of another fabric is not followed. */
	strcpy(i.fabric, "other");
	stage_receive(&s, 0, &i);
	stage_did_no(&s, "gives way");
	/* The root does not give way to a node that only asks. */
	strcpy(i.fabric, "fab");
	i.placed = false;
	stage_receive(&s, 0, &i);
	stage_did_no(&s, "gives way");
	i.placed = true;
	i.position[0] = 7;
	i.position[1] = 6;
	i.size[0] = i.size[1] = 9;
	s.deaf = "hello ";
	stage_receive(&s, 0, &i);
	stage_run(&s, 6);
	assert_non_null(strstr(s.text, "log warning root: root 0000000000000100 gives way to "
				       "00000000000000bc\n"));
	assert_non_null(strstr(s.text, "log info bootstrap: "
				 "this node takes its position from node 'n2' at port +x\n"));
	assert_non_null(strstr(s.text, "connect 30.9.9.9:9: 2\n"));
	assert_int_equal(stage_count(&s, "6/9 6/9 root bc 30.9.9.9:9\n"), 4);
	/* The neighbour at port 2 was heard when the root was another: it says again whom it obeys. */
	assert_non_null(strstr(s.text, "init 0: heard 6/9"));
	assert_non_null(strstr(s.text, "init 2: 6/9"));
	stage_end(&s);
}

/*
 * If two roots have the same epoch, the one with the greater GUID is the later one. A node that has
 * no table yet follows the later one, whether or not the other has answered already.
 */
static void greater_guid_wins_between_roots_of_one_epoch(void **state)
{
	struct fm_init i;

	(void)state;
	for (unsigned int answered = 0; answered < 2; answered++) {
		if (answered) {
			joined();
		} else {
			stage_init(&s, "4x4", 1);
			stage_start(&s);
			stage_link_up(&s, 0, 1);
			stage_link_up(&s, 2, 1);
			i = stage_neighbour(&s, 2);
			stage_receive(&s, 2, &i);
		}
		i = stage_neighbour(&s, 0);
		i.root_guid = 0xbc;
		stage_receive(&s, 0, &i);
		stage_did_no(&s, "gives way");
		i.root_guid = 0xabc;
		strcpy(i.root_address, "30.9.9.9:9");
		stage_forget(&s);
		stage_receive(&s, 0, &i);
		assert_non_null(strstr(s.text, "gives way to 0000000000000abc\n"));
		assert_non_null(strstr(s.text, "connect 30.9.9.9:9"));
		stage_forget(&s);
		i = stage_neighbour(&s, 2);
		stage_receive(&s, 2, &i);
		stage_did_no(&s, "gives way to 0000000000000100");
		stage_end(&s);
	}
}

/* Both ends of a cable between nodes of two roots report it to their roots. */
static void init_of_earlier_root_is_answered_once(void **state)
{
	struct fm_init i;

	(void)state;
	joined();
	s.deaf = "log row ";
	i = stage_neighbour(&s, 0);
	i.root_guid = 0xbc;
	stage_receive(&s, 0, &i);
	stage_run(&s, 6);
	assert_int_equal(stage_count(&s, "init 0: heard 1/4 0/4"), 1);
	i.received = true;
	stage_receive(&s, 0, &i);
	stage_forget(&s);
	/*
	 * The neighbour's root is the earlier one: each of its Inits is answered once, for its
	 * root may begin to lead after the neighbour learned of the later one.
	 */
	stage_run(&s, 10000);
	assert_int_equal(stage_count(&s, "init 0"), 1);
	stage_forget(&s);
	stage_run(&s, 20000);
	stage_did_no(&s, "init 0");
	stage_end(&s);
}

/* A new address of the same root is used only when the way to it is lost. */
static void new_address_of_root_is_used_only_if_way_is_lost(void **state)
{
	struct fm_init i;

	(void)state;
	joined();
	i = stage_neighbour(&s, 0);
	i.received = true;
	stage_receive(&s, 0, &i);
	stage_forget(&s);
	strcpy(i.root_address, "30.9.9.9:9");
	stage_receive(&s, 0, &i);
	stage_did_nothing(&s);
	stage_down(&s, 1);
	stage_forget(&s);
	strcpy(i.root_address, "30.0.0.0:1");
	stage_receive(&s, 0, &i);
	stage_did_nothing(&s);
	strcpy(i.root_address, "30.9.9.9:9");
	stage_receive(&s, 0, &i);
	stage_did(&s, "connect 30.9.9.9:9: 2\n");
	stage_end(&s);
}

/* A root that was given up for another one, which cannot be reached, is followed again. */
static void given_up_root_is_followed_again(void **state)
{
	struct fm_init i;

	(void)state;
	joined();
	stage_down(&s, 1);
	stage_forget(&s);
	i = stage_neighbour(&s, 0);
	i.root_guid = 0xbc;
	i.ndims = 3;
	i.size[2] = 3;
	stage_receive(&s, 0, &i);
	stage_did_some(&s, "is in a fabric of 3 dimensions");
	i = stage_neighbour(&s, 0);
	stage_receive(&s, 0, &i);
	stage_run(&s, 100);
	stage_did_some(&s, "connect 30.0.0.0:1: 2\n");
	stage_end(&s);
}

/* A neighbour that has heard, but has no position, gets Inits until it has one. */
static void unplaced_neighbour_gets_inits_until_placed(void **state)
{
	struct fm_init i;

	(void)state;
	joined();
	stage_run(&s, 25);
	s.deaf = "log row ";
	i = stage_neighbour(&s, 0);
	i.placed = false;
	i.received = true;
	stage_receive(&s, 0, &i);
	stage_run(&s, 1000);
	assert_int_equal(stage_count(&s, "init 0: 1/4 0/4"), 5);
	stage_end(&s);
}

/* A root keeps its own place and shape, whatever Inits say. */
static void root_keeps_its_place_and_shape(void **state)
{
	struct fm_init i;

	(void)state;
	stage_init(&s, "4x4", 0);
	s.deaf = "init ";
	stage_start(&s);
	stage_link_up(&s, 0, 1);
	stage_run(&s, 1);
	stage_forget(&s);
	i = stage_neighbour(&s, 0);
	i.root_guid = 0xbc;
	stage_receive(&s, 0, &i);
	stage_did(&s, "log error root: two roots: node 'n1' at port +x obeys 00000000000000bc "
		      "at 30.0.0.0:1, this one 'n0' at 30.0.0.0:1\n");
	i = stage_neighbour(&s, 0);
	i.position[0] = 3;
	stage_receive(&s, 0, &i);
	stage_did(&s, "log info root: over: two roots: node 'n1' at port +x obeys 00000000000000bc "
		      "at 30.0.0.0:1, this one 'n0' at 30.0.0.0:1\n"
		      "log error wave: 0,0:+x ('n0') is cabled to 3,0:-x ('n1'), expected 1,0:-x, "
		      "by the Inits of neighbours: leads to the wrong node\n");
	/* Inits do not change the root's address either. */
	strcpy(i.root_address, "30.9.9.9:9");
	stage_receive(&s, 0, &i);
	stage_did_nothing(&s);
	s.deaf = "log ";
	stage_run(&s, 2);
	stage_did(&s, "init 0: heard 0/4 0/4 root 100 30.0.0.0:1\n");
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(init_is_repeated_ever_more_seldom_until_answered),
		cmocka_unit_test(neighbour_without_init_is_answered_twice_at_most),
		cmocka_unit_test(init_at_each_port_implies_position),
		cmocka_unit_test(position_wraps_where_size_is_known),
		cmocka_unit_test(cable_between_wrong_ports_gives_no_position),
		cmocka_unit_test(placed_nic_keeps_place_after_restart),
		cmocka_unit_test(no_init_is_sent_by_spare_port),
		cmocka_unit_test(neighbour_of_other_fabric_or_shape_is_problem),
		cmocka_unit_test(problem_ends_when_link_to_wrong_neighbour_is_lost),
		cmocka_unit_test(init_of_another_sender_is_ignored),
		cmocka_unit_test(another_sender_is_a_problem_for_30_s),
		cmocka_unit_test(mismatched_nic_is_problem_until_replaced),
		cmocka_unit_test(mismatches_from_before_start_are_found),
		cmocka_unit_test(nic_of_earlier_release_is_problem_while_link_is_up),
		cmocka_unit_test(row_has_number_of_problem_until_next_session),
		cmocka_unit_test(other_root_is_followed_only_if_former_is_lost),
		cmocka_unit_test(greater_guid_wins_between_roots_of_one_epoch),
		cmocka_unit_test(init_of_earlier_root_is_answered_once),
		cmocka_unit_test(new_address_of_root_is_used_only_if_way_is_lost),
		cmocka_unit_test(given_up_root_is_followed_again),
		cmocka_unit_test(unplaced_neighbour_gets_inits_until_placed),
		cmocka_unit_test(root_keeps_its_place_and_shape),
	};

	return cmocka_run_group_tests_name("fm_bootstrap", all, NULL, NULL);
}
