// SPDX-License-Identifier: GPL-2.0-only
/* INITs and timers of a link, to the nanosecond; the test is the peer. */
#include "tests/unit/lone.h"
#include "lib/util/times.h"

#define NEVER (~0ull)
#define UP TORUS_LINK_UP

static struct lone l;
static struct tn_link *link;
static const struct tn_tail good;

static void begin(void)
{
	lone_start(&l, "4", 0, NULL);
	link = lone_link(&l, 0);
}

static void begin_up(void)
{
	begin();
	lone_up(&l, 0);
	lone_events(&l, TN_EV_LINK);
}

static void end(void)
{
	lone_end(&l);
}

static u64 pc(enum torus_port_counter c)
{
	return lone_pc(&l, 0, c);
}

/*
 * Checks that nothing is due before @at, and that tn_nic_expiry() says so; then does what is due.
 */
static void due_at(u64 at)
{
	u64 sent = pc(TORUS_PC_TX_FRAMES);
	u8 state = link->state;

	assert_true(tn_nic_expiry(l.nic) == at);
	l.now = at - 1;
	tn_nic_poll(l.nic, l.now);
	lone_drain(&l, 0);
	assert_int_equal(link->state, state);
	assert_int_equal(pc(TORUS_PC_TX_FRAMES), sent);
	l.now = at;
	tn_nic_poll(l.nic, l.now);
}

/* Checks that at @at, and not before, the NIC sends a frame with one packet, of @type. */
static void sends_at(u64 at, unsigned int type)
{
	due_at(at);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.sent[0].hdr.type, type);
	lone_drain(&l, 0);
}

/* Receives from the peer as late as possible, so that the link does not end by silence. */
static void receive_late(void)
{
	lone_ack(&l, 0);
}

/* Checks that there is exactly one event: the link went from @old to @now, for @reason. */
static void check_event(u8 old, u8 now, u8 reason)
{
	assert_int_equal(l.events, 1);
	assert_int_equal(l.event[0].type, TN_EV_LINK);
	assert_int_equal(l.event[0].port, 0);
	assert_int_equal(l.event[0].old_state, old);
	assert_int_equal(l.event[0].state, now);
	assert_int_equal(l.event[0].reason, reason);
	l.events = 0;
}

/* --- before a link is up ------------------------------------------------------------------ */

/* The INITs of a NIC that has never been up: their contents and intervals. */
static void first_inits_have_known_contents_and_intervals(void **state)
{
	u64 gap = 10 * MS;
	struct tn_init i;

	(void)state;
	begin();
	assert_true(tn_nic_expiry(l.nic) == NEVER);
	assert_int_equal(tn_nic_tx_ports(l.nic), 0);
	tn_nic_carrier(l.nic, 0, true, l.now);
	assert_int_equal(link->state, TORUS_LINK_INIT);
	assert_int_equal(l.events, 2);
	assert_int_equal(l.event[0].old_state, TORUS_LINK_DOWN);
	assert_int_equal(l.event[0].state, TORUS_LINK_TRAINING);
	assert_int_equal(l.event[1].state, TORUS_LINK_INIT);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(lone_tx(&l, 0), 0);
	i = l.peer[0].received;
	assert_true(i.guid == LONE_GUID && i.epoch == 7);
	assert_int_equal(i.lowest, TN_WIRE_OLDEST);
	assert_int_equal(i.highest, TN_WIRE_VERSION);
	assert_true(i.nonce && !i.nonce_received && i.attempt == 1 && !i.last_session);
	assert_true(i.slot_flits == 256 + 3 && !i.port && !i.resume && !i.up && !i.retry);
	for (int vc = 0; vc < TORUS_VCS; vc++)
		assert_true(i.slots[vc] == 256 && !i.occupied[vc]);
	assert_int_equal(pc(TORUS_PC_RETRAINS), 1);
	assert_int_equal(pc(TORUS_PC_STATE_CHANGES), 2);
	assert_int_equal(pc(TORUS_PC_TX_FRAMES), 1);
	assert_int_equal(pc(TORUS_PC_TX_PACKETS), 0);
	/* Each interval is twice the last, up to probe_interval; all INITs are alike. */
	for (int n = 0; n < 6; n++) {
		sends_at(l.now + gap, TN_INIT);
		assert_memory_equal(&l.peer[0].received, &i, sizeof(i));
		gap = 2 * gap < 100 * MS ? 2 * gap : 100 * MS;
	}
	assert_int_equal(link->state, TORUS_LINK_INIT);
	assert_int_equal(pc(TORUS_PC_RETRAINS), 1);
	end();
}

