/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A medium: cables in memory, between ports of one chassis. A cable has a name and
 * two ends; the first two ports attached to its name have it. It carries while
 * both ends are plugged in and it is not cut.
 *
 * A NIC that ends without unplugging, as by a crash, leaves its ends plugged in:
 * the carrier stays, and a new NIC takes the same ends again.
 */
#ifndef EMU_CABLE_H
#define EMU_CABLE_H

#include <net/if.h>

#include "tn_deps.h"

struct chassis;
struct port;

/**
 * struct plug - a port's end of a cable
 * @cable: NULL for none
 */
struct plug {
	struct cable *cable;
	u8 end;
};

/** cable_cut() - or mend it; one that nobody is attached to yet as well. Return: 0, -ENOMEM */
int cable_cut(struct chassis *c, const char *name, bool cut);
/** cable_abandon() - the NIC of @port is no more, but what it plugged in stays so */
void cable_abandon(struct port *port);
void cables_free(struct chassis *c);

#endif /* EMU_CABLE_H */
