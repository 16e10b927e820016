/* SPDX-License-Identifier: GPL-2.0-only */
/* The power of a node's host. */
#ifndef POWER_H
#define POWER_H

#include "lab.h"

/**
 * power_off() - end the host of a node as a power failure would: its processes can neither send
 * anything nor close their connections, and all its interfaces lose their carrier
 * The caller has set LAB_NO_POWER in @lab, which is not packed.
 * Return: 0 or a negative errno.
 */
int power_off(const struct lab *lab, uint32_t node);
/** power_signal() - send a signal to all processes of a node. Return: their number or -errno */
int power_signal(const struct lab *lab, uint32_t node, int sig);
/**
 * power_on() - set the node's interface to the service network up. Return: 0 or a negative errno
 */
int power_on(const struct lab *lab, uint32_t node);

#endif /* POWER_H */
