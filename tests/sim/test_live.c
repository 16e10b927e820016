// SPDX-License-Identifier: GPL-2.0-only
/*
 * Properties of a port that may be changed while its NIC is in use: its retry protocol, whether it
 * is up, how long its frames may be, and that it shall train again. In any order, under traffic,
 * while frames are lost: no packet is lost, duplicated or reordered, no NIC is taken for dead, and
 * each link ends with the protocol that its ports were told last. The parameters of a NIC itself
 * cannot be changed while it lives.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "kernel/core/nic_impl.h"
#include "trial.h"
#include "tests/unit/random.h"
#include "tools/fabricsim/world_impl.h"

#define CHANGES 40

/* Changes one end of a cable. */
static void change(struct world *w, uint32_t node, unsigned int port, unsigned int what, uint64_t *r)
{
	struct tn_nic *nic = w->node[node].nic;
	u32 least = tn_packet_max(&nic->params);

	switch (what) {
	case 0:
		tn_nic_retry(nic, port, random_below(r, TORUS_RETRY_HIPPI + 1), w->now);
		break;
	case 1:
		tn_nic_admin(nic, port, random_below(r, 2), w->now);
		break;
	case 2:
		tn_nic_frame_max(nic, port, least + random_below(r, nic->params.frame_max - least + 1));
		break;
	default:
		tn_nic_retrain(nic, port, w->now);
		break;
	}
	nic_pump(w, node);
}

static void set_admin(struct world *w, uint32_t node, unsigned int port, bool up)
{
	tn_nic_admin(w->node[node].nic, port, up, w->now);
	nic_pump(w, node);
}

/*
 * Ends all changes: the ports of each cable are up, and use the protocol @retry in a new session.
 */
static void settle(struct world *w, unsigned int retry)
{
	for (unsigned int again = 0; again < 2; again++)
		for (uint32_t k = 0; k < w->ncables; k++) {
			const struct cable *c = &w->cable[k];

			for (unsigned int e = 0; c->there && e < 2; e++) {
				tn_nic_retry(w->node[c->node[e]].nic, c->port[e], retry, w->now);
				set_admin(w, c->node[e], c->port[e], !again || e);
			}
			world_run(w, again ? 5 * MS : 0);
			if (c->there)
				set_admin(w, c->node[0], c->port[0], true);
		}
}

/* Return: the greatest number of sessions that any link had. */
static u32 check_links(struct trial *s, unsigned int retry)
{
	u32 most = 0;

	for (uint32_t i = 0; i < world_nodes(s->w); i++)
		for (unsigned int p = 0; p < s->w->nports; p++) {
			struct tn_link_info l;

			if (s->w->node[i].cable[p] < 0)
				continue;
			tn_nic_link_info(s->w->node[i].nic, p, &l, s->w->now);
			most = l.session > most ? l.session : most;
			if (l.retry != (retry == TORUS_RETRY_AUTO ? TORUS_RETRY_ANGARA : retry))
				trial_fail(s, "node %u, port %u: protocol %u, not %u", i, p, l.retry,
					   retry);
		}
	return most;
}

static void one_history(uint64_t seed)
{
	unsigned int retry = (unsigned int)(seed % (TORUS_RETRY_HIPPI + 1));
	struct world_config c;
	uint64_t r = seed;
	struct trial s;

	trial_config(&c, seed & 1 ? "4x3" : "3x3x2", seed);
	c.frame_loss = random_below(&r, 2) * 300;
	c.flap_limit = 1000;
	trial_begin(&s, &c);
	trial_power_all(&s);
	trial_rest(&s, 10 * SEC);
	s.none_late = true;
	trial_traffic(&s, 100 * US);
	for (unsigned int i = 0; i < CHANGES; i++) {
		uint32_t k = random_below(&r, s.w->ncables);
		unsigned int what = random_below(&r, 4), end = random_below(&r, 3);

		for (unsigned int e = 0; s.w->cable[k].there && e < 2; e++)
			if (end == 2 || end == e)
				change(s.w, s.w->cable[k].node[e], s.w->cable[k].port[e], what, &r);
		world_run(s.w, random_below(&r, 2) * random_below(&r, 20 * MS));
	}
	settle(s.w, retry);
	trial_rest(&s, 60 * SEC);
	if (check_links(&s, retry) < 3)
		trial_fail(&s, "no link has begun anew");
	if (!check_flow_counted(s.flow, TORUS_NC_PARKED))
		trial_fail(&s, "nothing was parked");
	if (check_flow_returned(s.flow) || check_flow_counted(s.flow, TORUS_NC_LOST) ||
	    check_flow_counted(s.flow, TORUS_NC_DUPLICATES) ||
	    check_flow_counted(s.flow, TORUS_NC_UNSURE))
		trial_fail(&s, "packets came back, are lost or may be duplicated");
	if (!trial_end(&s))
		fail_msg("seed %llu: %s", (unsigned long long)seed, s.wrong);
}

static void live_fabric_survives_random_changes(void **state)
{
	(void)state;
	if (getenv("SEED")) {
		one_history(random_seed(0));
		return;
	}
	for (uint64_t seed = 1; seed <= 12; seed += trial_every())
		one_history(seed);
}

int main(void)
{
	static const struct CMUnitTest all[] = {
		cmocka_unit_test(live_fabric_survives_random_changes),
	};

	return cmocka_run_group_tests_name("live", all, NULL, NULL);
}
