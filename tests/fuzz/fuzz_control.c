// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a request on the control socket, to a manager that has found its place without any
 * neighbour: every request gets exactly one reply, which is JSON.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "daemon/answer.h"
#include "daemon/control.h"
#include "daemon/keeper.h"
#include "daemon/log.h"
#include "daemon/nic.h"
#include "daemon/query.h"
#include "daemon/record.h"
#include "daemon/fm/wire/msg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static struct fabricd d;
static unsigned int replies;

static void no_mgmt(void *io, unsigned int port, const void *data, size_t len)
{
	(void)io;
	(void)port;
	(void)data;
	(void)len;
}

static uint32_t under_way;	/* tag of an action at the NIC */

static void no_root(void *io, uint32_t tag, uint64_t epoch, uint64_t guid)
{
	(void)io;
	(void)tag;
	(void)epoch;
	(void)guid;
}

static void no_place(void *io, uint32_t tag, const struct torus_shape *shape,
		     const struct torus_coords *at, const struct torus_plan *plan)
{
	(void)io;
	under_way = tag;
	(void)shape;
	(void)at;
	(void)plan;
}

static void no_rows(void *io, uint32_t tag, uint64_t version, const uint32_t *node,
		    const uint64_t *row, uint32_t n)
{
	(void)io;
	under_way = tag;
	(void)version;
	(void)node;
	(void)row;
	(void)n;
}

static void no_release(void *io, uint32_t tag, uint64_t version, bool give_up)
{
	(void)io;
	under_way = tag;
	(void)version;
	(void)give_up;
}

static void no_count(void *io, uint32_t tag, bool lost)
{
	(void)io;
	under_way = tag;
	(void)lost;
}

static void no_resolve(void *io, unsigned int port, uint32_t session, int seq)
{
	(void)io;
	(void)port;
	(void)session;
	(void)seq;
}

static void no_replay(void *io, uint32_t tag, uint64_t version, uint16_t ports)
{
	(void)io;
	under_way = tag;
	(void)version;
	(void)ports;
}

static int no_connect(void *io, const char *addr)
{
	(void)io;
	(void)addr;
	return -1;
}

static void no_send(void *io, int conn, const struct fm_msg *msg)
{
	(void)io;
	(void)conn;
	(void)msg;
}

static void no_close(void *io, int conn)
{
	(void)io;
	(void)conn;
}

static void no_keep(void *io, const struct fm_msg *table)
{
	(void)io;
	(void)table;
}

static void keep(void *io, const struct fm_log *log)
{
	struct fabricd *f = io;

	events_add(f->events, 1.0, "0,0", log->level, log->kind, log->text);
}

static const struct fm_ops ops = {
	.mgmt_send = no_mgmt, .root_set = no_root, .place_set = no_place, .rows_write = no_rows,
	.release = no_release, .count = no_count, .park_resolve = no_resolve,
	.park_replay = no_replay, .connect = no_connect, .send = no_send, .close = no_close,
	.keep = no_keep,
	.log = keep,
};

static const struct svc_ops svc_ops;

static void no_nic(void *arg, const char *why)
{
	(void)arg;
	(void)why;
}

static const struct nic_ops nic_ops = { .absent = no_nic };

static void make_auth(void)
{
	char path[] = "/tmp/fuzz_control.XXXXXX", text[AUTH_TEXT_MAX];
	int fd = mkstemp(path);

	if (fd < 0 || write(fd, "0123456789abcdef", 16) != 16 ||
	    auth_open(&d.auth, &auth_key_ops, "torus", "n0", path, text))
		abort();
	close(fd);
	unlink(path);
}

static void ends(uint64_t now)
{
	static const struct fm_counts counts;

	while (under_way) {
		uint32_t tag = under_way;

		under_way = 0;
		fm_done(d.fm, tag, 0, &counts, now);
	}
}

