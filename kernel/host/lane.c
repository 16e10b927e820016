// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of the host that the NIC has no room for, one queue (lane) for each destination and VC.
 *
 * Fair. A message for which the NIC has no room (tn_nic_room()) first stops the queue of the host
 * from which it came. This back-pressure is enough for a destination that accepts messages, however
 * slowly. If there is still no room after GRACE, the message goes into a lane, as do later messages
 * to the same destination and VC, and the host's queue continues. So a destination on hold, a port
 * without credits or a dead neighbour delays others by GRACE, once
 * (message_without_room_stops_queue_then_waits_aside() of tests/unit/test_host_lane.c).
 *
 * Limits. All lanes together hold at most TORUS_HOST_LANES_MAX bytes; each lane may use what the
 * others leave, and at least one message. If a lane is full, its next message stops the host's
 * queue again. If the lane has not moved for PATIENCE, which is longer than torusemu's silence
 * takes to find a dead cable, the message is dropped instead, and counted as host_stuck
 * (full_lane_stops_queue_then_drops()). So a destination for which nothing can move costs the
 * others GRACE and PATIENCE at most, once each time that it gets stuck, whatever the host sends to
 * it (flood_to_stuck_destination_stops_other_briefly()).
 *
 * Losses. Packets that the NIC has accepted stay in it: hold_bytes and the parking segment have the
 * same room as without lanes, and a message gets into a lane only when it would otherwise have
 * waited in front of them. Without lanes, the host's queue was stopped then, and the stack's queue
 * behind it overflowed with messages to all destinations. With lanes only messages to the stuck
 * destination are dropped, and there is room for more of them. In torus.ko a socket is charged for
 * its messages until they leave the lane, so it is stopped before any message is dropped.
 *
 * Age. A lane that moves, however slowly, does not keep a message, and with it its socket, for more
 * than TORUS_HOST_AGE_MAX: after that time messages are dropped and counted as host_stuck, a few at
 * a time (message_is_given_up_at_age_limit_behind_moving_ones()).
 *
 * Order. Messages of one destination and VC that come from one queue of the host stay in order: a
 * message is sent at once only if its lane is empty, a lane is a FIFO, and nothing is taken from a
 * queue that is stopped (random_messages_keep_their_order()).
 *
 * Deadlock. The NIC never waits for its host, so messages that wait here block nothing in the
 * network. A lane waits only for the NIC; a stopped queue waits only for its message: for room, for
 * GRACE, or for PATIENCE. torus_host_expiry() is the time at which one of these ends; and each
 * event that makes room makes the shell examine the lanes again.
 *
 * A destination and VC may only use the WAYS lanes of one set, so searches are short. If other
 * destinations use all of them, a message stops the host's queue, and is dropped after PATIENCE;
 * then further ones of the set without a lane are dropped at once, until a lane of the set moves
 * (ninth_waiting_destination_stops_queue()). That takes more than WAYS stuck destinations whose
 * numbers have the same remainder.
 *
 * Slow destinations. A destination that accepts messages slowly, but never pauses for GRACE, or
 * whose full lane moves once in each PATIENCE, would stop the host's queue again and again, so that
 * the queue sends at the rate of that destination. So the stops of a queue have a budget of time,
 * GRACE + PATIENCE. While the queue is not stopped the budget refills, such that stops take an
 * eighth of all time (SHARE). If less than GRACE is left, messages without room go into their lanes
 * at once, and if these are full, are dropped at once
 * (slow_destination_stops_shared_queue_an_eighth()). Only stops that delay others count: if all
 * messages of the queue have been of one flow for SHARED stops, it stops for as long as it must,
 * and nothing is lost (slow_destination_only_stops_its_queue()).
 */
#include "host.h"

#define WAYS		8
#define SETS		(TORUS_HOST_LANES / WAYS)
#define GRACE		5000000ull	/* 5 ms: after this time a message moves to its lane */
/* half a second: after this time without progress a message is dropped if its lane is full */
#define PATIENCE	500000000ull
/* a shared queue is stopped for at most 1/SHARE of the time */
#define SHARE		8u
/* a queue counts as shared for this many stops after the last message of another flow */
#define SHARED		1024u
#define OLD_BATCH	64u		/* most old messages of a lane that one call drops */

