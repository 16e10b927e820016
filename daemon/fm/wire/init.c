// SPDX-License-Identifier: GPL-2.0-only
/*
 * Init packets on the wire, little endian:
 *
 *    0  "tINI"                 4  version (1)      5  flags (1: bit 0 placed,
 *    1 settled, 2 heard, 3 lost, 4 asks)          6  port (1)
 *    7  dimensions (1)
 *    8  sender's GUID (8)     16  root's GUID (8)
 *   24  size of each of 6 dimensions (2 each)
 *   36  position in each of 6 dimensions, signed (4 each)
 *   60  epoch of the root (8)
 *   68  three texts, each its length (1) and its bytes: fabric, sender's name,
 *       root's service address
 *    .  doubt (1)              .  ports (1), and for each the other end of its
 *       cable: GUID (8) and port (1)
 *
 * Nothing may follow. The first five bytes are the same in all versions, so that a receiver
 * recognises an Init of another version.
 */
#include <errno.h>
#include <string.h>

#include "daemon/fm/wire/init.h"
#include "lib/util/le.h"

#define FIXED 68
#define FLAGS 31
#define END 9		/* bytes of the other end of one cable */

static const char magic[4] = "tINI";

_Static_assert(FIXED + 3 + 2 * TORUS_NAME_MAX + FM_ADDR_MAX - 1 + 2 + END * TORUS_MAX_PORTS <=
	       FM_INIT_MAX,
	       "room for each Init");
_Static_assert(FM_INIT_MAX <= TORUS_MGMT_MAX, "an Init is one management packet");

static size_t put_init_text(uint8_t *p, const char *text)
{
	size_t len = strlen(text);

	*p = (uint8_t)len;
	memcpy(p + 1, text, len);
	return len + 1;
}

size_t fm_init_put(uint8_t *buf, const struct fm_init *init)
{
	size_t at = FIXED;

	memcpy(buf, magic, sizeof(magic));
	buf[4] = FM_INIT_VERSION;
	buf[5] = (uint8_t)(init->placed | init->settled << 1 | init->received << 2 |
			   init->lost << 3 | init->asks << 4);
	buf[6] = init->port;
	buf[7] = init->ndims;
	put_le(buf + 8, init->guid, 8);
	put_le(buf + 16, init->root_guid, 8);
	put_le(buf + 60, init->epoch, 8);
	for (unsigned int d = 0; d < TORUS_MAX_DIMS; d++) {
		put_le(buf + 24 + 2 * d, init->size[d], 2);
		put_le(buf + 36 + 4 * d, (uint32_t)init->position[d], 4);
	}
	at += put_init_text(buf + at, init->fabric);
	at += put_init_text(buf + at, init->name);
	at += put_init_text(buf + at, init->root_address);
	buf[at++] = init->doubt;
	buf[at++] = init->nends;
	for (unsigned int p = 0; p < init->nends; p++, at += END) {
		put_le(buf + at, init->end[p].guid, 8);
		buf[at + 8] = init->end[p].port;
	}
	return at;
}

/*
 * Reads a text of at most @room - 1 bytes. Return: false if it is longer, or is not printable
 * ASCII.
 */
static bool get_init_text(const uint8_t *buf, size_t len, size_t *at, char *to, size_t room)
{
	size_t n;

	if (*at >= len)
		return false;
	n = buf[(*at)++];
	if (n >= room || n > len - *at)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (buf[*at + i] < ' ' || buf[*at + i] > '~')
			return false;
		to[i] = (char)buf[*at + i];
	}
	to[n] = '\0';
	*at += n;
	return true;
}

/*
 * Reads the doubt and the other ends of cables. If the Init has fewer ports, the ends of the others
 * are unknown.
 */
static bool get_ends(const uint8_t *buf, size_t len, size_t *at, struct fm_init *out)
{
	if (len - *at < 2)
		return false;
	out->doubt = buf[(*at)++];
	out->nends = buf[(*at)++];
	if (out->nends > TORUS_MAX_PORTS || len - *at != (size_t)END * out->nends)
		return false;
	memset(out->end, 0, sizeof(out->end));
	for (unsigned int p = 0; p < out->nends; p++, *at += END) {
		out->end[p].guid = get_le(buf + *at, 8);
		out->end[p].port = buf[*at + 8];
		if (out->end[p].port >= TORUS_MAX_PORTS)
			return false;
	}
	return true;
}

static bool is_sane(const struct fm_init *i)
{
	uint64_t nodes = 1;

	if (i->epoch > FM_EPOCH_MAX || i->ndims > TORUS_MAX_DIMS || (i->placed && !i->ndims) ||
	    (i->settled && !i->placed) || i->doubt > FM_DOUBT_MAX || i->port >= TORUS_MAX_PORTS ||
	    (i->ndims && i->port >= 2 * i->ndims))
		return false;
	for (unsigned int d = 0; d < i->ndims; d++) {
		if (i->size[d] > TORUS_MAX_SIZE || i->position[d] > TORUS_MAX_NODES ||
		    i->position[d] < -TORUS_MAX_NODES)
			return false;
		if (i->settled && (i->position[d] < 0 || i->position[d] >= i->size[d]))
			return false;
		if (i->size[d])
			nodes *= i->size[d];
		if (nodes > TORUS_MAX_NODES)
			return false;
	}
	return true;
}

int fm_init_get(const uint8_t *buf, size_t len, struct fm_init *out)
{
	size_t at = FIXED;

	if (len < 5 || memcmp(buf, magic, sizeof(magic)))
		return -EBADMSG;
	if (buf[4] != FM_INIT_VERSION)
		return -EPROTONOSUPPORT;
	if (len < FIXED || buf[5] & ~FLAGS)
		return -EBADMSG;
	out->placed = buf[5] & 1;
	out->settled = buf[5] & 2;
	out->received = buf[5] & 4;
	out->lost = buf[5] & 8;
	out->asks = buf[5] & 16;
	out->port = buf[6];
	out->ndims = buf[7];
	out->guid = get_le(buf + 8, 8);
	out->root_guid = get_le(buf + 16, 8);
	out->epoch = get_le(buf + 60, 8);
	for (unsigned int d = 0; d < TORUS_MAX_DIMS; d++) {
		out->size[d] = (uint16_t)get_le(buf + 24 + 2 * d, 2);
		out->position[d] = (int32_t)(uint32_t)get_le(buf + 36 + 4 * d, 4);
	}
	if (!get_init_text(buf, len, &at, out->fabric, sizeof(out->fabric)) ||
	    !get_init_text(buf, len, &at, out->name, sizeof(out->name)) ||
	    !get_init_text(buf, len, &at, out->root_address, sizeof(out->root_address)) ||
	    !get_ends(buf, len, &at, out) || !is_sane(out))
		return -EBADMSG;
	return 0;
}
