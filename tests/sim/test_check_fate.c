// SPDX-License-Identifier: GPL-2.0-only
/* The checkers of holds, colours and packets find errors: each test makes one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "check_impl.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/root/facts.h"
#include "kernel/core/nic_impl.h"
#include "trial.h"

#define VICTIM 4
#define CABLE (2 * VICTIM)	/* at port +x of VICTIM, to node 5 */
#define FAR_CABLE 0		/* at port +x of node 0; no path of the victim leads over it */

static struct trial s;

static void begin_with(uint64_t latency)
{
	struct world_config c;

	trial_config(&c, "3x3", 1);
	c.link_latency = latency ? latency : c.link_latency;
	c.member_max = 300 * MS;
	trial_begin(&s, &c);
	trial_power_all(&s);
	trial_rest(&s, 10 * SEC);
	trial_traffic(&s, 20 * US);
	world_run(s.w, 20 * MS);
}

static void begin(void)
{
	begin_with(0);
}

static void end(const char *found)
{
	const char *wrong = check_flow_wrong(s.flow);

	if (!wrong || !strstr(wrong, found))
		fail_msg("'%s' not found, but: %s", found, wrong ? wrong : "nothing");
	world_free(s.w);
	check_flow_free(s.flow);
}

/* All packets have arrived, and nothing is wrong. */
static void empty(void)
{
	trial_traffic(&s, 0);
	world_run(s.w, 20 * MS);
	assert_int_equal(check_flow_alive(s.flow), 0);
	assert_null(check_flow_end(s.flow));
}

static struct tn_nic *victim(void)
{
	return s.w->node[VICTIM].nic;
}

/* Cuts the victim's cable, and runs until its NIC has parked a packet that had not left by it. */
static void park(struct world_packet *id)
{
	world_cut(s.w, CABLE, true);
	for (unsigned int i = 0; i < 10000; i++) {
		for (struct tn_pkt *p = victim()->park.q.head; p; p = p->next)
			if (p->hdr.vc != TORUS_VC_A && nic_packet(p, id) && id->dst != VICTIM &&
			    !p->unresolved)
				return;
		world_run(s.w, 1 * US);
	}
	fail_msg("no packet is parked");
}

/* --- holds ---------------------------------------------------------------------------------- */

static void (*write_rows)(void *io, uint32_t tag, uint64_t version, const uint32_t *node,
			  const uint64_t *row, uint32_t n);
static uint64_t no_holds;	/* no changed row is put on hold from this version on */

static void forget_holds(void *io, uint32_t tag, uint64_t version, const uint32_t *node,
			 const uint64_t *row, uint32_t n)
{
	uint64_t rows[9];

	assert_in_range(n, 0, 9);
	for (uint32_t i = 0; i < n; i++)
		rows[i] = row[i] & ~(version >= no_holds ? TORUS_ROW_HOLD : 0);
	write_rows(io, tag, version, node, rows, n);
}

/* The victim's manager puts no changed row on hold. */
static void check_finds_changed_row_not_on_hold(void **state)
{
	(void)state;
	begin();
	write_rows = world_fm(s.w, VICTIM)->ops.rows_write;
	no_holds = 2;
	world_fm(s.w, VICTIM)->ops.rows_write = forget_holds;
	world_cut(s.w, CABLE, true);
	world_run(s.w, 5 * MS);
	end("version 2 at node 4: the changed row to 2 is not on hold");
}

/* A further table changes none of the victim's rows, and its NIC lifts the holds at that switch. */
static void early_end_of_hold_is_found(void **state)
{
	struct tn_nic *nic;

	(void)state;
	begin();
	world_cut(s.w, CABLE, true);
	nic = victim();
	for (unsigned int i = 0; i < 20000 && nic->version != 2; i++)
		world_run(s.w, 1 * US);
	assert_null(check_flow_wrong(s.flow));
	assert_true(tn_on_hold(nic, 5));
	for (uint32_t dst = 0; dst < nic->nodes; dst++)
		nic->rows[dst] &= ~TORUS_ROW_HOLD;
	s.w->watch.switched(s.w->watch.arg, VICTIM, 2);
	end("version 2 at node 4: the changed row to 2 is not on hold");
}

/* --- colours -------------------------------------------------------------------------------- */