_Static_assert(TORUS_HOST_LANES % 64 == 0 && TORUS_HOST_LANES % WAYS == 0, "lanes");
_Static_assert(SETS <= 32, "torus_host.sets_stuck has a bit for each set");

static bool is_lane_used(const struct torus_host *h, unsigned int i)
{
	return h->lanes_used[i / 64] >> i % 64 & 1;
}

static unsigned int set_of(u32 dst, u8 vc)
{
	return (dst * TORUS_VCS + vc) % SETS;
}

/* Return: the lane in use for @dst and @vc, or else an unused lane; NULL if there is none. */
static struct torus_host_lane *find_lane(struct torus_host *h, u32 dst, u8 vc)
{
	unsigned int first = set_of(dst, vc) * WAYS, i;
	struct torus_host_lane *empty = NULL;

	for (i = first; i < first + WAYS; i++) {
		struct torus_host_lane *l = &h->lane[i];

		if (!is_lane_used(h, i))
			empty = l;
		else if (l->head->dst == dst && l->head->vc == vc)
			return l;
	}
	return empty;
}

static void push_message(struct torus_host *h, struct torus_host_lane *l,
			 struct torus_host_msg *msg, u64 now)
{
	unsigned int i = (unsigned int)(l - h->lane);

	tn_assert(msg->bytes);
	msg->next = NULL;
	msg->since = now;
	if (!is_lane_used(h, i)) {
		h->lanes_used[i / 64] |= 1ull << i % 64;
		*l = (struct torus_host_lane) { .head = msg, .tail = msg, .since = now };
	} else {
		l->tail->next = msg;
		l->tail = msg;
	}
	l->bytes += msg->bytes;
	h->lane_bytes += msg->bytes;
	tn_nic_counters(h->nic)[TORUS_NC_HOST_WAITED]++;
}

static struct torus_host_msg *pop_message(struct torus_host *h, struct torus_host_lane *l)
{
	unsigned int i = (unsigned int)(l - h->lane);
	struct torus_host_msg *msg = l->head;

	tn_assert(is_lane_used(h, i));
	tn_assert(l->bytes >= msg->bytes && h->lane_bytes >= msg->bytes);
	l->bytes -= msg->bytes;
	h->lane_bytes -= msg->bytes;
	l->head = msg->next;
	if (!l->head) {
		h->lanes_used[i / 64] &= ~(1ull << i % 64);
		h->sets_stuck &= ~(1u << i / WAYS);
	}
	return msg;
}

/* Removes the first message from a lane; thereby the lane counts as moving. */
static struct torus_host_msg *send_first(struct torus_host *h, struct torus_host_lane *l, u64 now)
{
	l->since = now;
	h->sets_stuck &= ~(1u << (unsigned int)(l - h->lane) / WAYS);
	return pop_message(h, l);
}

static void drop_message(struct torus_host *h, struct torus_host_msg *msg)
{
	tn_nic_counters(h->nic)[TORUS_NC_HOST_TX_DROPS]++;
	h->forget(h->shell, msg);
}

static void drop_stuck(struct torus_host *h, struct torus_host_msg *msg)
{
	tn_nic_counters(h->nic)[TORUS_NC_HOST_STUCK]++;
	drop_message(h, msg);
}

static bool nic_has_room(struct torus_host *h, const struct torus_host_msg *msg)
{
	return tn_nic_room(h->nic, msg->dst, msg->vc);
}

/* Notes the flow of @msg, the next message of its queue. */
static void note_flow(struct torus_host *h, const struct torus_host_msg *msg)
{
	u64 flow = 1 + (u64)msg->dst * TORUS_VCS + msg->vc;

	if (h->last_flow[msg->from] == flow)
		return;
	if (h->last_flow[msg->from])
		h->stop_shared[msg->from] = SHARED;
	h->last_flow[msg->from] = flow;
}

