// SPDX-License-Identifier: GPL-2.0-only
/*
 * torusemu as a NIC that is broken: after SIGUSR1 it returns no more credits over one of its
 * links, the first that has reported REPORTS times since, which lives on otherwise. The linker puts this in place of the core's
 * function (--wrap), so the NIC of the product has no such switch.
 */
#include <signal.h>
#include <string.h>

#include "kernel/core/credit.h"

#define REPORTS 20	/* a link that carries a flow, not some multicast */

u16 __real_tn_credit_report(struct tn_credit *c, u8 *vc);
u16 __wrap_tn_credit_report(struct tn_credit *c, u8 *vc);

static volatile sig_atomic_t withholds;
static struct tn_credit *victim;
static struct {
	const struct tn_credit *of;
	unsigned int reports;
} link_of[TORUS_MAX_PORTS];

static void on_signal(int sig)
{
	(void)sig;
	withholds = 1;
}

__attribute__((constructor)) static void listen_for_signal(void)
{
	signal(SIGUSR1, on_signal);
}

static void count_report(struct tn_credit *c)
{
	for (unsigned int i = 0; i < TORUS_MAX_PORTS; i++) {
		if (link_of[i].of && link_of[i].of != c)
			continue;
		link_of[i].of = c;
		if (++link_of[i].reports == REPORTS)
			victim = c;
		return;
	}
}

u16 __wrap_tn_credit_report(struct tn_credit *c, u8 *vc)
{
	if (withholds && !victim && tn_credit_owed(c))
		count_report(c);
	if (!victim || victim != c)
		return __real_tn_credit_report(c, vc);
	memset(c->owed, 0, sizeof(c->owed));
	*vc = 0;
	return 0;
}
