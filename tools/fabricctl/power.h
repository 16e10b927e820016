/* SPDX-License-Identifier: GPL-2.0-only */
/* The power of a node's host. */
#ifndef POWER_H
#define POWER_H

#include "lab.h"

/**
 * power_off() - the host of a node stops at one moment: no process of it says or closes anything
 * any more, and all its interfaces lose their carrier. @lab has LAB_NO_POWER for it; not packed.
 * Return: 0 or a negative errno.
 */
int power_off(const struct lab *lab, uint32_t node);
/** power_on() - its interface of the service network is up. Return: 0 or a negative errno */
int power_on(const struct lab *lab, uint32_t node);

#endif /* POWER_H */
