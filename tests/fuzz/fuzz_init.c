// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as an Init: an accepted one is within limits, and packs to the same bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/fm/wire/init.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t again[TORUS_MGMT_MAX];
	struct fm_init init;

	if (fm_init_get(data, len, &init))
		return 0;
	if (init.ndims > TORUS_MAX_DIMS || init.port >= TORUS_MAX_PORTS ||
	    (init.settled && !init.placed))
		abort();
	if (fm_init_put(again, &init) != len || memcmp(again, data, len))
		abort();
	return 0;
}
