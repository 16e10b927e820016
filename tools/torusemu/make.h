/* SPDX-License-Identifier: GPL-2.0-only */
/* A NIC made as a command line says, with all that belongs to it. */
#ifndef EMU_MAKE_H
#define EMU_MAKE_H

#include "args.h"

struct chassis;
struct emu;

/**
 * make_nic() - one that is ready when this returns
 * @args: params.frame_max is fitted to the devices; nothing of it is kept
 * @why: what is wrong, if something is
 * Return: the NIC, or NULL.
 */
struct emu *make_nic(struct chassis *chassis, struct args *args, char *why, size_t size);
/** unmake_nic() - in order: its cables are unplugged */
void unmake_nic(struct emu *emu);
/** kill_nic() - as a crash would: its cables stay plugged in */
void kill_nic(struct emu *emu);

#endif /* EMU_MAKE_H */