bool torus_host_clear(struct torus_host *h, const struct torus_host_msg *msg)
{
	struct torus_host_lane *l = h->lane_bytes ? find_lane(h, msg->dst, msg->vc) : NULL;

	note_flow(h, msg);
	return !(l && is_lane_used(h, (unsigned int)(l - h->lane))) && nic_has_room(h, msg);
}

static bool has_memory(const struct torus_host *h, const struct torus_host_lane *l, u32 bytes)
{
	return h->lane_bytes < TORUS_HOST_LANES_MAX &&
	       l->bytes + bytes <= TORUS_HOST_LANES_MAX - h->lane_bytes;
}

/* Return: how long a stop of queue @q that begins now may last, ns. */
static u64 time_to_stop(const struct torus_host *h, unsigned int q)
{
	u64 left = GRACE + PATIENCE - h->stop_spent[q];

	if (!h->stop_shared[q])
		return ~0ull;
	return left < GRACE ? 0 : left;
}

static u64 take_least(u64 a, u64 b)
{
	return a < b ? a : b;
}

static void begin_stop(struct torus_host *h, struct torus_host_msg *msg, u64 now)
{
	u64 back = (now - h->open_since[msg->from]) / (SHARE - 1);

	h->stop_spent[msg->from] -= take_least(h->stop_spent[msg->from], back);
	h->stopped[msg->from] = msg;
	h->stopped_since[msg->from] = now;
}

static void end_stop(struct torus_host *h, unsigned int q, u64 now)
{
	u64 spent = now - h->stopped_since[q];

	h->stopped[q] = NULL;
	h->open_since[q] = now;
	if (!spent || !h->stop_shared[q])
		return;
	h->stop_shared[q]--;
	h->stop_spent[q] = take_least(h->stop_spent[q] + spent, GRACE + PATIENCE);
}

/*
 * Decides about the message for which its queue is stopped: lets it wait in a lane, or drops it.
 * Return: true if the queue stays stopped.
 */
static bool place_message(struct torus_host *h, struct torus_host_msg *msg, u64 now)
{
	struct torus_host_lane *l = find_lane(h, msg->dst, msg->vc);
	u64 since = h->stopped_since[msg->from];
	bool used = l && is_lane_used(h, (unsigned int)(l - h->lane));
	u32 set = 1u << set_of(msg->dst, msg->vc);
	u64 most = time_to_stop(h, msg->from);

	if (used ? has_memory(h, l, msg->bytes) : l && now - since >= take_least(GRACE, most)) {
		push_message(h, l, msg, now);
		return false;
	}
	if (now - (used ? l->since : since) < PATIENCE && now - since < most &&
	    (l || !(h->sets_stuck & set)))
		return true;
	if (!l)
		h->sets_stuck |= set;
	drop_stuck(h, msg);
	return false;
}

void torus_host_wait(struct torus_host *h, struct torus_host_msg *msg, u64 now)
{
	tn_assert(msg->from < TORUS_VCS);
	tn_assert(!h->stopped[msg->from]);
	begin_stop(h, msg, now);
	if (!place_message(h, msg, now))
		end_stop(h, msg->from, now);
}

/* Drops messages that have waited too long from the head of lane @i. */
static void drop_old(struct torus_host *h, unsigned int i, u64 now)
{
	struct torus_host_lane *l = &h->lane[i];
	unsigned int n;

	for (n = 0; n < OLD_BATCH && is_lane_used(h, i); n++) {
		if (now - l->head->since < TORUS_HOST_AGE_MAX)
			return;
		drop_stuck(h, pop_message(h, l));
	}
}

/* Return: a message from a lane that can be sent now; the lanes are served in turn. */
static struct torus_host_msg *next_of_lanes(struct torus_host *h, u64 now)
{
	unsigned int i, n;

	if (!h->lane_bytes)
		return NULL;
	for (n = 0; n < TORUS_HOST_LANES; n++) {
		i = (h->lane_turn + n) % TORUS_HOST_LANES;
		if (!(h->lanes_used[i / 64] >> i % 64)) {
			n += 63 - i % 64;
			continue;
		}
		if (is_lane_used(h, i))
			drop_old(h, i, now);
		if (is_lane_used(h, i) && nic_has_room(h, h->lane[i].head)) {
			h->lane_turn = i + 1;
			return send_first(h, &h->lane[i], now);
		}
	}
	return NULL;
}

