/* SPDX-License-Identifier: GPL-2.0-only */
/* Random numbers, and the scattering of keys. */
#ifndef FM_RANDOM_H
#define FM_RANDOM_H

#include <stdint.h>

struct fm;

/** fm_random() - Return: the next random number of this machine, determined by its seed */
uint64_t fm_random(struct fm *fm);

/** fm_mix() - a hash of @x whose bits are all well scattered: for hash tables and fingerprints */
uint64_t fm_mix(uint64_t x);
/** fm_mix_text() - the same for a text, added to the hash @sum of what came before it */
uint64_t fm_mix_text(uint64_t sum, const char *text);

#endif /* FM_RANDOM_H */
