/* SPDX-License-Identifier: GPL-2.0-only */
/* Management packets between neighbours, sealed with the key of the fabric. */
#ifndef SEAL_H
#define SEAL_H

#include <stddef.h>
#include <stdint.h>
#include <torus/torus.h>

struct auth;
struct seal;

#define SEAL_BYTES 52		/* bytes that the seal adds to a packet */

/**
 * struct seal_ops - callbacks to the owner
 * @send: send a packet on @port
 * @received: handle these bytes, which the neighbour at @port has sent
 * @refused: a packet without a seal of this fabric's key came on @port
 */
struct seal_ops {
	void (*send)(void *arg, unsigned int port, const void *data, size_t len);
	void (*received)(void *arg, unsigned int port, const void *data, size_t len);
	void (*refused)(void *arg, unsigned int port);
};

/**
 * struct seal_counts - packets that were received and not passed on
 * @refused: packets without a seal, or with a seal of another key, link or port
 * @late: packets sealed for another session of the link or for an earlier manager, and repeated
 *	packets
 */
struct seal_counts {
	uint64_t refused, late;
};

/**
 * seal_new() - create the seal of the NIC @guid with the key of @auth. Return: NULL if there is no
 * memory
 */
struct seal *seal_new(const struct auth *auth, uint64_t guid, const struct seal_ops *ops,
		      void *arg);
void seal_free(struct seal *s);

/**
 * seal_link() - update the state of a link; called at first and after each change, before the state
 * machine gets the same event
 */
void seal_link(struct seal *s, const struct torus_link *l);

/**
 * seal_send() - send @len bytes, at most TORUS_MGMT_MAX - SEAL_BYTES, to the neighbour at @port
 * If the neighbour cannot verify yet that these bytes are new, they are sent as soon as it can,
 * unless a later call replaces them before.
 */
void seal_send(struct seal *s, unsigned int port, const void *data, size_t len);

/** seal_receive() - handle a packet that arrived on @port */
void seal_receive(struct seal *s, unsigned int port, const void *data, size_t len);

const struct seal_counts *seal_counts(const struct seal *s);

#endif /* SEAL_H */