/* Makes the manager of the root of a 3x2 torus whose other nodes are missing. */
static void make_manager(void)
{
	struct torus_device dev = { .name = "nic", .guid = 7, .epoch = 1, .nports = 4,
				    .bootstrap = true };
	struct torus_link links[4] = { 0 };
	struct fm_config c;
	uint64_t now = loop_now();

	fm_config_default(&c);
	strcpy(c.fabric, "torus");
	strcpy(c.name, "n0");
	strcpy(c.address, "127.0.0.1:1");
	c.shape.ndims = 2;
	for (unsigned int i = 0; i < TORUS_MAX_DIMS; i++)
		c.shape.size[i] = 1;
	c.shape.size[0] = 3;
	c.shape.size[1] = 2;
	for (unsigned int i = 0; i < 4; i++)
		links[i].port = (uint8_t)i;
	d.fm = fm_new(&c, &ops, &d, &dev, links, NULL, NULL, now);
	for (unsigned int i = 0; i < 1000 && fm_expiry(d.fm) != UINT64_MAX; i++) {
		now = fm_expiry(d.fm) > now ? fm_expiry(d.fm) : now + 1;
		if (now > loop_now() + 5 * SEC)
			break;
		fm_timer(d.fm, now);
		ends(now);
	}
}

/* Excluding and including change the table; time passes while a reply is awaited. */
static void on_fm_timer(void *arg)
{
	(void)arg;
	machine_event(&d, &(struct record_event) { .kind = RECORD_TIMER, .now = loop_now() });
	ends(loop_now());
}

static void make_daemon(void)
{
	struct svc_config sc = { .user_timeout_ms = 1000, .auth = &d.auth, .oldest = 5, .newest = 6 };
	char address[FM_ADDR_MAX];
	int err = 0;

	log_level_set(FM_ERROR);
	make_auth();
	config_default(&d.config);
	d.loop = loop_new();
	d.events = events_new();
	d.fm_timer = loop_timer_new(d.loop, on_fm_timer, NULL);
	for (unsigned int port = 20000 + (unsigned int)getpid() % 20000; !d.svc; port++) {
		snprintf(address, sizeof(address), "127.0.0.1:%u", port);
		sc.address = address;
		d.svc = svc_new(d.loop, &sc, &svc_ops, &d, &err);
	}
	if (answer_start(&d))
		abort();
	d.nic = nic_new(d.loop, "unix:/nonexistent", 0, &nic_ops, &d);
	d.keeper = keeper_new(&d);
	if (!d.keeper)
		abort();
	make_manager();
}

static void on_reply(void *arg, const char *line)
{
	json_t *j = json_loads(line, 0, NULL);

	(void)arg;
	if (!j || !json_is_boolean(json_object_get(j, "ok")) || strchr(line, '\n'))
		abort();
	json_decref(j);
	replies++;
}

static void on_follow(void *arg, uint64_t since)
{
	(void)arg;
	(void)since;
	replies++;
}

static struct loop_timer *stop;

static void on_stop(void *arg)
{
	(void)arg;
	loop_stop(d.loop);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char error[256] = "";
	struct request *rq;
	json_t *args;

	if (!d.loop) {
		make_daemon();
		stop = loop_timer_new(d.loop, on_stop, NULL);
	}
	args = control_parse((const char *)data, len, error, sizeof(error));
	if (!args) {
		if (!error[0])
			abort();
		return 0;
	}
	replies = 0;
	rq = answer_new(&d, args, &(struct svc_user){ .privileged = len & 1 }, on_reply,
			on_follow, NULL);
	if (!rq)
		return 0;
	answer_begin(rq);
	if (!replies) {
		/* Requests to missing nodes end at once. */
		loop_timer_set(stop, loop_now() + 100 * MS);
		loop_run(d.loop);
	}
	if (replies > 1)
		abort();
	if (!replies)
		answer_drop(rq);
	return 0;
}
