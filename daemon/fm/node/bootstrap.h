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

#define FM_NO_PORT TORUS_MAX_PORTS	/* an Init that came over the service network */

void fm_bootstrap_begin(struct fm *fm, const struct torus_device *dev,
			const struct torus_link *links);
/** fm_bootstrap_origin() - a root without a place begins at 0, with the configured shape */
void fm_bootstrap_origin(struct fm *fm);
void fm_bootstrap_link(struct fm *fm, const struct torus_link *link);
void fm_bootstrap_init(struct fm *fm, unsigned int port, const uint8_t *data, size_t len);
/** fm_bootstrap_tell() - what an Init of this node says now, but for @heard and @port */
void fm_bootstrap_tell(const struct fm *fm, struct fm_init *init);
/**
 * fm_bootstrap_credible() - whether to believe an Init that came by @port. If its epoch is far
 * above those that the NIC has obeyed, and that of the kept table, it is a mistake or a lie: a
 * node that followed it, and told others, would find no root any more.
 * Return: false then; it is also told as a problem: until such an Init comes by that port that is
 * believed, or, of a call, for 30 s: a caller that goes on calls again long before.
 */
bool fm_bootstrap_credible(struct fm *fm, unsigned int port, const struct fm_init *init);
void fm_bootstrap_due(struct fm *fm);
uint64_t fm_bootstrap_expiry(const struct fm *fm);

#endif /* FM_BOOTSTRAP_H */
