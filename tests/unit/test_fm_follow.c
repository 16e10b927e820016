// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the root that a node follows while none leads: it meets a root that asks and has gone,
 * one that has claimed, one that knows less of the fabric than the node, and one whose host takes a
 * connection and whose manager hangs.
 */
#include "daemon/fm/clock.h"
#include "daemon/fm/node/bootstrap.h"
#include "daemon/fm/node/machine.h"
#include "stage_member.h"

#define OTHER (NIC + 3)	/* another node that asks to be root */

static struct fm_init asks_init(unsigned int port, uint64_t root, uint64_t epoch)
{
	struct fm_init i = stage_neighbour(&s, port);

	i.asks = true;
	i.root_guid = root;
	i.epoch = epoch;
	return i;
}

static void claim(uint64_t epoch)
{
	struct fm_msg m = { .type = FM_MSG_CLAIM,
			    .claim = { .epoch = epoch, .guid = s.fm->root_guid } };

	stage_msg(&s, 1, &m);
}

/*
 * No root has led the node. The root that it follows, which asks, refuses it, and the node follows
 * another.
 */
static void node_leaves_asking_root_that_refuses_it(void **state)
{
	struct fm_init i;

	(void)state;
	node_1();
	stage_start(&s);
	i = asks_init(2, OTHER, TERM);
	stage_receive(&s, 2, &i);
	stage_up(&s, 1);
	stage_refuse(&s, 1, "this node is not the root");
	assert_false(s.fm->have_root);
	stage_forget(&s);
	/* The node asks all neighbours, also those whose Inits it has received. */
	stage_run(&s, 1);
	s.deaf = "ping ";
	stage_run(&s, 200);
	stage_did_some(&s, "init 2:");
	/* A root with a lesser GUID. */
	i = asks_init(2, NIC, TERM);
	stage_receive(&s, 2, &i);
	stage_did_some(&s, "connect");
	assert_int_equal(s.fm->root_guid, NIC);
	stage_end(&s);
}

static bool has_problem(const char *part)
{
	const struct fm_problem *p;

	for (unsigned int i = 0; (p = fm_problem(s.fm, i)); i++)
		if (!strcmp(p->kind, "root") && strstr(p->text, part))
			return true;
	return false;
}

/*
 * A node that has had no root for 30 s reports it: from the time when it began, and from the time
 * when it lost its root.
 */
static void node_without_root_for_30_s_reports_it(void **state)
{
	static const char text[] = "no Init has named a root for 30 s";
	struct fm_init i;

	(void)state;
	node_1();
	stage_start(&s);
	stage_run(&s, 29999);
	assert_false(has_problem(text));
	stage_run(&s, 30000);
	assert_true(has_problem(text));
	i = asks_init(2, OTHER, TERM);
	stage_receive(&s, 2, &i);
	stage_run(&s, 30100);
	assert_false(has_problem(text));
	stage_up(&s, 1);
	stage_refuse(&s, 1, "this node is not the root");
	assert_false(s.fm->have_root);
	stage_run(&s, 60099);
	assert_false(has_problem(text));
	stage_run(&s, 60100);
	assert_true(has_problem(text));
	stage_end(&s);
}

/*
 * No root has led the node. An asking node refuses it, or cannot be reached; neighbours name that
 * one again and again, and for a while the node does not follow it, but another.
 */
static void asking_root_that_refuses_is_shunned_for_a_time(void **state)
{
	(void)state;
	for (unsigned int refuses = 0; refuses < 2; refuses++) {
		struct fm_init i, other;
		uint64_t shuns;

		node_1();
		s.cfg.takeover = 200 * MS;
		stage_start(&s);
		i = asks_init(2, OTHER, TERM);
		other = asks_init(0, NIC, TERM);
		stage_receive(&s, 2, &i);
		assert_int_equal(s.fm->root_guid, OTHER);
		if (refuses) {
			stage_up(&s, 1);
			stage_refuse(&s, 1, "'n1' obeys epoch 5000");
		} else {
			/* Once may be by chance: it is followed again. */
			stage_down(&s, 1);
			stage_receive(&s, 2, &i);
			assert_int_equal(s.fm->root_guid, OTHER);
			stage_down(&s, s.next_conn - 1);
		}
		shuns = s.now + 2 * s.cfg.takeover + 10 * s.cfg.resend;
		stage_receive(&s, 2, &i);
		assert_false(s.fm->have_root);
		stage_run_ns(&s, shuns - 1);
		stage_receive(&s, 2, &i);
		assert_false(s.fm->have_root);
		if (refuses) {
			stage_receive(&s, 0, &other);
			assert_int_equal(s.fm->root_guid, NIC);
		} else {
			stage_run_ns(&s, shuns);
			stage_receive(&s, 2, &i);
			assert_int_equal(s.fm->root_guid, OTHER);
		}
		stage_end(&s);
	}
}