/* The time in each state is counted, each nanosecond once. */
static void time_in_each_state_is_counted_once(void **state)
{
	(void)state;
	begin();
	l.now += 11;
	tn_nic_carrier(l.nic, 0, true, l.now);
	assert_int_equal(pc(TORUS_PC_NS_DOWN), 11);
	l.now += 20;
	assert_int_equal(pc(TORUS_PC_NS_TRAINING), 20);
	lone_up(&l, 0);
	l.now += 300;
	assert_int_equal(pc(TORUS_PC_NS_UP), 300);
	tn_nic_retrain(l.nic, 0, l.now);
	l.now += 4000;
	assert_int_equal(pc(TORUS_PC_NS_TRAINING), 4020);
	tn_nic_carrier(l.nic, 0, false, l.now);
	l.now += 50000;
	assert_int_equal(pc(TORUS_PC_NS_FAULTY), 50000);
	assert_int_equal(pc(TORUS_PC_NS_UP), 300);
	assert_int_equal(pc(TORUS_PC_NS_DOWN), 11);
	tn_nic_admin(l.nic, 0, false, l.now);
	l.now += 5;
	assert_int_equal(pc(TORUS_PC_NS_DOWN), 16);
	end();
}

/* An INIT that echoes the nonce brings the link up; one that does not is answered at once. */
static void init_with_own_nonce_brings_link_up(void **state)
{
	struct tn_init i;

	(void)state;
	begin();
	tn_nic_carrier(l.nic, 0, true, l.now);
	lone_drain(&l, 0);
	i = lone_init_of(&l, 0);
	i.nonce_received = 0;
	l.events = 0;
	lone_init(&l, 0, &i);
	assert_int_equal(link->state, TORUS_LINK_INIT);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.peer[0].received.nonce_received, i.nonce);
	assert_int_equal(lone_tx(&l, 0), 0);
	i.nonce_received = l.peer[0].received.nonce;
	i.slots[1] = 9;
	i.occupied[1] = 2;
	i.first_tseq = 4095;
	lone_init(&l, 0, &i);
	check_event(TORUS_LINK_INIT, UP, TORUS_REASON_NONE);
	assert_int_equal(link->retry.rx.expected, 4095);
	assert_int_equal(link->credit.n_inp[1], 9);
	assert_int_equal(link->credit.ct[1], 2);
	assert_true(link->session && link->session == link->seed);
	assert_int_equal(link->peer_guid, 2000);
	assert_int_equal(link->peer_port, 1);
	/* The link reports again that it is up, in case the peer has not received its echo. */
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_true(l.peer[0].received.up && l.peer[0].received.nonce_received == i.nonce);
	assert_int_equal(lone_tx(&l, 0), 0);
	/* The same INIT again is answered only if its sender is not up. */
	lone_init(&l, 0, &i);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.sent[0].hdr.type, TN_INIT);
	i.nonce_received = 0;		/* and one sent before the first was received */
	lone_init(&l, 0, &i);
	assert_int_equal(lone_tx(&l, 0), 1);
	i.up = 1;
	l.now += 5;
	lone_init(&l, 0, &i);
	assert_int_equal(lone_tx(&l, 0), 0);
	assert_true(link->received_at == l.now);
	assert_int_equal(link->state, UP);
	end();
}

static void differ_by(u32 own, u32 peer)
{
	struct tn_link_info info;

	tn_nic_link_info(l.nic, 0, &info, l.now);
	assert_int_equal(info.differs, link->differs);
	assert_int_equal(info.differs_own, own);
	assert_int_equal(info.differs_peer, peer);
}

/*
 * Invalid INITs are counted and change nothing. If they come from a difference of the ends, this is
 * reported.
 */
