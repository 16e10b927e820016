// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/histogram.h"
#include "lib/util/clock.h"

const uint64_t histogram_bounds[HISTOGRAM_BOUNDS] = {
	100 * US, 500 * US, 1 * MS, 2500 * US, 5 * MS, 10 * MS, 25 * MS, 50 * MS, 100 * MS,
	250 * MS, 1 * SEC, 5 * SEC,
};

void histogram_add(struct histogram *h, uint64_t ns)
{
	unsigned int i = 0;

	while (i < HISTOGRAM_BOUNDS && ns > histogram_bounds[i])
		i++;
	h->count[i]++;
	h->sum += ns;
}

uint64_t histogram_total(const struct histogram *h)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i <= HISTOGRAM_BOUNDS; i++)
		n += h->count[i];
	return n;
}
