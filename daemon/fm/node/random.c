// SPDX-License-Identifier: GPL-2.0-only
/* Random numbers from the seed of the machine: the same seed and events give the same run. */
#include "daemon/fm/node/random.h"
#include "daemon/fm/node/machine.h"
#include "kernel/core/splitmix64.h"

uint64_t fm_mix(uint64_t x)
{
	return splitmix64_mix(x);
}

uint64_t fm_mix_text(uint64_t sum, const char *text)
{
	while (*text)
		sum = fm_mix(sum + (uint8_t)*text++);
	return sum;
}

uint64_t fm_random(struct fm *fm)
{
	return splitmix64_mix(fm->random += SPLITMIX64_STEP);
}