static void invalid_inits_are_counted_and_change_nothing(void **state)
{
	(void)state;
	for (int what = 0; what < 6; what++) {
		struct tn_init i;

		begin();
		tn_nic_carrier(l.nic, 0, true, l.now);
		lone_drain(&l, 0);
		i = lone_init_of(&l, 0);
		switch (what) {
		case 0: i.lowest = TN_WIRE_VERSION + 1; break;
		case 1: i.slot_flits = 0; break;
		case 2: i.nonce = 0; break;
		case 3: i.slots[2] = 1; break;			/* too few buffers for a ring */
		case 4: i.occupied[0] = (u16)(i.slots[0] + 1); break;
		/* the nonce is that of the receiver */
		case 5: i.nonce = link->nonce; break;
		}
		lone_init(&l, 0, &i);
		assert_int_equal(pc(TORUS_PC_MALFORMED), what < 5 && what != 3);
		assert_int_equal(link->state, TORUS_LINK_INIT);
		assert_int_equal(link->session, 0);
		assert_int_equal(link->differs, what == 0 ? TORUS_DIFFERS_WIRE :
				 what == 3 ? TORUS_DIFFERS_SLOTS : TORUS_DIFFERS_NOTHING);
		if (what == 0)
			differ_by(TN_WIRE_VERSION, TN_WIRE_VERSION + 1);
		if (what == 3)
			differ_by(2, 1);
		assert_int_equal(link->reason, what && what != 3 ? 0 : TORUS_REASON_MISMATCH);
		assert_int_equal(lone_tx(&l, 0), 0);
		end();
	}
	/* A link that is down does not read them. */
	begin();
	lone_init(&l, 0, &(struct tn_init) { .lowest = TN_WIRE_VERSION, .slot_flits = 259,
		  .nonce = 5 });
	assert_int_equal(link->state, TORUS_LINK_DOWN);
	assert_int_equal(link->peer_nonce, 0);
	tn_nic_carrier(l.nic, 0, true, l.now);
	tn_nic_admin(l.nic, 0, false, l.now);
	lone_init(&l, 0, &(struct tn_init) { .lowest = TN_WIRE_VERSION, .slot_flits = 259,
		  .nonce = 5 });
	assert_int_equal(link->state, TORUS_LINK_DOWN);
	assert_int_equal(link->peer_nonce, 0);
	end();
}

/*
 * An INIT of no version that this end speaks does no harm to a link that is up, and is not reported
 * as its reason.
 */
static void init_of_unknown_version_does_not_harm_link(void **state)
{
	struct tn_init i;

	(void)state;
	begin();
	lone_up(&l, 0);
	i = lone_init_of(&l, 0);
	i.lowest = TN_WIRE_VERSION + 1;
	i.highest = TN_WIRE_VERSION + 3;
	lone_init(&l, 0, &i);
	assert_int_equal(pc(TORUS_PC_MALFORMED), 1);
	assert_int_equal(link->state, UP);
	assert_int_equal(link->reason, 0);
	end();
}

/* A session uses the highest version that both ends speak, also after a retraining. */
static void session_uses_highest_common_version(void **state)
{
	static const struct { u8 lowest, highest, speaks; } p[] = {
		{ 4, 0, 4 }, { 4, 4, 4 }, { 4, 5, 5 }, { 4, 9, 6 }, { 5, 5, 5 }, { 5, 0, 5 },
		{ 3, 5, 5 },
		{ 3, 4, 4 }, { 0, 4, 4 }, { 3, 0, 0 }, { 0, 3, 0 }, { 7, 0, 0 }, { 7, 9, 0 },
		{ 5, 4, 0 },
		{ 4, 6, 6 }, { 5, 6, 6 }, { 6, 0, 6 }, { 6, 9, 6 }, { 6, 5, 0 },
	};

	(void)state;
	for (unsigned int n = 0; n < ARRAY_SIZE(p); n++) {
		struct tn_link_info info;
		struct tn_init i;

		begin();
		tn_nic_carrier(l.nic, 0, true, l.now);
		lone_drain(&l, 0);
		tn_nic_link_info(l.nic, 0, &info, l.now);
		assert_int_equal(info.gauge[TORUS_PG_WIRE], 0);
		i = lone_init_of(&l, 0);
		i.lowest = p[n].lowest;
		i.highest = p[n].highest;
		lone_init(&l, 0, &i);
		tn_nic_link_info(l.nic, 0, &info, l.now);
		assert_int_equal(info.gauge[TORUS_PG_WIRE], p[n].speaks);
		assert_int_equal(link->state, p[n].speaks ? UP : TORUS_LINK_INIT);
		assert_int_equal(link->reason, p[n].speaks ? 0 : TORUS_REASON_MISMATCH);
		assert_int_equal(pc(TORUS_PC_MALFORMED), !p[n].speaks);
		end();
	}
}

