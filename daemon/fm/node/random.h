/* SPDX-License-Identifier: GPL-2.0-only */
/* Random numbers, and hashes. */
#ifndef FM_RANDOM_H
#define FM_RANDOM_H

#include <stdint.h>

struct fm;

/** fm_random() - Return: the next random number of this machine, determined by its seed */
uint64_t fm_random(struct fm *fm);

/**
 * fm_mix() - Return: a hash of @x that depends on all of its bits: for hash tables and fingerprints
 */
uint64_t fm_mix(uint64_t x);
/** fm_mix_text() - Return: a hash of @text that continues the hash @sum */
uint64_t fm_mix_text(uint64_t sum, const char *text);

#endif /* FM_RANDOM_H */
