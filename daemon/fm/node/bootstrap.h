/* SPDX-License-Identifier: GPL-2.0-only */
/* The wave of Inits, by which nodes find the root. */
#ifndef FM_BOOTSTRAP_H
#define FM_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <torus/torus.h>

struct fm;
struct fm_init;

#define FM_NO_PORT TORUS_MAX_PORTS	/* "port" of an Init that came over the service network */

/**
 * fm_bootstrap_begin() - take over the place of the NIC, if it has one, and the state of all links;
 * called by fm_new()
 */
void fm_bootstrap_begin(struct fm *fm, const struct torus_device *dev,
			const struct torus_link *links);
/**
 * fm_bootstrap_origin() - called on a root without a place: place it at 0, in the configured shape
 */
void fm_bootstrap_origin(struct fm *fm);
/** fm_bootstrap_link() - process the new state of a link */
void fm_bootstrap_link(struct fm *fm, const struct torus_link *link);
/** fm_bootstrap_init() - process a management packet that was received on @port */
void fm_bootstrap_init(struct fm *fm, unsigned int port, const uint8_t *data, size_t len);
/** fm_bootstrap_tell() - fill in an Init of this node, except for @heard and @port */
void fm_bootstrap_tell(const struct fm *fm, struct fm_init *init);
/**
 * fm_bootstrap_credible() - check the epoch of an Init
 * @port: the port that received it; FM_NO_PORT: it came as a call
 *
 * An epoch more than FM_EPOCH_STEP above those that the NIC has obeyed, and that of the kept table,
 * is a mistake or a lie: a node that followed it, and passed it on, would obey no root any more.
 * Return: false if the epoch is incredible. This is also reported as a problem, until a credible
 * Init comes by that port, or, for a call, for 30 s; a caller calls again long before that.
 */
bool fm_bootstrap_credible(struct fm *fm, unsigned int port, const struct fm_init *init);
void fm_bootstrap_due(struct fm *fm);
uint64_t fm_bootstrap_expiry(const struct fm *fm);

#endif /* FM_BOOTSTRAP_H */
