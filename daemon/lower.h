/* SPDX-License-Identifier: GPL-2.0-only */
/* The lower device of a port: the Ethernet interface that a software NIC's link goes over. */
#ifndef LOWER_H
#define LOWER_H

#include <stdint.h>

/** lower_speed() - Return: the rate of interface @name, Mb/s; 0: none, or it does not say */
uint32_t lower_speed(const char *name);

#endif /* LOWER_H */
