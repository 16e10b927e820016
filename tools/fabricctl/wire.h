/* SPDX-License-Identifier: GPL-2.0-only */
/* Cables and service network of a lab, through rtnetlink. */
#ifndef WIRE_H
#define WIRE_H

#include <linux/if.h>
#include <netinet/in.h>
#include <stdbool.h>

struct nl_msg;
struct nl_sock;

#define WIRE_MTU 65535
#define WIRE_QUEUE 1000		/* most frames that wait at a cable's end */
/* interface index of the end at port 0; those of the other ports follow */
#define WIRE_INDEX 0x10000

/**
 * struct wire_end - one end of a veth pair
 * @index: of the interface, if both ends have one; 0: the kernel's choice
 */
struct wire_end {
	int netns;
	char name[IFNAMSIZ];
	int index;
};

/** wire_open() - open a socket in the namespace of the caller. Return: NULL and errno on error */
struct nl_sock *wire_open(void);
void wire_close(struct nl_sock *sk);

/* All functions below return 0 or a negative errno. */
/** wire_send() - send a message, which is freed, and wait for its ACK */
int wire_send(struct nl_sock *sk, struct nl_msg *msg);
/**
 * wire_ask() - like wire_send(), for a question with one answer; @answer reads the answer from the
 * message
 */
int wire_ask(struct nl_sock *sk, struct nl_msg *msg, int (*answer)(struct nl_msg *msg, void *arg),
	     void *arg);
/** wire_error() - Return: text of the last error, with the message of the kernel */
const char *wire_error(void);
/**
 * wire_cable() - make a cable, with its ends in their namespaces; @a is up, @b is not
 *
 * The ends should have different indices. The kernel takes an interface that has the index of the
 * one it is linked to for a physical one, and reports the carriers of those at most once a second.
 */
int wire_cable(struct nl_sock *sk, const struct wire_end *a, const struct wire_end *b);
/** wire_bridge() - make a bridge. Return: its ifindex */
int wire_bridge(struct nl_sock *sk, const char *name);
/** wire_plug() - make a veth pair: @port, up, at the bridge of index @bridge, and @end */
int wire_plug(struct nl_sock *sk, int bridge, const struct wire_end *port,
	      const struct wire_end *end);
int wire_address(struct nl_sock *sk, const char *dev, struct in_addr a, unsigned int bits);
int wire_set_mtu(struct nl_sock *sk, const char *dev, uint32_t mtu);
int wire_set_up(struct nl_sock *sk, const char *dev, bool up);

/** wire_quiet() - switch IPv6 autoconfiguration off in this namespace: cables carry no IP */
int wire_quiet(void);

#endif /* WIRE_H */
