/* SPDX-License-Identifier: GPL-2.0-only */
/* The ports of this node: its port row, and when the next Init is due on each port. */
#ifndef FM_PORT_H
#define FM_PORT_H

#include <stdbool.h>
#include <stdint.h>
#include <torus/torus.h>

#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_init;

/** fm_ports_new() - allocate the ports; called by fm_new(). Return: false if there is no memory */
bool fm_ports_new(struct fm *fm);
void fm_ports_free(struct fm *fm);

/**
 * fm_port_row_same() - Return: true if the port row entries @a and @b are equal, except for @reason
 */
bool fm_port_row_same(const struct fm_port_row *a, const struct fm_port_row *b);

/** fm_opposite() - Return: the neighbour's port to which a correct cable of @port leads */
unsigned int fm_opposite(unsigned int ndims, unsigned int port);

/**
 * fm_port_text() - write the name of a port, such as +y; if the dimensions are not known, its
 * number
 * @buf: TORUS_TEXT_MAX bytes
 * Return: @buf.
 */
const char *fm_port_text(const struct fm *fm, unsigned int p, char *buf);

/** fm_ports_used() - Return: number of ports in use; the NIC may have more */
unsigned int fm_ports_used(const struct fm *fm);

/**
 * fm_ports_begin() - take over the states of all links when the manager starts; the port row gets
 * its first serial
 */
void fm_ports_begin(struct fm *fm, const struct torus_link *links);
/** fm_port_link() - process the new state of a link. Return: true if the port row changed */
bool fm_port_link(struct fm *fm, const struct torus_link *l);
/**
 * fm_port_problem() - set the fault of the port that the neighbour's Init shows. Return: true if it
 * changed
 */
bool fm_port_problem(struct fm *fm, unsigned int p, enum fm_port_problem problem);
/**
 * fm_port_stalled() - note whether the port was taken down because the neighbour returns no credits
 * Return: true if the row changed.
 */
bool fm_port_stalled(struct fm *fm, unsigned int p, bool is);
/**
 * fm_ports_opened() - remove from the port row how the former sessions of @ports ended
 * Called when a replay has opened these ports.
 */
void fm_ports_opened(struct fm *fm, uint16_t ports);
bool fm_port_up(const struct fm *fm, unsigned int p);
/** fm_port_has_init() - Return: true if a placed neighbour sent an Init since the link came up */
bool fm_port_has_init(const struct fm *fm, unsigned int p);
/**
 * fm_port_acknowledges() - Return: true if the next Init on that port acknowledges the neighbour's
 * An Init that does not acknowledge requests an answer (bootstrap.c).
 */
bool fm_port_acknowledges(const struct fm *fm, unsigned int p);
/** fm_port_last() - Return: when the last Init came by that port; 0 if none has come */
uint64_t fm_port_last(const struct fm *fm, unsigned int p);
/** fm_port_init() - process an Init of the neighbour; @answers: this node has to answer it soon */
void fm_port_init(struct fm *fm, unsigned int p, const struct fm_init *init, bool answers);
/** fm_port_due() - Return: true if an Init is due on that port */
bool fm_port_due(const struct fm *fm, unsigned int p);
/** fm_port_sent() - an Init was sent on that port: set the time of the next one */
void fm_port_sent(struct fm *fm, unsigned int p);
/** fm_ports_expiry() - Return: when an Init is due on any port, or NEVER */
uint64_t fm_ports_expiry(const struct fm *fm);
/**
 * fm_ports_spread() - send Inits on all ports again, because their content has changed
 * A neighbour may still acknowledge the former Init. That does not count (bootstrap.c).
 */
void fm_ports_spread(struct fm *fm);
/**
 * fm_ports_ask() - as fm_ports_spread(), and wait for new Inits of the neighbours, because this
 * node follows another root
 */
void fm_ports_ask(struct fm *fm);

#endif /* FM_PORT_H */