/* An INIT of an attempt that its sender has given up is ignored, for as long as silence takes. */
static void init_of_given_up_attempt_is_ignored(void **state)
{
	struct tn_init old, new;

	(void)state;
	begin();
	tn_nic_carrier(l.nic, 0, true, l.now);
	lone_drain(&l, 0);
	old = lone_init_of(&l, 0);
	new = lone_init_of(&l, 0);
	new.nonce_received = 0;
	lone_init(&l, 0, &new);
	l.now += l.params.silence - 1;
	lone_init(&l, 0, &old);
	assert_int_equal(link->state, TORUS_LINK_INIT);
	assert_int_equal(link->peer_nonce, new.nonce);
	old.epoch++;			/* a restarted NIC counts from the beginning */
	new = old;
	new.nonce_received = 0;
	lone_init(&l, 0, &new);
	assert_int_equal(link->peer_nonce, old.nonce);
	end();
	begin();
	tn_nic_carrier(l.nic, 0, true, l.now);
	lone_drain(&l, 0);
	old = lone_init_of(&l, 0);
	new = lone_init_of(&l, 0);
	new.nonce_received = 0;
	lone_init(&l, 0, &new);
	l.now += l.params.silence;	/* then another NIC has sent it */
	lone_init(&l, 0, &old);
	assert_int_equal(link->state, UP);
	end();
}

/*
 * The INIT that led to the last session does not begin another; see also
 * init_of_given_up_attempt_is_ignored().
 */
static void init_of_last_session_begins_no_other(void **state)
{
	struct tn_init i;

	(void)state;
	begin();
	tn_nic_carrier(l.nic, 0, true, l.now);
	lone_drain(&l, 0);
	i = lone_init_of(&l, 0);
	lone_init(&l, 0, &i);
	assert_int_equal(link->state, UP);
	tn_nic_carrier(l.nic, 0, false, l.now);
	tn_nic_carrier(l.nic, 0, true, l.now);
	lone_drain(&l, 0);
	lone_init(&l, 0, &i);
	assert_int_equal(link->peer_nonce, 0);
	assert_int_equal(lone_tx(&l, 0), 0);
	/* An INIT that answers the present one: its sender never came up. */
	i.nonce_received = l.peer[0].received.nonce;
	lone_init(&l, 0, &i);
	assert_int_equal(link->state, UP);
	end();
}

/*
 * Ends whose retry protocol, packet size or bubble policy differ bring no link up, and report it.
 * The NIC still learns its neighbour's identity.
 */