/* The root takes a colour for clean that packets have which it waits for. */
static void check_finds_colour_taken_too_early(void **state)
{
	struct fm_root *root;

	(void)state;
	begin_with(1 * MS);
	root = world_fm(s.w, 0)->root;
	world_cut(s.w, CABLE, true);
	for (unsigned int i = 0; i < 20000 && trial_step(&s) != STEP_DRAIN; i++)
		world_run(s.w, 5 * US);
	assert_int_equal(root->version, 2);
	root->clean = 1u << 1;		/* colour of versions 1 and 5 */
	root->version_seen = 4;
	world_cut(s.w, FAR_CABLE, true);
	world_run(s.w, 50 * MS);
	assert_true(root->version >= 5);
	end("packets of its colour");
}

/* --- fates ---------------------------------------------------------------------------------- */

static void got(const struct world_packet *id)
{
	s.w->watch.got(s.w->watch.arg, id);
}

/* A host gets its first packet again. */
static void check_finds_packet_that_comes_twice(void **state)
{
	(void)state;
	for (unsigned int vc = 0; vc < TORUS_VCS; vc++) {
		begin();
		empty();
		got(&(struct world_packet) { 0, VICTIM, vc, 0 });
		end("packet 0 arrived twice");
	}
}

/* A second copy comes, and the destination discards it: but no NIC was unsure. */
static void check_finds_copy_that_no_nic_was_unsure_of(void **state)
{
	const struct world_packet id = { 0, VICTIM, TORUS_VC_D0, 0 };
	const struct tn_pkt p = { .hdr = { .type = TN_DATA } };

	(void)state;
	begin();
	empty();
	s.w->watch.copied(s.w->watch.arg, VICTIM, &id);
	s.w->watch.freed(s.w->watch.arg, VICTIM, &id, &p);
	end("packet 0 came twice, although each NIC knew what its neighbour had");
}

/* All packets have arrived but the last two of a flow, of which the later one comes. */
static struct world_packet overtake(void)
{
	struct world_packet id = { 0, VICTIM, TORUS_VC_D0, 0 };

	begin();
	empty();
	for (unsigned int i = 0; i < 2; i++) {
		id.seq = flow_of(s.flow, 0, VICTIM, id.vc)->next + i;
		s.w->watch.sent(s.w->watch.arg, &id);
	}
	got(&id);
	id.seq--;
	return id;
}

/* Two packets change places in the last NIC. */
static void check_finds_wrong_order(void **state)
{
	struct world_packet first = overtake();

	(void)state;
	got(&first);
	end("came after");
}

/* A packet is gone, and its destination, which has a later one, does not count it. */
static void check_finds_loss_that_is_not_counted(void **state)
{
	(void)state;
	overtake();
	check_flow_end(s.flow);
	end("node 4 counted 0 packets as lost; 1 are missing");
}

/* A NIC drops a packet that it has parked. */
static void check_finds_dropped_parked_packet(void **state)
{
	struct world_packet id;

	(void)state;
	begin();
	park(&id);
	while (victim()->park.q.head)
		victim()->ops->pkt_put(victim()->host, tn_queue_pop(&victim()->park.q));
	end("is lost: its last copy ended at node 4");
}

/* A NIC parks a packet, which stays there for ever. */
static void check_finds_forgotten_packet(void **state)
{
	struct world_packet id;

	(void)state;
	begin();
	park(&id);
	check_flow_end(s.flow);
	end("never arrived and is still in a NIC");
}

/* The destination gives up a packet that is parked, and delivers a later one of its flow. */
static void check_finds_packet_given_up_too_early(void **state)
{
	struct world_packet id;

	(void)state;
	begin();
	park(&id);
	id.seq++;
	s.w->watch.sent(s.w->watch.arg, &id);
	got(&id);
	end("parked, but a later one arrived before it");
}

/* The source of parked packets releases its holds. */
static void check_finds_hold_lifted_too_early(void **state)
{
	struct world_packet id;
	struct tn_nic *src;

	(void)state;
	begin();
	park(&id);
	src = s.w->node[id.src].nic;
	for (unsigned int i = 0; i < 20000 && !tn_on_hold(src, id.dst); i++)
		world_run(s.w, 1 * US);
	assert_null(check_flow_wrong(s.flow));
	assert_true(tn_on_hold(src, id.dst));
	fate_released(s.flow, id.src);
	end("parked, but its flow's hold is lifted");
}

