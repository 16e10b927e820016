/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
#ifndef UTIL_FNV_H
#define UTIL_FNV_H

#include <stdint.h>

#define FNV1A_START 0xcbf29ce484222325ull

/** fnv1a() - FNV-1a of @text, 64 bits; @h: FNV1A_START, or the hash of the text before @text */
static inline uint64_t fnv1a(uint64_t h, const char *text)
{
	while (*text)
		h = (h ^ (uint8_t)*text++) * 0x100000001b3ull;
	return h;
}

#endif /* UTIL_FNV_H */
