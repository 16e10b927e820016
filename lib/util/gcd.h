/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
#ifndef UTIL_GCD_H
#define UTIL_GCD_H

#include <stdint.h>

/** gcd() - Return: the greatest common divisor of @a and @b; @a if @b is 0 */
static inline uint32_t gcd(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t t = a % b;

		a = b;
		b = t;
	}
	return a;
}

#endif /* UTIL_GCD_H */
