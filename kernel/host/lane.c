// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of the host that the NIC has no room for, one queue (lane) for each destination and VC.
 *
 * Fair. A message for which the NIC has no room (tn_nic_room()) stops the queue of the host from
 * which it came: the host's back-pressure, which is all that a destination needs that moves,
 * however slowly. If there is no room for GRACE, it goes into a lane, and so do later ones of the
 * same destination and VC, while the host's queue goes on. So a destination on hold, a port
 * without credits or a dead neighbour delays others by GRACE, once (test_aside() of
 * tests/unit/test_host_lane.c).
 *
 * Limits. All lanes together hold TORUS_HOST_LANES_MAX bytes, and each no more than what the
 * others leave, but one message always. If a lane is full, its next message stops the host's queue
 * again. If the lane has not moved for PATIENCE, which is longer than torusemu's silence takes to
 * find a dead cable, it is dropped instead, and counted as host_stuck (test_full()). So a
 * destination for which nothing can move costs the others GRACE and PATIENCE at most, once each
 * time that it gets stuck, whatever the host sends to it (test_flood()).
 *
 * Losses. Packets that the NIC has accepted stay in it: hold_bytes and the parking segment
 * have the same room as without lanes, and a message comes here only when it would have waited in
 * front of them. There the host's queue was stopped, and the next queue behind it overflowed, with
 * the messages of all destinations. Now only messages to the stuck destination are dropped, after
 * more of them than before had room. A socket that pays for its messages (torus.ko) cannot get that
 * far: it pays until they leave the lane.
 *
 * Age. A lane that moves, however slowly, does not keep a message, and with it its socket, for more
 * than TORUS_HOST_AGE_MAX: then it is dropped, as host_stuck, a few at a time (test_age()).
 *
 * Order. Messages of one destination and VC that come from one queue of the host stay in order: a
 * message is sent at once only if its lane is empty, a lane is a FIFO, and nothing is taken from a
 * queue that is stopped (test_order()).
 *
 * Deadlock. The NIC never waits for its host, so what waits here keeps nothing in the network. A
 * lane waits for the NIC alone, a stopped queue for its message alone: for room, for GRACE, or for
 * PATIENCE. torus_host_expiry() is when time alone makes a difference; whatever makes room lets the
 * shell look again, as for the rest of its work.
 *
 * A lane is one of the WAYS lanes of a set that its destination and VC may have, so searches are
 * short. If others have them all, its message stops the host's queue, and is dropped after
 * PATIENCE; then further ones of the set without a lane are dropped at once, until a lane of the
 * set moves (test_ways()). That takes more than WAYS stuck destinations whose numbers have the same
 * remainder.
 *
 * Slow destinations. One that moves slowly, but never rests for GRACE, or whose full lane moves
 * once each PATIENCE, would keep stopping the host's queue, which then sends at the rate of that
 * destination. So the stops of a queue have a budget of time: GRACE + PATIENCE, which it gets back
 * while it is not stopped, an eighth of all time (SHARE). If less than GRACE is left, messages
 * without room go into their lanes at once, and if these are full, are dropped at once
 * (test_shared()). Only stops that delay others count: if all messages of the queue have been of
 * one flow for SHARED stops, it stops for as long as it must, and nothing is lost (test_slow()).
 */
#include "host.h"

#define WAYS		8
#define SETS		(TORUS_HOST_LANES / WAYS)
#define GRACE		5000000ull	/* 5 ms */
#define PATIENCE	500000000ull	/* half a second */
#define SHARE		8u		/* of its time a shared queue is stopped, one part of so many */
#define SHARED		1024u		/* stops after the last message of another flow */
#define OLD_BATCH	64u		/* old messages of a lane that are dropped at once */

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

/* Return: the lane in use for @dst and @vc, or else an unused lane; NULL: there is none. */
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

/* Takes the first message out of a lane, which thereby moves. */
static struct torus_host_msg *send_first(struct torus_host *h, struct torus_host_lane *l, u64 now)
{
	l->since = now;
	h->sets_stuck &= ~(1u << (unsigned int)(l - h->lane) / WAYS);
	return pop_message(h, l);
}

static void drop_message(struct torus_host *h, struct torus_host_msg *msg)
{
	tn_nic_counters(h->nic)[TORUS_NC_HOST_DROPS]++;
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

/* Notes of which flow @msg is, the next of its queue. */
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

/* Return: how long a stop of queue @q may last that begins now, ns. */
static u64 time_to_stop(const struct torus_host *h, unsigned int q)
{
	u64 left = GRACE + PATIENCE - h->stop_spent[q];

	if (!h->stop_shared[q])
		return ~0ull;
	return left < GRACE ? 0 : left;
}

static u64 least(u64 a, u64 b)
{
	return a < b ? a : b;
}

static void begin_stop(struct torus_host *h, struct torus_host_msg *msg, u64 now)
{
	u64 back = (now - h->open_since[msg->from]) / (SHARE - 1);

	h->stop_spent[msg->from] -= least(h->stop_spent[msg->from], back);
	h->open_since[msg->from] = now;
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
	h->stop_spent[q] = least(h->stop_spent[q] + spent, GRACE + PATIENCE);
}

/* Decides about a message that is not clear and stops its queue. Return: it does so on. */
static bool place_message(struct torus_host *h, struct torus_host_msg *msg, u64 now)
{
	struct torus_host_lane *l = find_lane(h, msg->dst, msg->vc);
	u64 since = h->stopped_since[msg->from];
	bool used = l && is_lane_used(h, (unsigned int)(l - h->lane));
	u32 set = 1u << set_of(msg->dst, msg->vc);
	u64 most = time_to_stop(h, msg->from);

	if (used ? has_memory(h, l, msg->bytes) : l && now - since >= least(GRACE, most)) {
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

/* Drops messages from the head of lane @i that are too old. */
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

/* Return: a message from a lane, which may be sent now; the lanes have turns. */
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

/* Return: true if torus_host_next() sends @msg, which stopped its queue, or lets it wait aside. */
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

/* Return: when time alone lets @msg, which stopped its queue, wait elsewhere or end. */
static u64 expiry_of(struct torus_host *h, const struct torus_host_msg *msg)
{
	struct torus_host_lane *l = find_lane(h, msg->dst, msg->vc);
	u64 most = time_to_stop(h, msg->from), since = h->stopped_since[msg->from];

	if (!l)
		return since + least(PATIENCE, most);
	if (!is_lane_used(h, (unsigned int)(l - h->lane)))
		return since + least(GRACE, most);
	return most == ~0ull ? l->since + PATIENCE : least(l->since + PATIENCE, since + most);
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
