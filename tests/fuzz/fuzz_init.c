// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a packet between the managers of neighbours, an Init or a message of a growth: an
 * accepted one is within limits, and packs to the same bytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/fm/grow/packet.h"
#include "daemon/fm/wire/init.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_growth(const uint8_t *data, size_t len)
{
	uint8_t again[FM_GROWTH_BYTES];
	struct fm_growth_msg m;

	if (fm_growth_get(data, len, &m))
		return;
	if (m.kind >= FM_GROWTH_KINDS || m.sent.step > 2 || m.received.step > 2 ||
	    m.sent.asked > TORUS_MAX_NODES || m.end.why >= FM_GROWTH_WHYS ||
	    m.terms.links > TORUS_MAX_PORTS || len != sizeof(again))
		abort();
	fm_growth_put(again, &m);
	if (memcmp(again, data, len))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t again[TORUS_MGMT_MAX];
	struct fm_init init;

	check_growth(data, len);
	if (fm_init_get(data, len, &init))
		return 0;
	if (fm_growth_is_packet(data, len))
		abort();
	if (init.ndims > TORUS_MAX_DIMS || init.port >= TORUS_MAX_PORTS ||
	    (init.settled && !init.placed))
		abort();
	if (fm_init_put(again, &init) != len || memcmp(again, data, len))
		abort();
	return 0;
}
