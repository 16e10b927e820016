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

void fm_bootstrap_start(struct fm *fm, const struct torus_device *dev,
			const struct torus_link *links);
void fm_bootstrap_link(struct fm *fm, const struct torus_link *link);
void fm_bootstrap_init(struct fm *fm, unsigned int port, const uint8_t *data, size_t len);
/** fm_bootstrap_tell() - what an Init of this node says now; not of which port it is */
void fm_bootstrap_tell(const struct fm *fm, struct fm_init *init);
/**
 * fm_bootstrap_credible() - may that Init be believed? One whose epoch is far above those that the
 * NIC has obeyed, or that were kept, is a mistake, or a lie: who follows it, and says so to
 * others, would find no root any more. Return: false then, and it is a problem
 */
bool fm_bootstrap_credible(struct fm *fm, unsigned int port, const struct fm_init *init);
void fm_bootstrap_due(struct fm *fm);
uint64_t fm_bootstrap_expiry(const struct fm *fm);

#endif /* FM_BOOTSTRAP_H */
