/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The one generator of random numbers of this project: splitmix64 (Steele, Lea, Flood: Fast
 * Splittable Pseudorandom Number Generators, OOPSLA 2014). Equal seeds must give equal runs in
 * every release of this software, so this algorithm must not change.
 *
 * The caller holds the state, 64 bits of any type:
 *
 *	z = splitmix64_mix(state += SPLITMIX64_STEP);
 *
 * It is good enough for simulations, jitter and hashes, but must not be used for secrets.
 */
#ifndef SPLITMIX64_H
#define SPLITMIX64_H

#define SPLITMIX64_STEP 0x9e3779b97f4a7c15ull

/** splitmix64_mix() - Return: the random number for the state @z; also a good hash of @z */
static inline unsigned long long splitmix64_mix(unsigned long long z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

#endif /* SPLITMIX64_H */
