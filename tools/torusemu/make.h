/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes a NIC from the options of a command line, with its ports, host side and socket. */
#ifndef EMU_MAKE_H
#define EMU_MAKE_H

#include "args.h"

struct chassis;
struct emu;

/**
 * make_nic() - make a NIC, which is ready when this returns
 * @chassis: the NIC is added to it
 * @args: params.frame_max is limited to the devices' MTU; @args may be freed after the call
 * @why: gets the text of an error
 * @size: bytes of @why
 * Return: the NIC, or NULL.
 */
struct emu *make_nic(struct chassis *chassis, struct args *args, char *why, size_t size);
/** unmake_nic() - remove a NIC in an orderly way: its cables are unplugged */
void unmake_nic(struct emu *emu);
/** kill_nic() - remove a NIC as a crash would: its cables stay plugged in */
void kill_nic(struct emu *emu);

#endif /* EMU_MAKE_H */
