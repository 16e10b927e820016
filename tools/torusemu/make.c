// SPDX-License-Identifier: GPL-2.0-only
#include "make.h"

#include <fcntl.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu.h"
#include "guid.h"
#include "lib/netdev.h"
#include "log.h"
#include "netns.h"

/** struct why - buffer for the text of an error */
struct why {
	char *text;
	size_t size;
};

__attribute__((format(printf, 3, 4)))
static int fail_make(const struct why *why, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why->text, why->size, fmt, ap);
	va_end(ap);
	return err;
}

/* Limits frame_max to the smallest MTU of the NIC's devices. */
static int fit_frames(struct args *a, const struct why *why)
{
	for (unsigned int i = 0; i < a->nports; i++) {
		int mtu;

		if (!a->lower[i][0] || a->lower[i][0] == ':')
			continue;
		mtu = ether_mtu(a->lower[i]);
		if (mtu < 0)
			return fail_make(why, mtu, "%s: %s", a->lower[i], strerror(-mtu));
		if ((u32)mtu < tn_packet_max(&a->params))
			return fail_make(why, -EINVAL, "%s: its MTU is %d, must be %u or more",
					 a->lower[i], mtu, tn_packet_max(&a->params));
		if (!a->frame_max_set && (u32)mtu < a->params.frame_max)
			a->params.frame_max = (u32)mtu;
	}
	return 0;
}

/** struct placing - addresses for the tun device; @text: gets the text of an error */
struct placing {
	struct lt_netdev dev;
	char text[128];
};

static int place_tun(void *arg)
{
	struct placing *p = arg;

	return lt_netdev_place(&p->dev, p->text, sizeof(p->text));
}

static void follow_place(struct emu *e, const struct torus_shape *old,
			 const struct torus_plan *old_plan, u32 old_node)
{
	struct placing p = {
		.dev = {
			.ifindex = (u32)e->tun.ifindex, .mtu = TUN_MTU,
			.old = old, .old_plan = old_plan, .old_node = old_node,
			.shape = &e->soft.hw.shape, .plan = &e->soft.hw.plan,
			.node = e->soft.hw.node,
		},
	};
	int err;

	log_info(e->soft.hw.name, "this NIC is node %u of %u", e->soft.hw.node,
		 tn_shape_nodes(&e->soft.hw.shape));
	if (!e->tun.ifindex)
		return;
	err = netns_visit(e->netns, place_tun, &p);
	if (err == -EAFNOSUPPORT)
		log_warn(e->soft.hw.name, "%s has no IPv6 address: %s", e->tun.name, p.text);
	else if (err)
		log_err(e->soft.hw.name, "%s: cannot set addresses: %s", e->tun.name,
			p.text[0] ? p.text : strerror(-err));
}

static int init_nic(struct emu *e, struct chassis *c, const struct args *a, const struct why *why)
{
	int err;

	e->soft.params = a->params;
	e->soft.hw.nports = (u8)a->nports;
	e->soft.hw.guid = a->guid_set ? a->guid : guid_lasting(a->name);
	e->soft.hw.bootstrap = a->bootstrap;
	e->attach = port_attach;
	e->placed = follow_place;
	strcpy(e->soft.hw.name, a->name);
	if (getrandom(&e->rng, sizeof(e->rng), 0) < 0)
		e->rng = loop_now();
	/*
	 * The epoch does not use the time of day, because that repeats on a machine without a clock
	 * of its own.
	 */
	e->soft.hw.epoch = (u32)(e->rng >> 32) | 1;
	err = emu_init(e, c, loop_now());
	if (err)
		fail_make(why, err, "the parameters do not fit together: %s", strerror(-err));
	return err;
}

static int open_socket_at(struct emu *e, const char *path, const struct why *why)
{
	char *copy = strdup(path);
	int err;

	if (copy)
		mkdir(dirname(copy), 0755);
	free(copy);
	err = server_open(e, path);
	if (!err)
		return 0;
	return fail_make(why, err, "%s: %s", path,
			 err == -EADDRINUSE ? "another NIC listens there" : strerror(-err));
}

static int attach_lowers(struct emu *e, const struct args *a, const struct why *why)
{
	for (unsigned int i = 0; i < a->nports; i++) {
		const char *text = NULL;
		int err;

		if (!a->lower[i][0])
			continue;
		err = port_attach(&e->port[i], a->lower[i], &text, loop_now());
		if (err)
			return fail_make(why, err, "port %u on %s: %s", i, a->lower[i],
					 text ? text : strerror(-err));
	}
	return 0;
}

/** struct opening - arguments for making a tun device in another namespace */
struct opening {
	struct emu *emu;
	const char *name;
};

static int open_tun(void *arg)
{
	const struct opening *o = arg;

	return tun_open(o->emu, o->name);
}

static int add_host(struct emu *e, const struct args *a, const struct why *why)
{
	struct opening o = { e, a->tun };
	int err;

	if (a->netns)
		e->netns = open(a->netns, O_RDONLY | O_CLOEXEC);
	if (a->netns && e->netns < 0)
		return fail_make(why, -errno, "--netns '%s': %s", a->netns, strerror(errno));
	err = netns_visit(e->netns, open_tun, &o);
	return err ? fail_make(why, err, "%s: %s", a->tun, strerror(-err)) : 0;
}

static int furnish_nic(struct emu *e, const struct args *a, const struct why *why)
{
	int err = open_socket_at(e, a->socket, why);

	if (!err && a->rma) {
		err = rma_open(e, a->rma);
		if (err)
			fail_make(why, err, "--rma %s: %s", a->rma, strerror(-err));
	}
	if (!err && a->tun[0])
		err = add_host(e, a, why);
	return err ? err : attach_lowers(e, a, why);
}

struct emu *make_nic(struct chassis *c, struct args *a, char *text, size_t size)
{
	struct why why = { text, size };
	struct emu *e = calloc(1, sizeof(*e));

	if (!e) {
		fail_make(&why, 0, "out of memory");
		return NULL;
	}
	e->netns = -1;
	if (fit_frames(a, &why) || init_nic(e, c, a, &why)) {
		free(e);
		return NULL;
	}
	if (furnish_nic(e, a, &why)) {
		unmake_nic(e);
		return NULL;
	}
	return e;
}

void unmake_nic(struct emu *e)
{
	server_close(e);
	tun_close(e);
	emu_fini(e);
	if (e->netns >= 0)
		close(e->netns);
	free(e);
}

void kill_nic(struct emu *e)
{
	for (unsigned int i = 0; i < e->soft.hw.nports; i++)
		cable_abandon(&e->port[i]);
	unmake_nic(e);
}