static void differing_ends_bring_no_link_up_and_report_it(void **state)
{
	static const struct { u8 own, peer; bool apart; u8 speaks; } p[] = {
		{ 0, 0, false, 1 }, { 0, 2, false, 2 }, { 3, 0, false, 3 }, { 2, 2, false, 2 },
		{ 1, 2, true, 0 }, { 3, 1, true, 0 },
	};

	(void)state;
	for (unsigned int n = 0; n <= ARRAY_SIZE(p) + 1; n++) {
		bool size = n == ARRAY_SIZE(p), bubble = n > ARRAY_SIZE(p);
		bool apart = size || bubble || p[n].apart;
		struct tn_link_info info;
		struct tn_init i;

		begin();
		if (n < ARRAY_SIZE(p))
			tn_nic_retry(l.nic, 0, p[n].own, l.now);
		tn_nic_carrier(l.nic, 0, true, l.now);
		lone_drain(&l, 0);
		i = lone_init_of(&l, 0);
		if (size)
			i.slot_flits--;
		else if (bubble)
			i.bubble = 1;
		else
			i.retry = p[n].peer;
		lone_events(&l, TN_EV_LINK);
		lone_init(&l, 0, &i);
		assert_int_equal(lone_events(&l, TN_EV_LINK), 1);
		assert_int_equal(link->state, apart ? TORUS_LINK_INIT : UP);
		assert_int_equal(link->reason, bubble ? TORUS_REASON_BUBBLE :
				 apart ? TORUS_REASON_MISMATCH : 0);
		tn_nic_link_info(l.nic, 0, &info, l.now);
		assert_int_equal(info.peer_guid, 2000);
		assert_int_equal(info.peer_port, 1);
		assert_int_equal(info.retry, apart ? TORUS_RETRY_AUTO : p[n].speaks);
		assert_int_equal(info.retry_wanted, size || bubble ? 0 : p[n].own);
		assert_int_equal(info.differs, bubble ? TORUS_DIFFERS_BUBBLE :
				 size ? TORUS_DIFFERS_PAYLOAD_MAX :
				 apart ? TORUS_DIFFERS_RETRY : TORUS_DIFFERS_NOTHING);
		if (bubble)
			differ_by(TORUS_BUBBLE_BLOC, TORUS_BUBBLE_CBS);
		else if (size)
			differ_by(l.nic->params.payload_max, l.nic->params.payload_max - TN_FLIT);
		else if (apart)
			differ_by(p[n].own, p[n].peer);
		if (apart) {
			lone_init(&l, 0, &i);
			assert_int_equal(lone_events(&l, TN_EV_LINK), 0);
			if (size) {		/* the INIT differs by another value */
				i.slot_flits--;
				lone_init(&l, 0, &i);
				assert_int_equal(lone_events(&l, TN_EV_LINK), 1);
				differ_by(l.nic->params.payload_max,
					  l.nic->params.payload_max - 2 * TN_FLIT);
			}
			i = lone_init_of(&l, 0);	/* the peer is made anew */
			i.retry = p[0].peer;
			lone_init(&l, 0, &i);
			assert_int_equal(link->state, UP);
			assert_int_equal(link->reason, TORUS_REASON_NONE);
			assert_int_equal(link->differs, TORUS_DIFFERS_NOTHING);
		}
		end();
	}
}

/* Another difference of the same values is reported, too; a new cable makes the link forget it. */
static void another_difference_is_reported_too(void **state)
{
	struct tn_init i;

	(void)state;
	begin();
	tn_nic_retry(l.nic, 0, 2, l.now);
	tn_nic_carrier(l.nic, 0, true, l.now);
	lone_drain(&l, 0);
	i = lone_init_of(&l, 0);
	i.retry = 1;
	lone_init(&l, 0, &i);
	assert_int_equal(link->differs, TORUS_DIFFERS_RETRY);
	differ_by(2, 1);
	lone_events(&l, TN_EV_LINK);
	i.retry = 2;
	i.slots[2] = 1;
	lone_init(&l, 0, &i);
	assert_int_equal(lone_events(&l, TN_EV_LINK), 1);
	assert_int_equal(link->differs, TORUS_DIFFERS_SLOTS);
	differ_by(2, 1);
	tn_nic_carrier(l.nic, 0, false, l.now);
	tn_nic_carrier(l.nic, 0, true, l.now);
	assert_int_equal(link->state, TORUS_LINK_INIT);
	assert_int_equal(link->reason, TORUS_REASON_NONE);
	assert_int_equal(link->differs, TORUS_DIFFERS_NOTHING);
	end();
}