/*
 * Two nodes ask. No connection comes up to the one of the greater GUID: the node follows the other one,
 * and does not turn back to the first as soon as a neighbour names that again.
 */
static void node_follows_other_if_greater_is_unreachable(void **state)
{
	struct fm_msg m = { .type = FM_MSG_CLAIM, .claim = { .guid = NIC } };
	struct fm_init i, other;
	uint64_t failed;

	(void)state;
	node_1();
	stage_start(&s);
	i = asks_init(2, OTHER, TERM);
	other = asks_init(0, NIC, TERM);
	stage_receive(&s, 2, &i);
	stage_down(&s, 1);
	failed = s.now;
	stage_receive(&s, 0, &other);
	assert_int_equal(s.fm->root_guid, NIC);
	stage_up(&s, s.next_conn - 1);
	stage_msg(&s, s.next_conn - 1, &m);
	stage_receive(&s, 2, &i);
	assert_int_equal(s.fm->root_guid, NIC);
	stage_run_ns(&s, failed + 10 * s.cfg.resend - 1);
	stage_receive(&s, 2, &i);
	assert_int_equal(s.fm->root_guid, NIC);
	/* The failed connection may have been by chance, and is long ago. */
	stage_run_ns(&s, failed + 10 * s.cfg.resend);
	stage_receive(&s, 2, &i);
	assert_int_equal(s.fm->root_guid, OTHER);
	stage_end(&s);
}

/*
 * No root has led the node, so it names an asking node to its neighbours at once; the host of that
 * one takes the connection, but no manager answers.
 */
static void node_leaves_asking_root_that_hangs(void **state)
{
	struct fm_init i;
	uint64_t ends;

	(void)state;
	node_1();
	stage_start(&s);
	i = asks_init(2, OTHER, TERM);
	stage_receive(&s, 2, &i);
	stage_up(&s, 1);
	ends = s.now + 5 * s.cfg.resend;
	stage_run_ns(&s, ends - 1);
	assert_int_equal(s.fm->root_guid, OTHER);
	assert_true(s.fm->have_root);
	stage_run_ns(&s, ends);
	assert_false(s.fm->have_root);
	stage_did_some(&s, "close 1");
	stage_end(&s);
}

/*
 * The root that led the node last begins anew, and asks. The node tries to reach it since a time
 * when it was cut off.
 */
static void try_from_before_root_asked_is_made_anew_once(void **state)
{
	struct fm_init i;

	(void)state;
	in_force();
	stage_down(&s, 1);
	stage_wait(&s, "connect 30.0.0.0:1");
	i = asks_init(2, NIC, TERM);
	i.guid = NIC + 2;
	stage_receive(&s, 2, &i);
	assert_int_equal(stage_count(&s, "connect 30.0.0.0:1"), 1);
	stage_did_some(&s, "close ");
	/* Now it is known to ask. */
	stage_receive(&s, 2, &i);
	stage_did_no(&s, "connect");
	stage_end(&s);
}

static unsigned int hellos, last;	/* number of HELLOs, and the connection of the last one */

static void counts_hellos(int conn, const struct fm_msg *msg)
{
	hellos += msg->type == FM_MSG_HELLO;
	if (msg->type == FM_MSG_HELLO)
		last = (unsigned int)conn;
}

/*
 * The host of the root was replaced, and no link leads from the node to the new one, which answers
 * at the same address: by a claim, or a welcome. The node asks to be root, as it would if nothing
 * answered there, and goes on trying whether its root is back.
 */
