/* SPDX-License-Identifier: GPL-2.0-only */
/* The wave of Inits, by which nodes find the root. */
#ifndef FM_BOOTSTRAP_H
#define FM_BOOTSTRAP_H

#include <stddef.h>
#include <stdint.h>
#include <torus/torus.h>

struct fm;

void fm_bootstrap_start(struct fm *fm, const struct torus_device *dev,
			const struct torus_link *links);
void fm_bootstrap_link(struct fm *fm, const struct torus_link *link);
void fm_bootstrap_init(struct fm *fm, unsigned int port, const uint8_t *data, size_t len);
void fm_bootstrap_due(struct fm *fm);
uint64_t fm_bootstrap_expiry(const struct fm *fm);

#endif /* FM_BOOTSTRAP_H */
