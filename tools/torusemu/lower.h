/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's news about lower devices: carrier, MTU, deletion, return. */
#ifndef EMU_LOWER_H
#define EMU_LOWER_H

#include "loop.h"

struct emu;
struct nl_sock;

struct lower {
	struct watch watch;
	struct nl_sock *sock;
};

int lower_init(struct emu *emu);
void lower_fini(struct emu *emu);

#endif /* EMU_LOWER_H */