static void candidate_ignores_other_root_at_old_address(void **state)
{
	(void)state;
	for (unsigned int welcomes = 0; welcomes < 2; welcomes++) {
		struct fm_msg m = { .type = welcomes ? FM_MSG_WELCOME : FM_MSG_CLAIM };
		unsigned int next = 2, answered = 0;

		m.claim.guid = OTHER;
		m.claim.epoch = TERM + 1;
		if (welcomes)
			m.welcome = (struct fm_welcome) { .root_guid = OTHER, .term = TERM + 1 };
		node_1();
		s.cfg.takeover = 200 * MS;
		joins();
		table(1);
		hellos = 0;
		s.sees = counts_hellos;
		stage_down(&s, 1);
		for (unsigned int i = 0; i < 40 && !fm_is_root(s.fm) && !s.fm->root; i++) {
			stage_forget(&s);
			stage_run_ns(&s, s.now + 50 * MS);
			if (stage_count(&s, "connect 30.0.0.0:1"))
				stage_up(&s, (int)next++);
			if (hellos > answered) {
				answered = hellos;
				stage_msg(&s, (int)last, &m);
			}
		}
		s.sees = NULL;
		assert_true(answered > 0);
		assert_non_null(s.fm->root);
		assert_int_not_equal(s.fm->term, TERM + 1);
		stage_end(&s);
	}
}

/* Return: the address of the root in the Inits of this node. */
static const char *sent_address(void)
{
	struct fm_init i;
	static char address[FM_ADDR_MAX];

	fm_bootstrap_fill(s.fm, &i);
	strcpy(address, i.root_address);
	return address;
}

/*
 * The manager of the root begins anew at another address, and asks, while the node tries the former
 * one. The node learns the address from an Init of the root itself, or of another node in a later
 * epoch.
 */
static void restarted_root_is_followed_to_new_address(void **state)
{
	struct fm_init i;

	(void)state;
	for (unsigned int direct = 0; direct < 2; direct++) {
		in_force();
		stage_down(&s, 1);
		stage_wait(&s, "connect 30.0.0.0:1");
		i = asks_init(2, NIC, TERM + !direct);
		strcpy(i.root_address, "30.9.9.9:9");
		i.guid = direct ? NIC : NIC + 2;
		stage_receive(&s, 2, &i);
		stage_did_some(&s, "connect 30.9.9.9:9");
		assert_string_equal(sent_address(), "30.9.9.9:9");
		/* An Init of the same epoch, from a neighbour that does not know it yet. */
		strcpy(i.root_address, "30.0.0.0:1");
		i.guid = NIC + 2;
		stage_receive(&s, 2, &i);
		assert_string_equal(sent_address(), "30.9.9.9:9");
		/* The root asks on, from a third address. */
		strcpy(i.root_address, "30.8.8.8:8");
		i.epoch++;
		stage_receive(&s, 2, &i);
		stage_did_some(&s, "connect 30.8.8.8:8");
		assert_string_equal(sent_address(), "30.8.8.8:8");
		stage_end(&s);
	}
}

/*
 * A root leads the node over a connection to its former address, and its Init has another address
 * now.
 */
static void new_address_of_connected_root_is_used_after_loss(void **state)
{
	struct fm_init i;

	(void)state;
	in_force();
	i = stage_neighbour(&s, 2);
	i.epoch = TERM;
	strcpy(i.root_address, "30.9.9.9:9");
	i.guid = NIC + 2;
	stage_receive(&s, 2, &i);
	assert_string_equal(sent_address(), "30.0.0.0:1");
	i.guid = NIC;
	stage_receive(&s, 2, &i);
	assert_string_equal(sent_address(), "30.9.9.9:9");
	stage_did_no(&s, "connect");
	stage_down(&s, 1);
	stage_wait(&s, "connect 30.9.9.9:9");
	stage_end(&s);
}

/*
 * No root has led the node. It passes on that a root is lost as it was reported, also if it learns
 * that only by a refusal: otherwise an asking node would give way to a root that no node follows.
 */
static void lost_root_is_passed_on_as_reported(void **state)
{
	struct fm_init i, own_init;

	(void)state;
	for (unsigned int lost = 0; lost < 2; lost++) {
		node_1();
		stage_start(&s);
		i = stage_neighbour(&s, 2);
		i.lost = lost;
		stage_receive(&s, 2, &i);
		fm_bootstrap_fill(s.fm, &own_init);
		assert_int_equal(own_init.root_guid, NIC);
		assert_int_equal(own_init.lost, lost);
		stage_up(&s, 1);
		s.deaf = "ping ";
		stage_refuse(&s, 1, "this node is not the root");
		fm_bootstrap_fill(s.fm, &own_init);
		assert_int_equal(own_init.root_guid, NIC);
		assert_true(own_init.lost && !own_init.asks);
		if (!lost)
			stage_wait(&s, "init 2:");
		stage_end(&s);
	}
}