/* A faulty link cannot read the INIT of a newer NIC: it stays faulty and reports why. */
static void faulty_link_reports_init_of_newer_nic(void **state)
{
	struct tn_init i;

	(void)state;
	begin();
	tn_nic_carrier(l.nic, 0, true, l.now);
	lone_drain(&l, 0);
	i = lone_init_of(&l, 0);
	lone_init(&l, 0, &i);
	assert_int_equal(link->state, UP);
	l.now += l.nic->params.silence + 3 * l.nic->params.probe_interval;
	tn_nic_poll(l.nic, l.now);
	assert_int_equal(link->state, TORUS_LINK_FAULTY);
	i.lowest = TN_WIRE_VERSION + 2;
	i.highest = 0;
	lone_events(&l, TN_EV_LINK);
	lone_init(&l, 0, &i);
	assert_int_equal(lone_events(&l, TN_EV_LINK), 1);
	assert_int_equal(link->state, TORUS_LINK_FAULTY);
	assert_int_equal(link->reason, TORUS_REASON_MISMATCH);
	differ_by(TN_WIRE_VERSION, TN_WIRE_VERSION + 2);
	lone_init(&l, 0, &i);
	assert_int_equal(lone_events(&l, TN_EV_LINK), 0);
	end();
}

/* Asking for another protocol restarts a link that is not up; asking for the same does not. */
static void another_retry_protocol_restarts_link_not_up(void **state)
{
	u32 nonce;

	(void)state;
	begin();
	tn_nic_carrier(l.nic, 0, true, l.now);
	lone_drain(&l, 0);
	nonce = link->nonce;
	tn_nic_retry(l.nic, 0, TORUS_RETRY_AUTO, l.now);
	assert_int_equal(link->nonce, nonce);
	tn_nic_retry(l.nic, 0, TORUS_RETRY_HIPPI, l.now);
	assert_int_not_equal(link->nonce, nonce);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.peer[0].received.retry, TORUS_RETRY_HIPPI);
	assert_int_equal(l.peer[0].received.attempt, 2);
	lone_up(&l, 0);
	nonce = link->nonce;
	tn_nic_retry(l.nic, 0, TORUS_RETRY_ANGARA, l.now);
	assert_int_equal(link->nonce, nonce);
	assert_int_equal(link->state, UP);
	end();
}

/* --- while it is up --------------------------------------------------------------------------- */

/* Keep-alives are sent at multiples of the interval, no matter when other frames were sent. */
static void keep_alives_are_sent_at_multiples_of_interval(void **state)
{
	const u64 k = 100 * MS;

	(void)state;
	begin_up();
	sends_at((l.now / k + 1) * k, TN_IDLE);
	receive_late();
	sends_at(l.now + k, TN_IDLE);
	receive_late();
	l.now += k - 1;
	assert_int_equal(tn_nic_mgmt_send(l.nic, 0, (const u8 *)"x", 1, l.now), 0);
	assert_int_equal(lone_tx(&l, 0), 1);
	receive_late();
	/* A frame that was sent a nanosecond before counts as a keep-alive. */
	assert_true(link->keepalive_at == l.now + 1);
	assert_int_equal(pc(TORUS_PC_TX_PACKETS), 1);
	end();
}

/* Silence begins with the last frame received, exact to the nanosecond. */
static void silence_begins_with_last_frame_received(void **state)
{
	u64 last;

	(void)state;
	begin_up();
	l.now += 7;
	receive_late();
	last = l.now;
	while (l.now < last + 250 * MS) {
		tn_nic_poll(l.nic, l.now = tn_nic_expiry(l.nic));
		lone_drain(&l, 0);
	}
	link->keepalive_at = NEVER;
	due_at(last + 350 * MS);
	check_event(UP, TORUS_LINK_FAULTY, TORUS_REASON_SILENCE);
	end();
}

/* Runs timers until @at, and checks that the link stays up. */
static void stays_up_until(u64 at)
{
	while (tn_nic_expiry(l.nic) <= at) {
		tn_nic_poll(l.nic, l.now = tn_nic_expiry(l.nic));
		lone_drain(&l, 0);
	}
	l.now = at;
	assert_int_equal(link->state, UP);
}

