/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The NICs of a packed lab: all in one torusemu, with cables in memory, which it
 * adds, kills, cuts and mends on request. It runs in the lab's one namespace.
 */
#ifndef PACK_H
#define PACK_H

#include "lab.h"

/** pack_cable() - name of the cable of a port, the same at both its ends. Return: @buf */
char *pack_cable(const struct lab *lab, uint32_t node, unsigned int port, char *buf);
/** pack_start() - unless it runs; cables are cut as the lab says. OK or CANNOT */
int pack_start(const struct lab *lab, int netns, const char *program);
/** pack_running() - pid of it if it holds this node's NIC, or 0 */
int pack_running(const struct lab *lab, uint32_t node);
/** pack_add() - a NIC of these words; says what is wrong. OK or CANNOT */
int pack_add(const struct lab *lab, uint32_t node, char *const *word);
/* Return: 0 or a negative errno. */
int pack_kill(const struct lab *lab, uint32_t node);
/** pack_wire() - the cable of a port, as lab_end_up() wants its ends */
int pack_wire(const struct lab *lab, uint32_t node, unsigned int port);

#endif /* PACK_H */