/* A node that has taken a claim follows no node that asks in the epoch before. */
static void node_with_claim_ignores_asking_node_of_epoch_before(void **state)
{
	struct fm_init i;

	(void)state;
	node_1();
	stage_start(&s);
	i = stage_neighbour(&s, 2);
	i.lost = true;
	i.epoch = TERM;
	stage_receive(&s, 2, &i);
	stage_up(&s, 1);
	claim(TERM + 1);
	assert_int_equal(s.fm->root_epoch, TERM + 1);
	stage_forget(&s);
	i = asks_init(0, OTHER, TERM);
	stage_receive(&s, 0, &i);
	assert_int_equal(s.fm->root_guid, NIC);
	stage_did_no(&s, "connect");
	stage_end(&s);
}

/*
 * The followed node, which asks, has learned of a later epoch: the node's Inits name that to other
 * neighbours.
 */
static void later_epoch_of_asking_root_is_passed_on(void **state)
{
	struct fm_init i;

	(void)state;
	in_force();
	stage_down(&s, 1);
	i = asks_init(2, OTHER, TERM + 1);
	stage_receive(&s, 2, &i);
	s.deaf = "ping log ";
	stage_run(&s, (double)(s.now / MS) + 10);
	stage_forget(&s);
	i.epoch = TERM + 3;
	stage_receive(&s, 2, &i);
	assert_int_equal(s.fm->root_epoch, TERM + 3);
	stage_run(&s, (double)(s.now / MS) + 1);
	assert_true(stage_count(&s, "init 0:") > 0);
	stage_did_no(&s, "connect");
	/* An Init that is late changes nothing. */
	i.epoch = TERM + 2;
	stage_receive(&s, 2, &i);
	assert_int_equal(s.fm->root_epoch, TERM + 3);
	stage_end(&s);
}

/*
 * A node that asks answers a ping: it has no way to a root, but it lives, so neighbours may follow
 * it.
 */
static void asking_root_that_answers_ping_is_not_lost(void **state)
{
	struct fm_msg pong = { .type = FM_MSG_PONG, .pong = { .adrift = true } };
	struct fm_msg m = { .type = FM_MSG_WELCOME };
	struct fm_init i;

	(void)state;
	in_force();
	stage_down(&s, 1);
	i = asks_init(2, OTHER, TERM + 1);
	stage_receive(&s, 2, &i);
	stage_up(&s, 2);
	m.welcome = (struct fm_welcome) { .term = TERM + 1, .root_guid = OTHER, .adrift = true };
	stage_msg(&s, 2, &m);
	assert_false(s.fm->root_lost);
	stage_msg(&s, 2, &pong);
	assert_false(s.fm->root_lost);
	assert_true(s.fm->root_asks && s.fm->cut_off);
	stage_end(&s);
}

/* The place in the node's Init is well formed, though the asking root knows no shape yet. */
static void init_is_well_formed_without_shape_of_root(void **state)
{
	struct fm_init i;

	(void)state;
	in_force();
	stage_down(&s, 1);
	s.deaf = "ping log ";
	i = asks_init(2, OTHER, TERM + 1);
	memset(i.size, 0, sizeof(i.size));
	stage_forget(&s);
	stage_receive(&s, 2, &i);
	stage_run(&s, 60);
	assert_true(stage_count(&s, "init 0:") > 0);
	stage_did_no(&s, "malformed");
	stage_end(&s);
}

/*
 * A host takes the connection, and no manager answers. The node is a candidate, and asks to be root
 * itself.
 */
static void candidate_below_hanging_root_asks(void **state)
{
	double at, until;

	(void)state;
	node_1();
	s.cfg.takeover = 200 * MS;
	joins();
	table(1);
	stage_down(&s, 1);
	at = (double)(s.now / MS);
	for (until = at + 2000; !s.fm->is_root && at < until; at += 50) {
		if (stage_count(&s, "connect 30.0.0.0:1"))
			stage_up(&s, s.next_conn - 1);
		stage_forget(&s);
		stage_run(&s, at);
	}
	assert_true(s.fm->is_root);
	stage_end(&s);
}

/*
 * A root that asks no more had refused this node, which is to be root itself now: the refusal is no
 * problem any more.
 */
