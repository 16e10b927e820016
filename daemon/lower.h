/* SPDX-License-Identifier: GPL-2.0-only */
/* The lower device of a port: the Ethernet interface that a software NIC's link goes over. */
#ifndef LOWER_H
#define LOWER_H

#include <stdint.h>

struct module;

/**
 * lower_speed() - Return: the rate of interface @name, Mb/s; 0 if the interface has no rate, or it
 * is not known
 */
uint32_t lower_speed(const char *name);
/**
 * lower_blink() - let the interface's LED blink for a second, and wait for that
 * Return: 0; -EOPNOTSUPP if its driver cannot; another negative errno.
 */
int lower_blink(const char *name);
/**
 * lower_module() - read the plug in the interface; takes up to some 100 ms
 * Return: 0; -EOPNOTSUPP if its driver cannot; -EPROTONOSUPPORT: see module_read(); another
 * negative errno.
 */
int lower_module(const char *name, struct module *out);

#endif /* LOWER_H */
