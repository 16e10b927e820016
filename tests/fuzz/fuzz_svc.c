// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as the life of a manager: what peers say on the service network,
 * what neighbours say in Inits, links that come and go, time that passes. The
 * machine must not fall, must say only what its own codec accepts, must ask of
 * its NIC only what lies in its shape, and must come to rest.
 *
 * First byte: bit 0 root, bit 1 placed, bit 2 shape given. Then records: kind,
 * argument, length (2 bytes, little endian), bytes.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/fm/fm.h"
#include "daemon/fm/status.h"
#include "daemon/fm/wire/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define PORTS 4
#define TIMERS_MAX 10000

/** struct world - the surroundings of one manager */
struct world {
	struct torus_shape shape;
	uint32_t nodes;
	int conns;
	uint32_t under_way;	/* tag of an action at the NIC */
};

static void mgmt_send(void *io, unsigned int port, const void *data, size_t len)
{
	(void)io, (void)data;
	if (port >= PORTS || !len || len > TORUS_MGMT_MAX)
		abort();
}

/* Begins an action, which ends when the manager is called again; until then no other may begin. */
static void begin(struct world *w, uint32_t tag)
{
	if (w->under_way || !tag)
		abort();
	w->under_way = tag;
}

static void root_set(void *io, uint32_t tag, uint64_t epoch, uint64_t guid)
{
	(void)guid;
	if (!epoch)
		abort();
	begin(io, tag);
}

static void place_set(void *io, uint32_t tag, const struct torus_shape *shape,
		      const struct torus_coords *at, const struct torus_plan *plan)
{
	struct world *w = io;

	if (!torus_nodes(shape) || shape->ndims > PORTS / 2)
		abort();
	for (unsigned int d = 0; d < shape->ndims; d++)
		if (at->c[d] >= shape->size[d])
			abort();
	if (!fm_plan_holds(plan, shape))
		abort();
	w->shape = *shape;
	w->nodes = torus_nodes(shape);
	begin(w, tag);
}

static void rows_write(void *io, uint32_t tag, uint64_t version, const uint32_t *node,
		       const uint64_t *row, uint32_t n)
{
	struct world *w = io;

	(void)version, (void)row;
	for (uint32_t i = 0; i < n; i++)
		if (node[i] >= w->nodes || (i && node[i] <= node[i - 1]))
			abort();
	begin(w, tag);
}

static void release(void *io, uint32_t tag, uint64_t version, bool give_up)
{
	(void)version, (void)give_up;
	begin(io, tag);
}

static void count(void *io, uint32_t tag, bool lost)
{
	(void)lost;
	begin(io, tag);
}

static void park_resolve(void *io, unsigned int port, uint32_t session, int seq)
{
	(void)io, (void)session, (void)seq;
	if (port >= PORTS)
		abort();
}

static void park_replay(void *io, uint32_t tag, uint64_t version, uint16_t ports)
{
	(void)version;
	if (ports >> PORTS)
		abort();
	begin(io, tag);
}

static int svc_connect(void *io, const char *addr)
{
	struct world *w = io;

	if (strlen(addr) >= FM_ADDR_MAX)
		abort();
	return ++w->conns;
}

static void svc_send(void *io, int conn, const struct fm_msg *msg)
{
	struct fm_msg back;
	uint8_t *data;
	size_t len;

	(void)io, (void)conn;
	if (fm_msg_pack(msg, &data, &len) || fm_msg_unpack(data, len, &back))
		abort();
	fm_msg_clear(&back);
	free(data);
}

static void svc_close(void *io, int conn)
{
	(void)io, (void)conn;
}

static void keep(void *io, const struct fm_msg *table)
{
	svc_send(io, 0, table);
}

static void ignore_log(void *io, const struct fm_log *log)
{
	(void)io;
	if (!log->text || !log->kind)
		abort();
}

static const struct fm_ops ops = {
	.mgmt_send = mgmt_send,	      .root_set = root_set,	    .place_set = place_set,
	.rows_write = rows_write,
	.release = release,	      .count = count,		    .park_resolve = park_resolve,
	.park_replay = park_replay,   .connect = svc_connect,	    .send = svc_send,
	.close = svc_close,	      .keep = keep,		    .log = ignore_log,
};