static void refusal_is_no_problem_once_node_is_root(void **state)
{
	double until;

	(void)state;
	node_1();
	s.cfg.takeover = 200 * MS;
	joins();
	table(1);
	stage_down(&s, 1);
	stage_run(&s, (double)(s.now / MS) + 100);
	stage_up(&s, s.next_conn - 1);
	stage_refuse(&s, s.next_conn - 1, "this node is not the root");
	assert_string_equal(fm_problem(s.fm, 0)->kind, "refused");
	for (until = (double)(s.now / MS) + 2000; !s.fm->is_root && (double)(s.now / MS) < until;)
		stage_run(&s, (double)(s.now / MS) + 50);
	assert_true(s.fm->is_root);
	assert_null(fm_problem(s.fm, 0));
	stage_end(&s);
}

/*
 * The root that led the node last is lost for good. Its neighbours obey a root of an earlier epoch,
 * which hung and has not learned of the later one. The node has to inform that root of it, because
 * otherwise it would not ask all nodes anew.
 */
static void root_of_earlier_epoch_is_followed_if_own_is_lost(void **state)
{
	struct fm_init i;

	(void)state;
	in_force();
	stage_down(&s, 1);
	i = stage_neighbour(&s, 2);
	i.root_guid = OTHER;
	i.epoch = TERM - 1;
	strcpy(i.root_address, "30.0.0.3:1");
	stage_receive(&s, 2, &i);
	assert_int_equal(s.fm->root_guid, NIC);
	stage_run(&s, (double)(s.now / MS) + 2000);
	stage_forget(&s);
	stage_receive(&s, 2, &i);
	assert_int_equal(s.fm->root_guid, OTHER);
	stage_did_some(&s, "connect 30.0.0.3:1");
	stage_end(&s);
}

/* Neighbours say that the root leads, but the service network does not lead there. */
static void leading_root_out_of_reach_is_reported(void **state)
{
	static const char text[] =
		"says that root 'n0' (0,0) leads, but this node does not reach it at 30.0.0.0:1";
	double lost;
	struct fm_init i;

	(void)state;
	in_force();
	stage_down(&s, 1);
	lost = (double)(s.now / MS);
	i = stage_neighbour(&s, 2);
	stage_run(&s, lost + 900);
	stage_receive(&s, 2, &i);
	assert_false(has_problem("check the service network"));
	stage_run(&s, lost + 1100);
	stage_receive(&s, 2, &i);
	assert_true(has_problem(text));
	/*
	 * The problem ends when the root leads this node again, or some time after the last such
	 * Init.
	 */
	stage_run(&s, lost + 31000);
	assert_true(has_problem(text));
	stage_run(&s, lost + 31200);
	assert_false(has_problem(text));
	stage_receive(&s, 2, &i);
	assert_true(has_problem(text));
	stage_up(&s, s.next_conn - 1);
	stage_welcome(&s, s.next_conn - 1, TERM, "");
	assert_false(has_problem(text));
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(leading_root_out_of_reach_is_reported),
		cmocka_unit_test(node_leaves_asking_root_that_refuses_it),
		cmocka_unit_test(node_without_root_for_30_s_reports_it),
		cmocka_unit_test(asking_root_that_refuses_is_shunned_for_a_time),
		cmocka_unit_test(node_follows_other_if_greater_is_unreachable),
		cmocka_unit_test(node_leaves_asking_root_that_hangs),
		cmocka_unit_test(try_from_before_root_asked_is_made_anew_once),
		cmocka_unit_test(candidate_ignores_other_root_at_old_address),
		cmocka_unit_test(restarted_root_is_followed_to_new_address),
		cmocka_unit_test(new_address_of_connected_root_is_used_after_loss),
		cmocka_unit_test(lost_root_is_passed_on_as_reported),
		cmocka_unit_test(node_with_claim_ignores_asking_node_of_epoch_before),
		cmocka_unit_test(later_epoch_of_asking_root_is_passed_on),
		cmocka_unit_test(asking_root_that_answers_ping_is_not_lost),
		cmocka_unit_test(init_is_well_formed_without_shape_of_root),
		cmocka_unit_test(candidate_below_hanging_root_asks),
		cmocka_unit_test(refusal_is_no_problem_once_node_is_root),
		cmocka_unit_test(root_of_earlier_epoch_is_followed_if_own_is_lost),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
