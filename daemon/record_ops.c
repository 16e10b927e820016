// SPDX-License-Identifier: GPL-2.0-only
/* The actions of a manager as JSON, on their way to who does them or to the comparison. */
#include <stdlib.h>
#include <torus/topology.h>
#include "daemon/record.h"

/* @action is done or, if nobody does any, only known. Return: the result. */
static int done(struct record_tap *tap, json_t *action, int result, struct torus_park *park)
{
	if (tap->ops)
		json_object_set_new(action, "result", json_integer(result));
	if (tap->ops && park && !result)
		json_object_set_new(action, "park", record_park_json(park));
	return tap->action(tap, action, result, park);
}

static int on_mgmt_send(void *io, unsigned int port, const void *data, size_t len)
{
	struct record_tap *tap = io;
	int err = tap->ops ? tap->ops->mgmt_send(tap->io, port, data, len) : 0;

	return done(tap, json_pack("{s:s, s:i, s:o*}", "do", "mgmt_send", "port", (int)port,
				   "data", record_hex(data, len)), err, NULL);
}

static int on_place_set(void *io, const struct torus_shape *shape, const struct torus_coords *at)
{
	struct record_tap *tap = io;
	int err = tap->ops ? tap->ops->place_set(tap->io, shape, at) : 0;
	char text[TORUS_TEXT_MAX], coords[TORUS_TEXT_MAX];

	return done(tap, json_pack("{s:s, s:s, s:s}", "do", "place_set", "shape",
				   torus_shape_text(shape, text), "at",
				   torus_coords_text(shape, at, coords)), err, NULL);
}

static int on_rows_write(void *io, uint64_t version, const uint32_t *node, const uint64_t *row,
			 uint32_t n)
{
	struct record_tap *tap = io;
	int err = tap->ops ? tap->ops->rows_write(tap->io, version, node, row, n) : 0;

	return done(tap, json_pack("{s:s, s:I, s:o*, s:o*}", "do", "rows_write", "version",
				   (json_int_t)version, "nodes", record_hex(node, n * sizeof(*node)),
				   "rows", record_hex(row, n * sizeof(*row))), err, NULL);
}

static int on_release(void *io, uint64_t version, bool give_up)
{
	struct record_tap *tap = io;
	int err = tap->ops ? tap->ops->release(tap->io, version, give_up) : 0;

	return done(tap, json_pack("{s:s, s:I, s:b}", "do", "release", "version",
				   (json_int_t)version, "give_up", give_up), err, NULL);
}

static int on_flow_get(void *io, struct torus_park *out)
{
	struct record_tap *tap = io;
	int err = tap->ops ? tap->ops->flow_get(tap->io, out) : 0;

	return done(tap, json_pack("{s:s}", "do", "flow_get"), err, out);
}

static int on_park_resolve(void *io, unsigned int port, uint32_t session, int seq)
{
	struct record_tap *tap = io;
	int err = tap->ops ? tap->ops->park_resolve(tap->io, port, session, seq) : 0;

	return done(tap, json_pack("{s:s, s:i, s:I, s:i}", "do", "park_resolve", "port", (int)port,
				   "session", (json_int_t)session, "seq", seq), err, NULL);
}

static int on_park_replay(void *io, uint64_t version, uint16_t ports)
{
	struct record_tap *tap = io;
	int err = tap->ops ? tap->ops->park_replay(tap->io, version, ports) : 0;

	return done(tap, json_pack("{s:s, s:I, s:i}", "do", "park_replay", "version",
				   (json_int_t)version, "ports", ports), err, NULL);
}

static int on_connect(void *io, const char *addr)
{
	struct record_tap *tap = io;
	int conn = tap->ops ? tap->ops->connect(tap->io, addr) : 0;

	return done(tap, json_pack("{s:s, s:s}", "do", "connect", "address", addr), conn, NULL);
}

static void on_send(void *io, int conn, const struct fm_msg *msg)
{
	struct record_tap *tap = io;
	uint8_t *data = NULL;
	size_t len = 0;
	json_t *j;

	if (tap->ops)
		tap->ops->send(tap->io, conn, msg);
	if (fm_msg_pack(msg, &data, &len))
		data = NULL;
	j = json_pack("{s:s, s:i, s:s, s:o*}", "do", "send", "conn", conn, "type",
		      fm_msg_name(msg->type), "data", data ? record_hex(data, len) : NULL);
	free(data);
	done(tap, j, 0, NULL);
}

static void on_close(void *io, int conn)
{
	struct record_tap *tap = io;

	if (tap->ops)
		tap->ops->close(tap->io, conn);
	done(tap, json_pack("{s:s, s:i}", "do", "close", "conn", conn), 0, NULL);
}

static void on_log(void *io, const struct fm_log *log)
{
	struct record_tap *tap = io;

	if (tap->ops)
		tap->ops->log(tap->io, log);
	done(tap, json_pack("{s:s, s:i, s:s, s:s}", "do", "log", "level", (int)log->level, "kind",
			    log->kind, "text", log->text), 0, NULL);
}

const struct fm_ops record_ops = {
	.mgmt_send = on_mgmt_send,
	.place_set = on_place_set,
	.rows_write = on_rows_write,
	.release = on_release,
	.flow_get = on_flow_get,
	.park_resolve = on_park_resolve,
	.park_replay = on_park_replay,
	.connect = on_connect,
	.send = on_send,
	.close = on_close,
	.log = on_log,
};
