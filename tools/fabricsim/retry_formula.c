// SPDX-License-Identifier: GPL-2.0-only
#include "retry_formula.h"

#include <math.h>

#define PAPER_PACKETS 3		/* packets that the paper counts as sent again for each hit */
#define PAPER_MICRO 50		/* micro-packets that the paper counts as sent again for each hit */

static bool is_micro(const struct formula *f)
{
	return f->unit < f->payload;
}

static double clean_flow(const struct formula *f)
{
	return f->payload / f->unit * (f->unit + f->overhead);
}

double paper_retries(const struct formula *f, unsigned int k)
{
	double flow = clean_flow(f);

	if (is_micro(f))
		flow += (f->unit + f->overhead) * PAPER_MICRO * k;
	else if (k)
		flow *= (1 + PAPER_PACKETS) * (double)k;
	return f->payload / flow;
}

double exact_retries(const struct formula *f, unsigned int k)
{
	return f->payload / (clean_flow(f) + (f->unit + f->overhead) * (1 + f->waste) * k);
}

/* Return: the probability that at least one bit of @bytes is damaged. */
static double hit_chance(double bytes, double ber)
{
	return ber >= 1 ? 1 : -expm1(8 * bytes * log1p(-ber));
}

double paper_efficiency(const struct formula *f)
{
	double p = hit_chance(f->payload, f->ber), chance = 1 - p, sum = 0;

	for (unsigned int k = 0; k < 100000 && chance > 1e-15; k++, chance *= p)
		sum += chance * paper_retries(f, k);
	if (f->answer > 0)
		sum *= clean_flow(f) / (clean_flow(f) + f->answer);
	return sum;
}

double exact_efficiency(const struct formula *f)
{
	double p = hit_chance(f->unit + f->overhead, f->ber), units = f->payload / f->unit;
	double flow;

	if (p >= 1)
		return 0;
	flow = (f->unit + f->overhead) * units * (1 + (1 + f->waste) * p / (1 - p));
	return f->payload / (flow + f->answer);
}

double crossing(struct formula a, struct formula b, double (*of)(const struct formula *))
{
	double low = 1e-9, high = 2e-4, sign;

	a.ber = b.ber = low;
	sign = of(&a) - of(&b);
	a.ber = b.ber = high;
	if (sign * (of(&a) - of(&b)) >= 0)
		return NAN;
	for (int i = 0; i < 100; i++) {
		double mid = sqrt(low * high);

		a.ber = b.ber = mid;
		if (sign * (of(&a) - of(&b)) > 0)
			low = mid;
		else
			high = mid;
	}
	return low;
}
