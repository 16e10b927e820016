// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings of two to five whole NICs under each bubble policy, with as few packet buffers as it
 * allows: their cables are cut, mended, damaged, silent and retrained at random while they are
 * full. After each step fabric_check() looks for a free buffer, and for a critical bubble, in every
 * ring that is closed; at the end every packet has arrived once, and in order. SEEDS=10000 runs so
 * many histories of each kind with each policy.
 */
#include "tests/unit/fabric.h"
#include "lib/util/times.h"

static struct fabric f;
static unsigned int policy;

static u64 port_counters(enum torus_port_counter which)
{
	u64 sum = 0;

	for (u32 i = 0; i < f.n; i++) {
		for (unsigned int p = 0; p < f.nports; p++)
			sum += tn_nic_port_counters(f.node[i].nic, p, f.now)[which];
	}
	return sum;
}

static u64 node_counters(enum torus_node_counter which)
{
	u64 sum = 0;

	for (u32 i = 0; i < f.n; i++)
		sum += tn_nic_counters(f.node[i].nic)[which];
	return sum;
}

static unsigned int slots_min(void)
{
	return policy == TORUS_BUBBLE_BLOC ? 4 : policy == TORUS_BUBBLE_CBS ? 2 : 1;
}

static void tight(struct fabric *t)
{
	t->params.bubble = policy;
	t->params.slots = slots_min() + (rnd_below(&t->r, 2) ? rnd_below(&t->r, 3) : 0);
	t->params.retry_packets = 4 + rnd_below(&t->r, 16);
	t->params.keepalive = 10 * MS;
	t->params.silence = 35 * MS;
	t->params.probe_interval = 10 * MS;
	t->params.retry = rnd_below(&t->r, 4);
	t->relays = true;
}

static const char *const rings[] = { "2", "3", "4", "5" };

static const char *ring_of(uint64_t seed)
{
	return rings[seed % ARRAY_SIZE(rings)];
}

static void (*one_now)(uint64_t seed);

static void with_each(uint64_t seed)
{
	for (policy = TORUS_BUBBLE_BLOC; policy < TORUS_BUBBLES; policy++)
		one_now(seed);
}

static void each_policy(unsigned int seeds, void (*one)(uint64_t seed))
{
	one_now = one;
	for_seeds(seeds, with_each);
}

/* --- full rings -------------------------------------------------------------------- */

static void full(uint64_t seed)
{
	fabric_start_tuned(&f, seed, ring_of(seed), tight);
	f.load = 2;
	f.busy_host = rnd_below(&f.r, 2) ? 3 : 0;
	fabric_run(&f, 20 * MS);
	fabric_settle(&f, 10000 * MS);
	expect(&f.r, f.delivered && !f.returned && !fabric_parked(&f), "policy %u", policy);
	fabric_end(&f);
}

static void full_rings_go_on_under_each_policy(void **state)
{
	(void)state;
	each_policy(8, full);
}

static void plane(uint64_t seed)
{
	fabric_start_tuned(&f, seed, seed % 2 ? "3x4" : "2x2x3", tight);
	f.load = 2;
	fabric_run(&f, 10 * MS);
	fabric_settle(&f, 10000 * MS);
	expect(&f.r, f.delivered && !f.returned, "policy %u", policy);
	fabric_end(&f);
}

/* Packets turn from one ring to another. */
static void rings_of_planes_go_on_under_each_policy(void **state)
{
	(void)state;
	each_policy(4, plane);
}

/* --- few bubbles --------------------------------------------------------------------- */

static void one_buffer(struct fabric *t)
{
	tight(t);
	t->params.slots = 1;
}

/*
 * Each output begins with a bubble, and one buffer is all that it has: bubbles must become fewer.
 */
static void fewer(uint64_t seed)
{
	bool closed;
	unsigned int n;

	fabric_start_tuned(&f, seed, ring_of(seed), one_buffer);
	fabric_run(&f, MS);
	n = fabric_critical(&f, 0, 0, TORUS_VC_D0, &closed);
	expect(&f.r, closed && n == f.n, "%u bubbles of %u", n, f.n);
	f.load = 3;
	fabric_run(&f, 20 * MS);
	fabric_settle(&f, 10000 * MS);
	n = fabric_critical(&f, 0, 0, TORUS_VC_D0, &closed);
	expect(&f.r, closed && n && n < f.n, "%u bubbles of %u", n, f.n);
	expect(&f.r, port_counters(TORUS_PC_BUBBLE_REQUESTS) &&
	       port_counters(TORUS_PC_BUBBLE_RESPONSES), "asked and answered");
	fabric_end(&f);
}

