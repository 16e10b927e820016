/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fabric of growth machines (daemon/fm/grow) in virtual time, for tests: messages that are lost
 * or late, nodes that die, hang and start again, cables that are cut; and what must hold at the
 * end.
 */
#ifndef TESTS_GROW_NET_H
#define TESTS_GROW_NET_H

#include "daemon/fm/grow/growth.h"

#define GROW_NET_NODES 64
#define GROW_NET_MAIL 4096
#define GROW_NET_SERIALS 8

/**
 * struct grow_net_node - a node
 * @hangs: until when its manager does nothing
 * @joined: growths of which it was a member in the present life of its manager, by serial
 */
struct grow_net_node {
	struct fm_growth growth;
	struct grow_net *net;
	bool dead;
	uint64_t hangs, last[TORUS_MAX_PORTS];
	bool joined[GROW_NET_SERIALS];
};

/**
 * struct grow_net_mail - a message under way; @order: of two at the same time, the lower is
 * first
 */
struct grow_net_mail {
	uint64_t at, order;
	uint32_t to, from;
	uint8_t port, from_port;
	struct fm_growth_msg msg;
};

/**
 * struct grow_net - a fabric
 * @loss: messages lost, of 1000
 * @jitter: a message takes 100 us, and up to this many us more
 * @seen: messages delivered
 * @faulty: a node died, hung or started again, or a cable was cut
 * @ended: why members left each growth, as masks
 */
struct grow_net {
	struct torus_shape shape;
	uint32_t nodes, mails, loss, jitter;
	uint64_t now, seed, order, seen;
	bool faulty;
	unsigned int ended[GROW_NET_SERIALS];
	struct grow_net_node node[GROW_NET_NODES];
	struct grow_net_mail mail[GROW_NET_MAIL];
};

/** grow_net_init() - all nodes are there, all cables are up */
void grow_net_init(struct grow_net *t, const char *shape, uint64_t seed);

/** grow_net_begin() - let a growth begin at @node. Return: of fm_growth_begin() */
int grow_net_begin(struct grow_net *t, uint32_t node, uint32_t serial, uint32_t total,
		   const struct fm_growth_terms *terms);

/**
 * grow_net_run() - handle messages and timers until none is left by @until, or until @seen messages
 * were delivered
 */
void grow_net_run(struct grow_net *t, uint64_t until, uint64_t seen);

/** grow_net_set() - set the cable at @port of @node, at both ends */
void grow_net_set(struct grow_net *t, uint32_t node, unsigned int port,
		  const struct fm_growth_port *is);

void grow_net_cut(struct grow_net *t, uint32_t node, unsigned int port);
void grow_net_kill(struct grow_net *t, uint32_t node);
void grow_net_restart(struct grow_net *t, uint32_t node);
void grow_net_hang(struct grow_net *t, uint32_t node, uint64_t ns);

/** grow_net_running() - Return: nodes where the growth @serial of @root runs */
uint32_t grow_net_running(const struct grow_net *t, uint32_t root, uint32_t serial);

/** grow_net_judge() - Return: what does not hold when nothing moves any more; NULL: all does */
const char *grow_net_judge(const struct grow_net *t);

#endif /* TESTS_GROW_NET_H */
