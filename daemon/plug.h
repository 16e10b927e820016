/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * LEDs and plugs of the interfaces below this node's ports. Drivers take long for both, so a
 * separate thread calls them (nicq.h), and the loop reads the result later. At most one LED of a
 * node blinks, so that a person in front of the node finds the right port.
 */
#ifndef PLUG_H
#define PLUG_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/module.h"

struct loop;
struct plugs;

enum plug_state { PLUG_NONE, PLUG_BEGINS, PLUG_GOES_ON, PLUG_DONE, PLUG_FAILED, PLUG_STATES };

/**
 * struct plug_locate - the LED at a port
 * @state: PLUG_GOES_ON: the LED blinks; PLUG_DONE: it has ended; PLUG_FAILED: it cannot blink, for
 *	the reason @err
 * @left: time until the end, ns
 */
struct plug_locate {
	enum plug_state state;
	int err;
	uint64_t left;
};

/** struct plug_module - the plug at a port; @module is valid with PLUG_DONE */
struct plug_module {
	enum plug_state state;
	int err;
	struct module module;
};

/** plugs_new() - start a queue for the drivers. Return: NULL if out of memory */
struct plugs *plugs_new(struct loop *loop);
/** plugs_free() - free @p; waits for the driver that is being called, a second or so */
void plugs_free(struct plugs *p);

/**
 * plug_locate() - let the LED of @lower, the interface of @port, blink for @ns; 0: stop it
 * The LED of another port stops.
 * Return: 0 or -ENOMEM.
 */
int plug_locate(struct plugs *p, unsigned int port, const char *lower, uint64_t ns);
void plug_located(const struct plugs *p, unsigned int port, struct plug_locate *out);

/**
 * plug_look() - start to read the plug of @lower, unless the last result is new enough. Return: 0
 * or -ENOMEM
 */
int plug_look(struct plugs *p, unsigned int port, const char *lower);
void plug_looked(const struct plugs *p, unsigned int port, struct plug_module *out);

#endif /* PLUG_H */