static void full_ring_makes_bubbles_fewer_under_mbs(void **state)
{
	(void)state;
	policy = TORUS_BUBBLE_MBS;
	for_seeds(8, fewer);
}

/* --- more than the ring carries --------------------------------------------------------- */

/*
 * All nodes always have packets to send to the next but one. Return: how many arrive. (More than
 * f.queue that wait change nothing but the time that counting them takes.)
 */
static u64 send_two_hops(u64 ns)
{
	u64 until = f.now + ns, before = f.delivered;

	while (f.now < until) {
		for (u32 i = 0; i < f.n; i++) {
			u32 dst = (i + 2) % f.n;

			if (TN_INJECT_MAX - tn_nic_room(f.node[i].nic, dst, TORUS_VC_D0) < f.queue)
				fabric_send(&f, i, dst, TORUS_VC_D0);
		}
		fabric_step(&f);
	}
	return f.delivered - before;
}

/*
 * In a ring of five all packets go on to a second link, and more want to enter than it carries. A
 * rule that leaves no bubble lets the ring fill up, which fabric_check() finds.
 */
static void crowded(uint64_t seed)
{
	fabric_start_tuned(&f, seed, "5", tight);
	send_two_hops(10 * MS);
	expect(&f.r, send_two_hops(10 * MS), "policy %u: nothing moves", policy);
	fabric_settle(&f, 10000 * MS);
	fabric_end(&f);
}

static void crowded_rings_go_on_under_each_policy(void **state)
{
	(void)state;
	each_policy(8, crowded);
}

/*
 * In a ring of five all packets go on to a second link, so they wait for each other when all buffers
 * are full. With a single bubble in the ring, as few as there may be, packets arrive without end. If
 * it is taken away, a packet that enters leaves one buffer less free than MBS demands: the ring is
 * full after a while, and nothing in it moves any more.
 */
static void one_less(uint64_t seed)
{
	for (unsigned int bubbles = 2; bubbles--;) {
		fabric_start_tuned(&f, seed, "5", one_buffer);
		fabric_run(&f, MS);
		for (u32 i = bubbles; i < f.n; i++)
			f.node[i].nic->link[0].credit.critical[TORUS_VC_D0] = 0;
		f.unchecked = !bubbles;
		send_two_hops(20 * MS);
		expect(&f.r, (send_two_hops(100 * MS) != 0) == bubbles, "%u bubbles", bubbles);
		if (bubbles)
			fabric_settle(&f, 10000 * MS);
		fabric_end(&f);
	}
}

static void ring_goes_on_with_one_bubble_and_stops_without(void **state)
{
	(void)state;
	policy = TORUS_BUBBLE_MBS;
	for_seeds(4, one_less);
}

/* --- histories -------------------------------------------------------------------------- */

static void errors(bool on)
{
	for (u32 i = 0; i < f.n; i++) {
		for (unsigned int p = 0; p < f.nports; p++) {
			f.node[i].out[p].lose = on && rnd_below(&f.r, 2) ? 50 : 0;
			f.node[i].out[p].damage = on && rnd_below(&f.r, 2) ? 50 : 0;
		}
	}
}

static void mend(u32 node)
{
	fabric_silence(&f, node, 0, false);
	fabric_carrier(&f, node, 0, true);
}

static bool all_up(void)
{
	for (u32 i = 0; i < f.n; i++) {
		for (unsigned int p = 0; p < f.nports; p++) {
			if (f.node[i].nic->link[p].state != TORUS_LINK_UP)
				return false;
		}
	}
	return true;
}

static void wait_up(void)
{
	u64 until = f.now + 1000 * MS;

	while (!all_up()) {
		fabric_step(&f);
		expect(&f.r, f.now < until, "policy %u: links stay down", policy);
	}
}

static void thaw(void)
{
	for (u32 i = 0; i < f.n; i++)
		f.node[i].frozen = false;
}

/*
 * A cable is cut, by its carrier or by silence, or mended. At most one cable is cut at a time: a
 * ring that is cut twice falls into two parts, and packets between these come back as unreachable.
 */
static void cut_or_mend(s32 *down)
{
	u32 node = rnd_below(&f.r, f.n);

	if (*down >= 0) {
		mend((u32)*down);
		*down = -1;
		return;
	}
	errors(false);
	thaw();		/* a link to buffers that a host keeps full does not come up (ring.h) */
	wait_up();
	if (rnd_below(&f.r, 2)) {
		fabric_silence(&f, node, 0, true);
		fabric_run(&f, 50 * MS);	/* until both ends have noticed */
	} else {
		fabric_carrier(&f, node, 0, false);
	}
	*down = (s32)node;
}

