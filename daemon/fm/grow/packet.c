// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of a growth on the wire, little endian:
 *
 *    0  "tGRO"                 4  version (1)      5  kind (1)
 *    6  reasons of refusals (1)                    7  least number of cables (1)
 *    8  GUID of the first member (8)              16  number of the growth there (8)
 *   24  least rate (4)        28  least margin (2)
 *   30  step of the sender (1) and of the receiver (1)
 *   32  sums of the sender: asked, done, back (4 each)
 *   44  sums of the receiver, as far as the sender knows them (4 each)
 *   56  membership of the sender (4) and of the receiver (4)
 *   64  first number (4)      68  number of members (4)
 *   72  why the growth ended: GUID (8), reason (1), port (1)
 *
 * Nothing may follow. The first five bytes are the same in all versions. The packet is sealed like
 * an Init (daemon/seal.c), so it comes from the neighbour at the other end of the cable.
 *
 * Test: tests/unit/test_fm_growth_packet.c.
 */
#include <errno.h>
#include <string.h>

#include "daemon/fm/grow/packet.h"
#include "lib/util/le.h"

static const uint8_t magic[4] = { 't', 'G', 'R', 'O' };

bool fm_growth_is_packet(const uint8_t *buf, size_t len)
{
	return len >= sizeof(magic) && !memcmp(buf, magic, sizeof(magic));
}

static void pack_sums(uint8_t *buf, const struct fm_growth_sums *s)
{
	put_le(buf, s->asked, 4);
	put_le(buf + 4, s->done, 4);
	put_le(buf + 8, s->back, 4);
}

void fm_growth_put(uint8_t *buf, const struct fm_growth_msg *m)
{
	memcpy(buf, magic, sizeof(magic));
	buf[4] = FM_GROWTH_VERSION;
	buf[5] = (uint8_t)m->kind;
	buf[6] = m->met;
	buf[7] = m->terms.links;
	put_le(buf + 8, m->id.guid, 8);
	put_le(buf + 16, m->id.serial, 8);
	put_le(buf + 24, m->terms.rate, 4);
	put_le(buf + 28, m->terms.margin, 2);
	buf[30] = m->sent.step;
	buf[31] = m->received.step;
	pack_sums(buf + 32, &m->sent);
	pack_sums(buf + 44, &m->received);
	put_le(buf + 56, m->life, 4);
	put_le(buf + 60, m->to, 4);
	put_le(buf + 64, m->first, 4);
	put_le(buf + 68, m->total, 4);
	put_le(buf + 72, m->end.guid, 8);
	buf[80] = m->end.why;
	buf[81] = m->end.port;
}

/* Return: false if a sum is more than all nodes of a fabric. */
static bool unpack_sums(const uint8_t *buf, uint8_t step, struct fm_growth_sums *s)
{
	s->asked = (uint32_t)get_le(buf, 4);
	s->done = (uint32_t)get_le(buf + 4, 4);
	s->back = (uint32_t)get_le(buf + 8, 4);
	s->step = step;
	return s->asked <= TORUS_MAX_NODES && s->done <= TORUS_MAX_NODES &&
	       s->back <= TORUS_MAX_NODES && step <= 2;
}

static bool is_end_sane(const struct fm_growth_end *e)
{
	return e->why < FM_GROWTH_WHYS &&
	       (e->port < TORUS_MAX_PORTS || e->port == FM_GROWTH_NO_PORT);
}

int fm_growth_get(const uint8_t *buf, size_t len, struct fm_growth_msg *out)
{
	if (!fm_growth_is_packet(buf, len) || len < 5)
		return -EBADMSG;
	if (buf[4] != FM_GROWTH_VERSION)
		return -EPROTONOSUPPORT;
	if (len != FM_GROWTH_BYTES || buf[5] >= FM_GROWTH_KINDS ||
	    buf[6] & ~(FM_GROWTH_MET_BUSY | FM_GROWTH_MET_TERMS) || buf[7] > TORUS_MAX_PORTS)
		return -EBADMSG;
	*out = (struct fm_growth_msg) {
		.kind = (enum fm_growth_kind)buf[5],
		.id = { .guid = get_le(buf + 8, 8), .serial = get_le(buf + 16, 8) },
		.terms = { .links = buf[7], .rate = (uint32_t)get_le(buf + 24, 4),
			   .margin = (uint16_t)get_le(buf + 28, 2) },
		.life = (uint32_t)get_le(buf + 56, 4),
		.to = (uint32_t)get_le(buf + 60, 4),
		.first = (uint32_t)get_le(buf + 64, 4),
		.total = (uint32_t)get_le(buf + 68, 4),
		.met = buf[6],
		.end = { .guid = get_le(buf + 72, 8), .why = buf[80], .port = buf[81] },
	};
	if (!unpack_sums(buf + 32, buf[30], &out->sent) ||
	    !unpack_sums(buf + 44, buf[31], &out->received) || !is_end_sane(&out->end) ||
	    out->first >= TORUS_MAX_NODES || out->total > TORUS_MAX_NODES)
		return -EBADMSG;
	return 0;
}
