// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include "daemon/fabricd.h"
#include "daemon/line.h"

static uint64_t gauge(const struct torus_link *l, enum torus_port_gauge g)
{
	return l->gauge[g];
}

static bool is_whole(const struct torus_link *l)
{
	return gauge(l, TORUS_PG_WIDTH) == gauge(l, TORUS_PG_LANES) &&
	       gauge(l, TORUS_PG_RATE) == gauge(l, TORUS_PG_RATE_MAX);
}

static bool is_up(const struct torus_link *l)
{
	return l->state == TORUS_LINK_UP && gauge(l, TORUS_PG_LANES);
}

bool line_degraded(const struct torus_link *l)
{
	return is_up(l) && (!is_whole(l) ||
			    gauge(l, TORUS_PG_MARGIN) < gauge(l, TORUS_PG_MARGIN_TRAIN));
}

static void tell(struct fabricd *d, const struct torus_link *l)
{
	char port[TORUS_TEXT_MAX], text[FM_TEXT_MAX];
	struct fm_status s;

	fm_status(d->fm, &s);
	snprintf(text, sizeof(text), "line %s%s%s: %llu of %llu lanes at %llu of %llu Mb/s, "
		 "margin %llu%%", d->own, *d->own ? ":" : "",
		 torus_port_text(s.placed ? s.shape.ndims : d->nports / 2u, l->port, port),
		 (unsigned long long)gauge(l, TORUS_PG_WIDTH),
		 (unsigned long long)gauge(l, TORUS_PG_LANES),
		 (unsigned long long)gauge(l, TORUS_PG_RATE),
		 (unsigned long long)gauge(l, TORUS_PG_RATE_MAX),
		 (unsigned long long)gauge(l, TORUS_PG_MARGIN));
	fabricd_event(d, loop_wall(), "", is_whole(l) ? FM_INFO : FM_WARNING, "line", text);
}

/* A line that was whole from the beginning is no news. */
void line_note(struct fabricd *d, const struct torus_link *l)
{
	struct line *was = &d->line[l->port];
	struct line is = { gauge(l, TORUS_PG_WIDTH), gauge(l, TORUS_PG_RATE) };

	if (!is_up(l) || (was->width == is.width && was->rate == is.rate))
		return;
	if (was->width || !is_whole(l))
		tell(d, l);
	*was = is;
}
