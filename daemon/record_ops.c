// SPDX-License-Identifier: GPL-2.0-only
/* Converts the actions of a manager to JSON, for a recording or for its comparison. */
#include <stdlib.h>
#include <torus/topology.h>
#include "daemon/record.h"
#include "daemon/fm/wire/plan.h"

/*
 * Each action is recorded before it is done, so that the events that it causes come later in the
 * recording.
 */
static void on_mgmt_send(void *io, unsigned int port, const void *data, size_t len)
{
	struct record_tap *tap = io;

	tap->action(tap, json_pack("{s:s, s:i, s:o*}", "do", "mgmt_send", "port", (int)port,
				   "data", record_hex(data, len)));
	if (tap->ops)
		tap->ops->mgmt_send(tap->io, port, data, len);
}

static void on_root_set(void *io, uint32_t tag, uint64_t epoch, uint64_t guid)
{
	struct record_tap *tap = io;

	tap->action(tap, json_pack("{s:s, s:I, s:I, s:I}", "do", "root_set", "tag", (json_int_t)tag,
				   "epoch", (json_int_t)epoch, "guid", (json_int_t)guid));
	if (tap->ops)
		tap->ops->root_set(tap->io, tag, epoch, guid);
}

static void on_place_set(void *io, uint32_t tag, const struct torus_shape *shape,
			 const struct torus_coords *at, const struct torus_plan *plan)
{
	struct torus_plan full = fm_plan_full(plan);
	struct record_tap *tap = io;
	char text[TORUS_TEXT_MAX], coords[TORUS_TEXT_MAX], v4[TORUS_TEXT_MAX], v6[TORUS_TEXT_MAX];

	tap->action(tap, json_pack("{s:s, s:I, s:s, s:s, s:s, s:s}", "do", "place_set", "tag",
				   (json_int_t)tag, "shape", torus_shape_text(shape, text), "at",
				   torus_coords_text(shape, at, coords), "address4",
				   torus_plan_text4(&full, v4), "address6",
				   torus_plan_text6(&full, v6)));
	if (tap->ops)
		tap->ops->place_set(tap->io, tag, shape, at, plan);
}

static void on_rows_write(void *io, uint32_t tag, uint64_t version, const uint32_t *node,
			  const uint64_t *row, uint32_t n)
{
	struct record_tap *tap = io;

	tap->action(tap, json_pack("{s:s, s:I, s:I, s:o*, s:o*}", "do", "rows_write", "tag",
				   (json_int_t)tag, "version", (json_int_t)version, "nodes",
				   record_hex(node, n * sizeof(*node)), "rows",
				   record_hex(row, n * sizeof(*row))));
	if (tap->ops)
		tap->ops->rows_write(tap->io, tag, version, node, row, n);
}

static void on_release(void *io, uint32_t tag, uint64_t version, bool give_up)
{
	struct record_tap *tap = io;

	tap->action(tap, json_pack("{s:s, s:I, s:I, s:b}", "do", "release", "tag",
				   (json_int_t)tag, "version", (json_int_t)version, "give_up",
				   give_up));
	if (tap->ops)
		tap->ops->release(tap->io, tag, version, give_up);
}

static void on_count(void *io, uint32_t tag, bool lost)
{
	struct record_tap *tap = io;

	tap->action(tap, json_pack("{s:s, s:I, s:b}", "do", "count", "tag", (json_int_t)tag,
				   "lost", lost));
	if (tap->ops)
		tap->ops->count(tap->io, tag, lost);
}

static void on_park_resolve(void *io, unsigned int port, uint32_t session, int seq)
{
	struct record_tap *tap = io;

	tap->action(tap, json_pack("{s:s, s:i, s:I, s:i}", "do", "park_resolve", "port", (int)port,
				   "session", (json_int_t)session, "seq", seq));
	if (tap->ops)
		tap->ops->park_resolve(tap->io, port, session, seq);
}

static void on_park_replay(void *io, uint32_t tag, uint64_t version, uint16_t ports)
{
	struct record_tap *tap = io;

	tap->action(tap, json_pack("{s:s, s:I, s:I, s:i}", "do", "park_replay", "tag",
				   (json_int_t)tag, "version", (json_int_t)version,
				   "ports", ports));
	if (tap->ops)
		tap->ops->park_replay(tap->io, tag, version, ports);
}

static int on_connect(void *io, const char *addr)
{
	struct record_tap *tap = io;
	json_t *j = json_pack("{s:s, s:s}", "do", "connect", "address", addr);
	int conn;

	if (!tap->ops)
		return tap->action(tap, j);
	conn = tap->ops->connect(tap->io, addr);
	json_object_set_new(j, "result", json_integer(conn));
	tap->action(tap, j);
	return conn;
}

static void on_send(void *io, int conn, const struct fm_msg *msg)
{
	struct record_tap *tap = io;
	uint8_t *data = NULL;
	size_t len = 0;
	json_t *j;

	if (fm_msg_pack(msg, &data, &len))
		data = NULL;
	j = json_pack("{s:s, s:i, s:s, s:o*}", "do", "send", "conn", conn, "type",
		      fm_msg_name(msg->type), "data", data ? record_hex(data, len) : NULL);
	free(data);
	tap->action(tap, j);
	if (tap->ops)
		tap->ops->send(tap->io, conn, msg);
}

static void on_close(void *io, int conn)
{
	struct record_tap *tap = io;

	tap->action(tap, json_pack("{s:s, s:i}", "do", "close", "conn", conn));
	if (tap->ops)
		tap->ops->close(tap->io, conn);
}

static void on_arbitrate(void *io, uint64_t epoch, uint64_t guid)
{
	struct record_tap *tap = io;

	tap->action(tap, json_pack("{s:s, s:I, s:I}", "do", "arbitrate", "epoch", (json_int_t)epoch,
				   "guid", (json_int_t)guid));
	if (tap->ops)
		tap->ops->arbitrate(tap->io, epoch, guid);
}

static void on_keep(void *io, const struct fm_msg *table)
{
	struct record_tap *tap = io;

	tap->action(tap, json_pack("{s:s, s:I, s:I}", "do", "keep",
				   "epoch", (json_int_t)table->table.term,
				   "version", (json_int_t)table->table.version));
	if (tap->ops)
		tap->ops->keep(tap->io, table);
}

static void on_log(void *io, const struct fm_log *log)
{
	struct record_tap *tap = io;

	tap->action(tap, json_pack("{s:s, s:i, s:s, s:s}", "do", "log", "level", (int)log->level,
				   "kind", log->kind, "text", log->text));
	if (tap->ops)
		tap->ops->log(tap->io, log);
}

const struct fm_ops record_ops = {
	.mgmt_send = on_mgmt_send,
	.root_set = on_root_set,
	.place_set = on_place_set,
	.rows_write = on_rows_write,
	.release = on_release,
	.count = on_count,
	.park_resolve = on_park_resolve,
	.park_replay = on_park_replay,
	.connect = on_connect,
	.send = on_send,
	.close = on_close,
	.arbitrate = on_arbitrate,
	.keep = on_keep,
	.log = on_log,
};
