/* SPDX-License-Identifier: GPL-2.0-only */
/* The ports of this node: its row, and when the next Init is due on each. */
#ifndef FM_PORT_H
#define FM_PORT_H

#include <stdbool.h>
#include <stdint.h>
#include <torus/torus.h>

#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_init;

/* A machine begins. Return: false: no memory. */
bool fm_ports_new(struct fm *fm);
void fm_ports_free(struct fm *fm);

/* Return: true if two rows say the same of a port. */
bool fm_port_row_same(const struct fm_port_row *a, const struct fm_port_row *b);

/* The port of a neighbour to which a cable of @port leads. */
unsigned int fm_opposite(unsigned int ndims, unsigned int port);

/*
 * Writes the direction of a port, such as +y, or its number as long as there are no directions.
 * @buf: TORUS_TEXT_MAX bytes. Return: @buf.
 */
const char *fm_port_text(const struct fm *fm, unsigned int p, char *buf);

/* Ports that take part: a NIC may have more than the fabric has directions. */
unsigned int fm_ports_used(const struct fm *fm);

/* Takes all links as the NIC found them. */
void fm_ports_begin(struct fm *fm, const struct torus_link *links);
/* Takes the state of a link. Return: true if the row is another. */
bool fm_port_link(struct fm *fm, const struct torus_link *l);
/* The neighbour's Init says what is wrong with the cable. Return: true if the row is another. */
bool fm_port_problem(struct fm *fm, unsigned int p, enum fm_port_problem problem);
/*
 * @is: it is taken down, because the neighbour returns no credits; else it is not, after all.
 * Return: true if the row is another.
 */
bool fm_port_stalled(struct fm *fm, unsigned int p, bool is);
/* @ports were opened for the replay: how far their sessions came need not be told any more. */
void fm_ports_opened(struct fm *fm, uint16_t ports);
bool fm_port_up(const struct fm *fm, unsigned int p);
/*
 * Return: true if an Init of a node that has a place has come by that port since the link came up.
 */
bool fm_port_heard(const struct fm *fm, unsigned int p);
/* When the last Init came by that port; 0: none has. */
uint64_t fm_port_last(const struct fm *fm, unsigned int p);
/* An Init has come; @answers: this node's own is to follow soon. */
void fm_port_init(struct fm *fm, unsigned int p, const struct fm_init *init, bool answers);
/* Return: true if an Init is due on that port; it has been sent. */
bool fm_port_due(const struct fm *fm, unsigned int p);
void fm_port_sent(struct fm *fm, unsigned int p);
/* When the next one is due on any port. */
uint64_t fm_ports_expiry(const struct fm *fm);
/* The content of Inits has changed: sends them again on all ports. */
void fm_ports_spread(struct fm *fm);
/*
 * This node has another position, doubt or cable: spreads that. What a neighbour has heard before,
 * and says now that it has heard, is the old one; and it answers the new one (bootstrap.c).
 */
void fm_ports_moved(struct fm *fm);
/* The root is another one: asks neighbours for their Inits, too, to judge them anew. */
void fm_ports_ask(struct fm *fm);

#endif /* FM_PORT_H */
