/* SPDX-License-Identifier: GPL-2.0-only */
/* Random numbers, and the scattering of keys. */
#ifndef FM_RANDOM_H
#define FM_RANDOM_H

#include <stdint.h>

struct fm;

/* The next of the machine's own numbers. */
uint64_t fm_random(struct fm *fm);

/* Scatters the bits of @x: for hashes and fingerprints. */
uint64_t fm_mix(uint64_t x);
uint64_t fm_mix_text(uint64_t sum, const char *text);

#endif /* FM_RANDOM_H */