struct torus_host_msg *torus_host_next(struct torus_host *h, u64 now)
{
	struct torus_host_msg *msg = next_of_lanes(h, now);
	unsigned int q;

	for (q = 0; !msg && q < TORUS_VCS; q++) {
		struct torus_host_msg *waits = h->stopped[q];

		if (!waits)
			continue;
		if (torus_host_clear(h, waits))
			msg = waits;
		else if (place_message(h, waits, now))
			continue;
		end_stop(h, q, now);
	}
	return msg;
}

/*
 * Return: true if torus_host_next() would send @msg, for which its queue is stopped, or move it to
 * a lane.
 */
static bool may_leave_stop(struct torus_host *h, const struct torus_host_msg *msg)
{
	struct torus_host_lane *l = find_lane(h, msg->dst, msg->vc);

	if (l && is_lane_used(h, (unsigned int)(l - h->lane)))
		return has_memory(h, l, msg->bytes);
	return nic_has_room(h, msg);
}

bool torus_host_ready(struct torus_host *h)
{
	unsigned int i;

	for (i = 0; h->lane_bytes && i < TORUS_HOST_LANES; i++) {
		if (!(h->lanes_used[i / 64] >> i % 64))
			i |= 63;
		else if (is_lane_used(h, i) && nic_has_room(h, h->lane[i].head))
			return true;
	}
	for (i = 0; i < TORUS_VCS; i++) {
		if (h->stopped[i] && may_leave_stop(h, h->stopped[i]))
			return true;
	}
	return false;
}

/*
 * Return: when @msg, for which its queue is stopped, will move to a lane or be dropped even if no
 * room appears.
 */
static u64 expiry_of(struct torus_host *h, const struct torus_host_msg *msg)
{
	struct torus_host_lane *l = find_lane(h, msg->dst, msg->vc);
	u64 most = time_to_stop(h, msg->from), since = h->stopped_since[msg->from];

	if (!l)
		return since + take_least(PATIENCE, most);
	if (!is_lane_used(h, (unsigned int)(l - h->lane)))
		return since + take_least(GRACE, most);
	return most == ~0ull ? l->since + PATIENCE : take_least(l->since + PATIENCE, since + most);
}

u64 torus_host_expiry(struct torus_host *h)
{
	u64 at = ~0ull;
	unsigned int q, i;

	for (i = 0; h->lane_bytes && i < TORUS_HOST_LANES; i++) {
		u64 old = is_lane_used(h, i) ? h->lane[i].head->since + TORUS_HOST_AGE_MAX : at;

		at = old < at ? old : at;
	}
	for (q = 0; q < TORUS_VCS; q++) {
		u64 its = h->stopped[q] ? expiry_of(h, h->stopped[q]) : ~0ull;

		at = its < at ? its : at;
	}
	return at;
}

void torus_host_give_up(struct torus_host *h, u64 age, u64 now)
{
	unsigned int i;

	for (i = 0; h->lane_bytes && i < TORUS_HOST_LANES; i++) {
		if (!is_lane_used(h, i) || now - h->lane[i].since < age)
			continue;
		while (is_lane_used(h, i))
			drop_stuck(h, pop_message(h, &h->lane[i]));
	}
}

u64 torus_host_oldest(const struct torus_host *h)
{
	u64 at = ~0ull;
	unsigned int i;

	for (i = 0; h->lane_bytes && i < TORUS_HOST_LANES; i++) {
		if (is_lane_used(h, i) && h->lane[i].since < at)
			at = h->lane[i].since;
	}
	return at;
}

void torus_host_forget(struct torus_host *h)
{
	unsigned int i, q;

	for (i = 0; i < TORUS_HOST_LANES; i++) {
		while (is_lane_used(h, i))
			drop_message(h, pop_message(h, &h->lane[i]));
	}
	for (q = 0; q < TORUS_VCS; q++) {
		if (h->stopped[q])
			drop_message(h, h->stopped[q]);
		h->stopped[q] = NULL;
	}
}
