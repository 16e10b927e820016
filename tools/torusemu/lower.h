/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Notifications of rtnetlink about lower devices: changes of carrier and MTU, deletion, creation.
 */
#ifndef EMU_LOWER_H
#define EMU_LOWER_H

#include "loop.h"

struct chassis;
struct nl_sock;

struct lower {
	struct watch watch;
	struct nl_sock *sock;
};

/** lower_init() - subscribe, for all ports of @chassis. Return: 0 or negative errno */
int lower_init(struct chassis *chassis);
void lower_fini(struct chassis *chassis);

#endif /* EMU_LOWER_H */
