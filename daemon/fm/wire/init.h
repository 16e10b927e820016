/* SPDX-License-Identifier: GPL-2.0-only */
/* Init: the management packet that managers of neighbouring nodes send each other. */
#ifndef FM_INIT_H
#define FM_INIT_H

#include "daemon/fm/wire/msg.h"

#define FM_INIT_VERSION 3
#define FM_DOUBT_MAX 7	/* this value means this many doubtful cables, or more (node/wave.c) */

/**
 * struct fm_end - the other end of a cable, as the INIT of the link names it; @guid 0: not known
 */
struct fm_end {
	uint64_t guid;
	uint8_t port;
};

/**
 * struct fm_init - one Init
 * @placed: the sender has coordinates; without them, it only asks for an Init
 * @settled: @size is final and @position are coordinates in it. If not, the shape is still being
 *	discovered (sizes 0) or not yet published; or the root that the sender follows only asks,
 *	and knows less of the shape than the sender
 * @received: the sender has received an Init of the receiver since the link came up, and requests
 *	no answer (node/bootstrap.c)
 * @lost: the sender has no way to the named root at present
 * @asks: the named root does not lead yet, but asks to be root (root/claim.c)
 * @port: port of the sender from which the Init was sent
 * @ndims: number of dimensions of the fabric
 * @doubt: number of doubtful cables on the path by which the sender got @position (node/wave.c)
 * @nends, @end: the other end of the sender's cable at each of its ports
 * @epoch: epoch of the named root; if that only asks: the latest epoch that it knows
 * @size: number of nodes along each dimension; 0: not known
 * @position: the sender's coordinates, not reduced by any size
 */
struct fm_init {
	bool placed;
	bool settled;
	bool received;
	bool lost;
	bool asks;
	uint8_t port;
	uint8_t ndims;
	uint8_t doubt;
	uint8_t nends;
	uint16_t size[TORUS_MAX_DIMS];
	int32_t position[TORUS_MAX_DIMS];
	struct fm_end end[TORUS_MAX_PORTS];
	uint64_t guid;
	uint64_t root_guid;
	uint64_t epoch;
	char fabric[TORUS_NAME_MAX + 1];
	char name[TORUS_NAME_MAX + 1];
	char root_address[FM_ADDR_MAX];
};

/** fm_init_put() - encode an Init. Return: number of bytes, at most TORUS_MGMT_MAX */
size_t fm_init_put(uint8_t *buf, const struct fm_init *init);

/**
 * fm_init_get() - decode an Init and check its values
 * Return: 0, -EBADMSG malformed or out of range, -EPROTONOSUPPORT another version.
 */
int fm_init_get(const uint8_t *buf, size_t len, struct fm_init *out);

#endif /* FM_INIT_H */