/* A NIC counts a double that did not come, or none that came, or after a restart a loss that was none. */
static void check_finds_miscounted_doubles_and_losses(void **state)
{
	static const char *const found[] = {
		"NICs counted 1 duplicates, and 0 to 0 came", "NICs counted 0 duplicates, and 1 to 1 came",
		"receivers counted 1 packets as lost, but at most 0 were",
	};

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		begin();
		empty();
		world_power(s.w, i == 2 ? VICTIM : 8, false);
		if (i == 2)
			world_power(s.w, VICTIM, true);
		victim()->counter[TORUS_NC_DUPLICATES] += i == 0;
		s.flow->doubles += i == 1;
		victim()->flows.lost += i == 2;
		check_flow_end(s.flow);
		end(found[i]);
	}
}

/*
 * A NIC counts a packet as early that was not. Before that, holds may have been lifted without proof,
 * but all packets sent before have ended.
 */
static void check_finds_packet_wrongly_counted_as_early(void **state)
{
	(void)state;
	for (unsigned int bounded = 0; bounded < 3; bounded++) {
		begin();
		if (bounded == 1) {
			assert_true(check_flow_alive(s.flow) > 0);
			fate_bounded(s.flow);
			victim()->counter[TORUS_NC_REORDERED] += 3;
		}
		empty();
		if (bounded == 2)
			fate_bounded(s.flow);
		victim()->counter[TORUS_NC_REORDERED]++;
		check_flow_end(s.flow);
		end("node 4 counted 1 packets as early; 0 may have been");
	}
}

/* The NIC with the only copy dies while the packet is in a cable: it has ended once, and arrives. */
static void check_accepts_packet_that_ends_once_with_its_nic(void **state)
{
	struct world_packet id = { 0, VICTIM, TORUS_VC_D0, 0 };
	const struct tn_pkt p = { .hdr = { .type = TN_DATA } };

	(void)state;
	begin();
	empty();
	world_power(s.w, 8, false);
	id.seq = flow_of(s.flow, id.src, id.dst, id.vc)->next;
	s.w->watch.sent(s.w->watch.arg, &id);
	assert_int_equal(check_flow_alive(s.flow), 1);
	s.w->watch.copied(s.w->watch.arg, 8, &id);
	s.w->watch.freed(s.w->watch.arg, 8, &id, &p);
	assert_int_equal(check_flow_alive(s.flow), 0);
	got(&id);
	assert_int_equal(check_flow_alive(s.flow), 0);
	assert_null(check_flow_wrong(s.flow));
	world_free(s.w);
	check_flow_free(s.flow);
}

/* A packet sent before holds were lifted without proof is on its way at the end. */
static void check_allows_early_packets_after_bounded_drain(void **state)
{
	(void)state;
	begin();
	while (!check_flow_alive(s.flow))
		world_run(s.w, 1 * US);
	fate_bounded(s.flow);
	victim()->counter[TORUS_NC_REORDERED]++;
	check_flow_end(s.flow);
	end("never arrived and is still in a NIC");
}

int main(void)
{
	static const struct CMUnitTest all[] = {
		cmocka_unit_test(check_finds_changed_row_not_on_hold),
		cmocka_unit_test(early_end_of_hold_is_found),
		cmocka_unit_test(check_finds_colour_taken_too_early),
		cmocka_unit_test(check_finds_packet_that_comes_twice),
		cmocka_unit_test(check_finds_copy_that_no_nic_was_unsure_of),
		cmocka_unit_test(check_finds_wrong_order),
		cmocka_unit_test(check_finds_loss_that_is_not_counted),
		cmocka_unit_test(check_finds_dropped_parked_packet),
		cmocka_unit_test(check_finds_forgotten_packet),
		cmocka_unit_test(check_finds_packet_given_up_too_early),
		cmocka_unit_test(check_finds_hold_lifted_too_early),
		cmocka_unit_test(check_finds_miscounted_doubles_and_losses),
		cmocka_unit_test(check_finds_packet_wrongly_counted_as_early),
		cmocka_unit_test(check_accepts_packet_that_ends_once_with_its_nic),
		cmocka_unit_test(check_allows_early_packets_after_bounded_drain),
	};

	return cmocka_run_group_tests_name("check_fate", all, NULL, NULL);
}
