/* SPDX-License-Identifier: GPL-2.0-only */
/* The wave: Inits that spread from the root over the links. By them nodes find the root. */
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
 * fm_bootstrap_begin() - read from the NIC its place, if it has one, and the state of all its links
 * Called by fm_new().
 */
void fm_bootstrap_begin(struct fm *fm, const struct torus_device *dev,
			const struct torus_link *links);
/**
 * fm_bootstrap_origin() - give a root that has no place the coordinates 0, in the configured shape
 */
void fm_bootstrap_origin(struct fm *fm);
/** fm_bootstrap_link() - process the new state of a link */
void fm_bootstrap_link(struct fm *fm, const struct torus_link *link);
/** fm_bootstrap_init() - process a management packet that was received on @port */
void fm_bootstrap_init(struct fm *fm, unsigned int port, const uint8_t *data, size_t len);
/**
 * fm_bootstrap_fill() - write what this node knows into @init, for any port; the caller sets
 * @received and @port
 */
void fm_bootstrap_fill(const struct fm *fm, struct fm_init *init);
/**
 * fm_bootstrap_credible() - check whether the epoch in an Init can be true
 * @port: the port that received it; FM_NO_PORT: it came as a call
 *
 * An epoch more than FM_EPOCH_STEP above those that the NIC has obeyed, and above that of the kept
 * table, is a mistake or a lie. A node that followed it would obey no true root any more, and would
 * pass the false epoch on.
 * Return: false if the epoch cannot be true. That is also reported as a problem: for a port until
 * it receives an Init with a credible epoch, for a call for 30 s. A caller calls again long before
 * that.
 */
bool fm_bootstrap_credible(struct fm *fm, unsigned int port, const struct fm_init *init);
void fm_bootstrap_due(struct fm *fm);
uint64_t fm_bootstrap_expiry(const struct fm *fm);

#endif /* FM_BOOTSTRAP_H */