static void come_to_rest(struct fm *fm, uint64_t now)
{
	for (unsigned int i = 0; fm_expiry(fm) <= now; i++) {
		if (i == TIMERS_MAX)
			abort();
		fm_timer(fm, now);
	}
}

static void link_event(struct fm *fm, uint8_t arg, const uint8_t *p, size_t n, uint64_t now)
{
	struct torus_link l = { .port = arg & 7 };

	if (n < 8)
		return;
	l.state = p[0] % TORUS_LINK_STATES;
	l.closed = p[1] & 1;
	l.session = p[2];
	l.seq = (uint16_t)(p[3] | p[4] << 8);
	l.peer_guid = p[5];
	l.peer_port = p[6];
	fm_link(fm, &l, now);
}

/* Ends the action at the NIC with @err, and the actions that follow it without error. */
static void ends(struct world *w, struct fm *fm, int err, uint64_t now)
{
	struct fm_counts counts = { .lost = 0 };

	for (unsigned int i = 0; w->under_way; i++) {
		uint32_t tag = w->under_way;

		if (i == TIMERS_MAX)
			abort();
		w->under_way = 0;
		fm_done(fm, tag, err, err ? NULL : &counts, now);
		err = 0;
	}
}

static void record(struct fm *fm, uint8_t kind, uint8_t arg, const uint8_t *p, size_t n,
		   uint64_t *now)
{
	struct fm_status status;
	struct fm_msg msg;

	switch (kind % 7) {
	case 0:
		if (fm_msg_unpack(p, n, &msg))
			return;
		fm_msg(fm, arg % 16, &msg, *now);
		fm_msg_clear(&msg);
		break;
	case 1:
		fm_conn_up(fm, arg % 16, *now);
		break;
	case 2:
		fm_conn_down(fm, arg % 16, *now);
		break;
	case 3:
		fm_mgmt(fm, arg & 7, p, n, *now);
		break;
	case 4:
		link_event(fm, arg, p, n, *now);
		break;
	case 5:
		*now += 1000000ULL << arg % 14;
		break;
	case 6:
		fm_exclude(fm, n ? p[0] : 0, arg % 8 - 2, arg & 0x80, *now);
		fm_status(fm, &status);
		break;
	}
}

static struct fm *machine(uint8_t mode, struct world *w, uint64_t now)
{
	static uint64_t rows[16];
	struct torus_link links[PORTS];
	struct torus_device dev = { .guid = 0x10, .epoch = 1, .nports = PORTS };
	struct fm_config c;

	fm_config_default(&c);
	strcpy(c.fabric, "green");
	strcpy(c.name, "n0");
	strcpy(c.address, "10.0.0.1:7100");
	w->shape = (struct torus_shape) { 2, { 4, 4, 1, 1, 1, 1 } };
	w->nodes = 16;
	w->under_way = 0;
	w->conns = 4;
	dev.bootstrap = mode & 1;
	dev.placed = mode & 2;
	if (dev.placed) {
		dev.shape = w->shape;
		dev.version = 5;
	}
	if (mode & 4)
		c.shape = w->shape;
	memset(links, 0, sizeof(links));
	for (unsigned int p = 0; p < PORTS; p++) {
		links[p].port = (uint8_t)p;
		links[p].state = TORUS_LINK_UP;
		links[p].session = 1;
		links[p].peer_guid = 0x20 + p;
		links[p].peer_port = (uint8_t)((p + 2) % 4);
	}
	return fm_new(&c, &ops, w, &dev, links, NULL, rows, now);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint64_t now = 1000000;
	struct world w;
	struct fm *fm;

	if (!len)
		return 0;
	fm = machine(*data++, &w, now);
	len--;
	if (!fm)
		return 0;
	while (len >= 4) {
		size_t n = data[2] | (size_t)data[3] << 8;

		if (n > len - 4)
			n = len - 4;
		record(fm, data[0], data[1], data + 4, n, &now);
		/* One bit of data[0] leaves an action under way, another one lets it fail. */
		if (!(data[0] & 0x80))
			ends(&w, fm, data[0] & 0x40 ? -ETIMEDOUT : 0, now);
		come_to_rest(fm, now);
		data += 4 + n;
		len -= 4 + n;
	}
	fm_free(fm);
	return 0;
}