/* With the ACK/NAK protocol answers alone show that a peer with nothing to send lives. */
static void answers_of_idle_peer_keep_link_up(void **state)
{
	struct tn_hdr h = { .type = TN_ACKNAK };
	u8 bytes[TN_ACKNAK_BYTES];
	u64 last;

	(void)state;
	begin();
	tn_link_retry(link, TORUS_RETRY_ACKNAK, l.now);
	lone_up(&l, 0);
	lone_events(&l, TN_EV_LINK);
	last = l.now + 200 * MS;
	stays_up_until(last);
	h.rseq = (u16)((link->retry.tx.tseq - 1) & TN_SEQ_MASK);
	tn_acknak_put(bytes, &h, l.peer[0].seed);
	lone_rx(&l, 0, bytes, sizeof(bytes));
	assert_int_equal(link->counter[TORUS_PC_ACKS_RECEIVED], 1);
	assert_int_equal(link->counter[TORUS_PC_NAKS_RECEIVED], 0);
	h.e = 1;
	tn_acknak_put(bytes, &h, l.peer[0].seed);
	lone_rx(&l, 0, bytes, sizeof(bytes));
	assert_int_equal(link->counter[TORUS_PC_ACKS_RECEIVED], 1);
	assert_int_equal(link->counter[TORUS_PC_NAKS_RECEIVED], 1);
	stays_up_until(last + 350 * MS - 1);
	tn_nic_poll(l.nic, ++l.now);
	check_event(UP, TORUS_LINK_FAULTY, TORUS_REASON_SILENCE);
	end();
}

/* An unacknowledged packet is sent again, at growing intervals, until the link fails. */
static void unacknowledged_packet_is_sent_again_until_link_fails(void **state)
{
	static const u64 factor[] = { 1, 2, 4, 8, 8 };
	u64 first;

	(void)state;
	begin_up();
	l.now += 50;
	assert_int_equal(tn_nic_mgmt_send(l.nic, 0, (const u8 *)"x", 1, l.now), 0);
	l.now += 30;
	assert_int_equal(lone_tx(&l, 0), 1);
	first = l.now - 30;
	l.nic->params.silence = 1000000 * MS;
	for (unsigned int n = 0; n < ARRAY_SIZE(factor); n++) {
		assert_int_equal(pc(TORUS_PC_RETRIES), n);
		assert_int_equal(pc(TORUS_PC_REPLAYED_PACKETS), n);
		link->keepalive_at = NEVER;
		sends_at(l.now + factor[n] * 20 * MS, TN_MGMT);
		assert_int_equal(link->state, UP);
	}
	/* Each is sent as late as possible; 500 ms without progress are noticed at the next one. */
	assert_true(l.now - first >= 460 * MS && l.now - first < 500 * MS);
	assert_int_equal(link->retry.tx.tries, 5);
	l.now = first + 500 * MS - 1;
	tn_link_poll(link, l.now);
	assert_int_equal(link->state, UP);
	tn_link_poll(link, ++l.now);
	check_event(UP, TORUS_LINK_FAULTY, TORUS_REASON_RETRY);
	end();
}

/* A long time without progress, but fewer than retry_count replays: the link stays up. */
static void link_fails_only_at_retry_count(void **state)
{
	(void)state;
	for (u32 tries = 3; tries <= 4; tries++) {
		begin_up();
		assert_int_equal(tn_nic_mgmt_send(l.nic, 0, (const u8 *)"x", 1, l.now), 0);
		lone_drain(&l, 0);
		link->retry.tx.tries = tries;
		l.now += 600 * MS;
		link->received_at = link->retry.tx.sent_at = l.now;
		tn_link_poll(link, l.now);
		assert_int_equal(link->state, tries < 4 ? UP : TORUS_LINK_FAULTY);
		end();
	}
}

