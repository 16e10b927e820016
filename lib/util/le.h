/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
#ifndef UTIL_LE_H
#define UTIL_LE_H

#include <stdint.h>

/* Numbers of up to eight bytes, little endian. */
static inline void put_le(uint8_t *p, uint64_t v, unsigned int bytes)
{
	while (bytes--) {
		*p++ = (uint8_t)v;
		v >>= 8;
	}
}

static inline uint64_t get_le(const uint8_t *p, unsigned int bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | p[bytes];
	return v;
}

#endif /* UTIL_LE_H */
