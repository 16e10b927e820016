/* SPDX-License-Identifier: GPL-2.0-only */
/* Management packets between neighbours, sealed with the key of the fabric. */
#ifndef SEAL_H
#define SEAL_H

#include <stddef.h>
#include <stdint.h>
#include <torus/torus.h>

struct auth;
struct seal;

#define SEAL_BYTES 52		/* that it adds to a packet */

/**
 * struct seal_ops - what the owner does
 * @send: a packet goes out on @port
 * @heard: the neighbour at @port has sent these bytes
 * @refused: a packet came on @port that has no seal of this fabric's key
 */
struct seal_ops {
	void (*send)(void *arg, unsigned int port, const void *data, size_t len);
	void (*heard)(void *arg, unsigned int port, const void *data, size_t len);
	void (*refused)(void *arg, unsigned int port);
};

/**
 * struct seal_counts - packets that came and were not passed on
 * @refused: without a seal, or with one of another key, link or port
 * @late: sealed for another session of the link, for a former manager, or once more
 */
struct seal_counts {
	uint64_t refused, late;
};

/** seal_new() - for the NIC @guid, with the key of @auth. Return: NULL: no memory */
struct seal *seal_new(const struct auth *auth, uint64_t guid, const struct seal_ops *ops,
		      void *arg);
void seal_free(struct seal *s);

/**
 * seal_link() - the state of a link, at first and whenever it changes; before the manager is told
 */
void seal_link(struct seal *s, const struct torus_link *l);

/**
 * seal_send() - send @len bytes, at most TORUS_MGMT_MAX - SEAL_BYTES, to the neighbour at @port
 * If it cannot know yet that they are new, they go once it can, unless later ones have come by
 * then.
 */
void seal_send(struct seal *s, unsigned int port, const void *data, size_t len);

/** seal_heard() - a packet has come on @port */
void seal_heard(struct seal *s, unsigned int port, const void *data, size_t len);

const struct seal_counts *seal_counts(const struct seal *s);

#endif /* SEAL_H */
