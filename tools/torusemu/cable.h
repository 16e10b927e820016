/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A medium: cables in memory, between ports of one chassis. A cable has a name and two ends; the
 * first two ports that are attached to this name get the ends. The cable has carrier while both
 * ends are plugged in and it is not cut.
 *
 * A NIC that crashes does not unplug its ends: the carrier stays, and when the NIC is started
 * again, its ports get the same ends.
 */
#ifndef EMU_CABLE_H
#define EMU_CABLE_H

#include <net/if.h>

#include "tn_deps.h"

struct chassis;
struct port;

/**
 * struct plug - a port's end of a cable
 * @cable: the cable, or NULL
 */
struct plug {
	struct cable *cable;
	u8 end;
};

/**
 * cable_cut() - cut a cable, or mend it; no port need be attached to it yet. Return: 0 or -ENOMEM
 */
int cable_cut(struct chassis *c, const char *name, bool cut);
/** cable_abandon() - detach @port, whose NIC was killed, but leave its end plugged in */
void cable_abandon(struct port *port);
void cables_free(struct chassis *c);

#endif /* EMU_CABLE_H */
