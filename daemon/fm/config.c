// SPDX-License-Identifier: GPL-2.0-only
/* Times that suit a fabric of real nodes and a lab of 64 on one machine. */
#include "daemon/fm/clock.h"
#include "daemon/fm/fm.h"

void fm_config_default(struct fm_config *c)
{
	*c = (struct fm_config) {
		.fanout = 8,
		.init_interval = 50 * MS,
		.quiet = 500 * MS,
		.resend = 100 * MS,
		.drain_max = 100 * MS,
		.resolve_max = 300 * MS,
		.member_max = 3000 * MS,
		.keepalive = 1000 * MS,
		.flap_limit = 5,
		.flap_half_life = 15000 * MS,
		.hold_max = 60000 * MS,
		.takeover = 200 * MS,
		.priority = FM_PRIORITY_AUTO,
		.seed = 1,
	};
}