static void happen(s32 *down)
{
	unsigned int what = rnd_below(&f.r, 6);

	if (*down >= 0 && what > 3)
		what = 0;
	switch (what) {
	case 0:
	case 1:
		cut_or_mend(down);
		break;
	case 4:
		tn_nic_retrain(f.node[rnd_below(&f.r, f.n)].nic, rnd_below(&f.r, 2), f.now);
		break;
	case 5:
		errors(rnd_below(&f.r, 2));
		break;
	case 2:
		f.node[rnd_below(&f.r, f.n)].frozen = rnd_below(&f.r, 2);
		break;
	default:
		f.load = 2 + rnd_below(&f.r, 4);
	}
}

static void mend_all(void)
{
	for (u32 i = 0; i < f.n; i++)
		mend(i);
	errors(false);
	thaw();
}

/*
 * Hosts send little meanwhile: a replay goes on with what they send, and would not end if that were
 * more than a ring of one buffer an input carries.
 */
static void recover(void)
{
	unsigned int load = f.load;

	f.load = 30;
	fabric_recover(&f, 20000 * MS);
	f.load = load;
}

static void history(uint64_t seed)
{
	s32 down = -1;

	fabric_start_tuned(&f, seed, ring_of(seed), tight);
	f.load = 3;
	f.busy_host = rnd_below(&f.r, 2) ? 4 : 0;
	for (int i = 0; i < 4; i++) {
		happen(&down);
		fabric_run(&f, rnd_below(&f.r, 3 * MS));
		if (rnd_below(&f.r, 2)) {
			errors(false);
			thaw();
			recover();
		}
	}
	mend_all();
	wait_up();
	recover();
	fabric_settle(&f, 10000 * MS);
	expect(&f.r, !node_counters(TORUS_NC_LOST) && !node_counters(TORUS_NC_DUPLICATES),
	       "policy %u: lost %llu", policy, (unsigned long long)node_counters(TORUS_NC_LOST));
	fabric_end(&f);
}

static void random_histories_of_rings_go_on(void **state)
{
	(void)state;
	each_policy(16, history);
}

/* --- mixed policies ------------------------------------------------------------------------ */

/*
 * The links at both ends of NIC 0 were up once. They stay in state init, and no event is reported.
 */
static void stay_apart(void)
{
	u64 changes = port_counters(TORUS_PC_STATE_CHANGES);
	u64 attempts = port_counters(TORUS_PC_RETRAINS);

	fabric_run(&f, 1000 * MS);
	expect(&f.r, port_counters(TORUS_PC_STATE_CHANGES) == changes &&
	       port_counters(TORUS_PC_RETRAINS) == attempts,
	       "%llu changes of state, %llu attempts",
	       (unsigned long long)(port_counters(TORUS_PC_STATE_CHANGES) - changes),
	       (unsigned long long)(port_counters(TORUS_PC_RETRAINS) - attempts));
	expect(&f.r, f.node[0].nic->link[0].state == TORUS_LINK_INIT, "state %u",
	       f.node[0].nic->link[0].state);
}

/* NIC 0 has another policy than its neighbours: its links do not come up until it has theirs. */
static void mixed(uint64_t seed)
{
	fabric_start_tuned(&f, seed, "3", tight);
	for (u32 own = 0; own < TORUS_BUBBLES; own++) {
		const struct tn_link *l = &f.node[0].nic->link[0];

		fabric_carrier(&f, 0, 0, false);
		f.node[0].nic->params.bubble = own;
		fabric_carrier(&f, 0, 0, true);
		fabric_run(&f, 30 * MS);
		expect(&f.r, (l->state == TORUS_LINK_UP) == (own == policy) &&
		       (own == policy || l->reason == TORUS_REASON_BUBBLE),
		       "policy %u with %u: state %u, reason %u", own, policy, l->state, l->reason);
		if (own != policy)
			stay_apart();
	}
	fabric_end(&f);
}

/*
 * This uses a single seed, whatever SEEDS is: these links are idle for seconds, and nothing is
 * random.
 */
static void link_between_different_policies_stays_down(void **state)
{
	(void)state;
	one_now = mixed;
	with_each(1);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(full_rings_go_on_under_each_policy),
		cmocka_unit_test(rings_of_planes_go_on_under_each_policy),
		cmocka_unit_test(full_ring_makes_bubbles_fewer_under_mbs),
		cmocka_unit_test(crowded_rings_go_on_under_each_policy),
		cmocka_unit_test(ring_goes_on_with_one_bubble_and_stops_without),
		cmocka_unit_test(random_histories_of_rings_go_on),
		cmocka_unit_test(link_between_different_policies_stays_down),
	};

	return cmocka_run_group_tests_name("ring", all, NULL, NULL);
}