/* A full window that errors have made small is retransmitted sooner. */
static void small_full_window_is_retransmitted_sooner(void **state)
{
	static const struct { u64 rtt, wait; } t[] = {
		{ 0, 100000 }, { 1000, 104000 }, { 2 * MS, 8 * MS + 100000 },
		{ 2474999, 9999996 }, { 2475000, 10 * MS }, { 9 * MS, 10 * MS },
	};

	(void)state;
	for (unsigned int n = 0; n < ARRAY_SIZE(t); n++) {
		begin_up();
		link->retry.tx.window = 4 * 8 + 3;
		for (int i = 0; i < 8; i++)
			assert_int_equal(tn_nic_mgmt_send(l.nic, 0, (const u8 *)"x", 1, l.now), 0);
		l.now += 10;
		lone_drain(&l, 0);
		link->keepalive_at = NEVER;
		link->retry.tx.rtt = t[n].rtt;
		due_at(l.now + t[n].wait);
		assert_int_equal(pc(TORUS_PC_RETRIES), 1);
		lone_drain(&l, 0);		/* and after twice the time again */
		link->keepalive_at = NEVER;
		due_at(l.now + 2 * t[n].wait);
		assert_int_equal(pc(TORUS_PC_RETRIES), 2);
		end();
	}
	/* With fewer packets under way the window is not full. */
	begin_up();
	link->retry.tx.window = 4 * 8 + 3;
	for (int i = 0; i < 7; i++)
		assert_int_equal(tn_nic_mgmt_send(l.nic, 0, (const u8 *)"x", 1, l.now), 0);
	lone_drain(&l, 0);
	link->keepalive_at = NEVER;
	due_at(l.now + 20 * MS);
	assert_int_equal(pc(TORUS_PC_RETRIES), 1);
	end();
}

static void ahead(void)
{
	u8 flits[TN_PACKET_MAX];

	lone_rx(&l, 0, flits, lone_make(&l, 0, flits, (struct tn_hdr) { .type = TN_MGMT, .len = 1,
					.tseq = 1 }, good, NULL, NULL));
}

/* A reception error that lasts is reported again every half replay_timeout. */
static void lasting_reception_error_is_reported_again(void **state)
{
	(void)state;
	begin_up();
	ahead();
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.sent[0].hdr.e, 1);
	assert_int_equal(l.sent[0].hdr.gen_echo, 0);
	for (u64 n = 1; n < 4; n++) {
		link->keepalive_at = NEVER;
		sends_at(l.now + 10 * MS, TN_IDLE);
		assert_int_equal(pc(TORUS_PC_E_SENT), n + 1);
	}
	/* The packet comes: no more reports. */
	lone_rx_pkt(&l, 0, (struct tn_hdr) { .type = TN_MGMT, .len = 1 }, good);
	link->keepalive_at = NEVER;
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.sent[0].hdr.e, 0);
	l.now += 10 * MS;
	tn_nic_poll(l.nic, l.now);
	assert_int_equal(lone_tx(&l, 0), 0);
	assert_int_equal(pc(TORUS_PC_E_SENT), 4);
	end();
	/* ACK/NAK: a NAK is sent once. */
	begin();
	tn_nic_retry(l.nic, 0, TORUS_RETRY_ACKNAK, l.now);
	lone_up(&l, 0);
	ahead();
	lone_drain(&l, 0);
	assert_true(link->e_at == NEVER);
	assert_int_equal(pc(TORUS_PC_E_SENT), 1);
	end();
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(first_inits_have_known_contents_and_intervals),
		cmocka_unit_test(time_in_each_state_is_counted_once),
		cmocka_unit_test(init_with_own_nonce_brings_link_up),
		cmocka_unit_test(invalid_inits_are_counted_and_change_nothing),
		cmocka_unit_test(init_of_given_up_attempt_is_ignored),
		cmocka_unit_test(init_of_last_session_begins_no_other),
		cmocka_unit_test(init_of_unknown_version_does_not_harm_link),
		cmocka_unit_test(session_uses_highest_common_version),
		cmocka_unit_test(differing_ends_bring_no_link_up_and_report_it),
		cmocka_unit_test(another_difference_is_reported_too),
		cmocka_unit_test(faulty_link_reports_init_of_newer_nic),
		cmocka_unit_test(another_retry_protocol_restarts_link_not_up),
		cmocka_unit_test(keep_alives_are_sent_at_multiples_of_interval),
		cmocka_unit_test(silence_begins_with_last_frame_received),
		cmocka_unit_test(answers_of_idle_peer_keep_link_up),
		cmocka_unit_test(unacknowledged_packet_is_sent_again_until_link_fails),
		cmocka_unit_test(link_fails_only_at_retry_count),
		cmocka_unit_test(small_full_window_is_retransmitted_sooner),
		cmocka_unit_test(lasting_reception_error_is_reported_again),
	};

	return cmocka_run_group_tests_name("link_times", all, NULL, NULL);
}
