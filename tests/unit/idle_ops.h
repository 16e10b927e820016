/* SPDX-License-Identifier: GPL-2.0-only */
/* A host of a manager that does nothing: tests replace the operations that they are about. */
#ifndef TESTS_IDLE_OPS_H
#define TESTS_IDLE_OPS_H

#include "daemon/fm/fm.h"

static inline void idle_mgmt_send(void *io, unsigned int port, const void *data, size_t len)
{
	(void)io;
	(void)port;
	(void)data;
	(void)len;
}

static inline void idle_root_set(void *io, uint32_t tag, uint64_t epoch, uint64_t guid)
{
	(void)io;
	(void)tag;
	(void)epoch;
	(void)guid;
}

static inline void idle_place_set(void *io, uint32_t tag, const struct torus_shape *shape,
				  const struct torus_coords *at, const struct torus_plan *plan)
{
	(void)io;
	(void)tag;
	(void)shape;
	(void)at;
	(void)plan;
}

static inline void idle_rows_write(void *io, uint32_t tag, uint64_t version, const uint32_t *node,
				   const uint64_t *row, uint32_t n)
{
	(void)io;
	(void)tag;
	(void)version;
	(void)node;
	(void)row;
	(void)n;
}

static inline void idle_rows_apply(void *io, uint32_t tag, uint64_t version,
				   const uint16_t *closed)
{
	(void)io;
	(void)tag;
	(void)version;
	(void)closed;
}

static inline void idle_keep(void *io, const struct fm_msg *table)
{
	(void)io;
	(void)table;
}

static inline void idle_arbitrate(void *io, uint64_t epoch, uint64_t guid)
{
	(void)io;
	(void)epoch;
	(void)guid;
}

static inline void idle_release(void *io, uint32_t tag, uint64_t version, bool give_up)
{
	(void)io;
	(void)tag;
	(void)version;
	(void)give_up;
}

static inline void idle_count(void *io, uint32_t tag, bool lost)
{
	(void)io;
	(void)tag;
	(void)lost;
}

static inline void idle_park_resolve(void *io, unsigned int port, uint32_t session, int seq)
{
	(void)io;
	(void)port;
	(void)session;
	(void)seq;
}

static inline void idle_park_replay(void *io, uint32_t tag, uint64_t version, uint16_t ports)
{
	(void)io;
	(void)tag;
	(void)version;
	(void)ports;
}

/* Return: a number that no other connection has. */
static inline int idle_connect(void *io, const char *addr)
{
	static int last;

	(void)io;
	(void)addr;
	return ++last;
}

static inline void idle_send(void *io, int conn, const struct fm_msg *msg)
{
	(void)io;
	(void)conn;
	(void)msg;
}

static inline void idle_close(void *io, int conn)
{
	(void)io;
	(void)conn;
}

static inline void idle_log(void *io, const struct fm_log *log)
{
	(void)io;
	(void)log;
}

/** idle_ops() - all operations but rows_apply, which is instead of rows_write */
static inline struct fm_ops idle_ops(void)
{
	return (struct fm_ops) {
		.mgmt_send = idle_mgmt_send, .root_set = idle_root_set, .place_set = idle_place_set,
		.rows_write = idle_rows_write, .release = idle_release, .count = idle_count,
		.park_resolve = idle_park_resolve, .park_replay = idle_park_replay,
		.connect = idle_connect, .send = idle_send, .close = idle_close, .keep = idle_keep,
		.arbitrate = idle_arbitrate,
		.log = idle_log,
	};
}

#endif /* TESTS_IDLE_OPS_H */
