// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests for NICs of the kernel, as `ip link` makes them, with any attributes: valid ones, and
 * some with wrong values, lengths or types. The list by which the driver checks attributes
 * determines which requests must be accepted or refused; accepted attributes must be shown, and a
 * refused request must make no device and change none.
 *
 * The same seed makes the same requests. Exit status: 0 fine, 1 a fault was found, 2 usage.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/if_link.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <uapi/torus_policy.h>

#include "tests/unit/random.h"

#define NIC		"lf0"
#define PARK_SMALL	(1u << 20)	/* bytes, of most: they are taken at once */

enum { U32 = 4, U64 = 8 };

/** struct param - an attribute that is a number */
static const struct param {
	const char *name;
	unsigned int width;
	uint64_t min, max;
} params[IFLA_TORUS_MAX + 1] = {
	[IFLA_TORUS_PORTS] = { "ports", 1, 2, TORUS_MAX_PORTS },
	[IFLA_TORUS_GUID] = { "guid", 8, 1, ~0ull },
	[IFLA_TORUS_BOOTSTRAP] = { "bootstrap", 1, 0, 1 },
#define PARAM(id, name, kind, unit, min, max) [IFLA_TORUS_##id] = { #name, kind, min, max },
	TORUS_PARAM_LIST(PARAM)
};

/* The expected result of a request. */
enum due { TAKEN, REFUSED, EITHER };

/**
 * struct fuzz - a run
 * @value, @given: attributes of the present request
 * @shown: attributes of the device, as it is shown
 */
static struct fuzz {
	uint64_t seed, rng;
	uint64_t count, sent, taken, refused;
	struct nl_sock *sk;
	bool nobody;
	bool exists;
	uint64_t value[IFLA_TORUS_MAX + 1];
	bool given[IFLA_TORUS_MAX + 1];
	uint64_t shown[IFLA_TORUS_MAX + 1];
} f;

static uint32_t below(uint32_t n)
{
	return random_below(&f.rng, n);
}

static bool one_in(uint32_t n)
{
	return below(n) == 0;
}

static void fault(const char *what)
{
	printf("not ok - %s; after %" PRIu64 " requests; replay: SEED=%" PRIu64
	       " linkfuzz --count %" PRIu64 "%s\n", what, f.sent, f.seed, f.count,
	       f.nobody ? " --nobody" : "");
	exit(1);
}

/* --- what a NIC shows ---------------------------------------------------------------- */

static int on_link(struct nl_msg *msg, void *arg)
{
	struct nlattr *info, *data, *a;
	int left;

	(void)arg;
	info = nlmsg_find_attr(nlmsg_hdr(msg), sizeof(struct ifinfomsg), IFLA_LINKINFO);
	data = info ? nla_find(nla_data(info), nla_len(info), IFLA_INFO_DATA) : NULL;
	if (!data)
		return NL_OK;
	nla_for_each_nested(a, data, left) {
		unsigned int type = (unsigned int)nla_type(a);

		if (type > IFLA_TORUS_MAX || !params[type].width)
			continue;
		if (nla_len(a) != (int)params[type].width)
			fault("a number is shown in another size");
		f.shown[type] = 0;
		memcpy(&f.shown[type], nla_data(a), params[type].width);
	}
	return NL_OK;
}

/* Sends a request. Each has one answer: what was asked for, or the result. */
static int request(struct nl_msg *msg)
{
	int err = nl_send_auto(f.sk, msg);

	nlmsg_free(msg);
	return err < 0 ? err : nl_recvmsgs_default(f.sk);
}

static struct nl_msg *about_nic(int type, int flags)
{
	struct ifinfomsg ifi = { .ifi_family = AF_UNSPEC };
	struct nl_msg *msg = nlmsg_alloc_size(16384);

	if (!msg || !nlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, type, 0, flags) ||
	    nlmsg_append(msg, &ifi, sizeof(ifi), NLMSG_ALIGNTO) ||
	    nla_put_string(msg, IFLA_IFNAME, NIC))
		fault("out of memory");
	return msg;
}

/* Return: whether there is a device. */
static bool look(void)
{
	memset(f.shown, 0xff, sizeof(f.shown));
	return request(about_nic(RTM_GETLINK, 0)) == 0;
}

static void in_range(void)
{
	for (unsigned int t = 0; t <= IFLA_TORUS_MAX; t++) {
		if (!params[t].width)
			continue;
		if (f.shown[t] < params[t].min || f.shown[t] > params[t].max)
			fault(params[t].name);
	}
}

/* --- requests -------------------------------------------------------------------------- */

static uint64_t edge(const struct param *p)
{
	uint64_t top = p->width == 8 ? ~0ull : (1ull << 8 * p->width) - 1;

	switch (below(12)) {
	case 0:
		return p->min - 1;
	case 1:
		return p->max + 1;
	case 2:
		return p->max;
	case 3:
		return random_next(&f.rng) & top;
	default:
		return p->min + (p->max - p->min < 4 ? below(2) : below(1000));
	}
}

static uint64_t number(unsigned int t)
{
	const struct param *p = &params[t];
	uint64_t v;

	if (t == IFLA_TORUS_PORTS && !one_in(8))
		return 2 + 2 * below(TORUS_MAX_PORTS / 2);
	if ((t == IFLA_TORUS_PARK_BYTES || t == IFLA_TORUS_HOLD_BYTES) && !one_in(30))
		return p->min + below(PARK_SMALL);
	v = edge(p);
	return p->width == 8 ? v : v & ((1ull << 8 * p->width) - 1);
}

/* Return: the value of the attribute; if it is not given, the driver's default, which is valid. */
static uint64_t value_or(unsigned int t, uint64_t otherwise)
{
	return f.given[t] ? f.value[t] : otherwise;
}

/* Return: true if @t is larger than @than by at least @more. Defaults are those of a plain NIC. */
static bool ordered(unsigned int t, unsigned int than, unsigned int more)
{
	return value_or(t, f.shown[t]) >= value_or(than, f.shown[than]) + more;
}

static enum due due(void)
{
	for (unsigned int t = 0; t <= IFLA_TORUS_MAX; t++) {
		if (f.given[t] && (f.value[t] < params[t].min || f.value[t] > params[t].max))
			return REFUSED;
	}
	if (value_or(IFLA_TORUS_PORTS, 2) % 2)
		return REFUSED;
	if (!ordered(IFLA_TORUS_SILENCE, IFLA_TORUS_KEEPALIVE, 1) ||
	    !ordered(IFLA_TORUS_REPLAY_TIMEOUT, IFLA_TORUS_ACK_DELAY, 1) ||
	    !ordered(IFLA_TORUS_MARGIN_TRAIN, IFLA_TORUS_MARGIN_RETRAIN, 0) ||
	    !ordered(IFLA_TORUS_FRAME_MAX, IFLA_TORUS_PAYLOAD_MAX, 48) ||
	    !ordered(IFLA_TORUS_PARK_BYTES, IFLA_TORUS_PAYLOAD_MAX, 48))
		return REFUSED;
	/* There may not be enough memory. */
	return value_or(IFLA_TORUS_PARK_BYTES, 0) > PARK_SMALL + 8192 ? EITHER : TAKEN;
}

/* Puts attributes with a wrong form, or unknown ones. */
static enum due put_odd(struct nl_msg *msg)
{
	unsigned int t = one_in(3) ? below(64) : 1 + below(IFLA_TORUS_MAX);
	char bytes[64];
	int len = (int)below(sizeof(bytes));

	memset(bytes, (int)below(256), sizeof(bytes));
	nla_put(msg, (int)t | (one_in(4) ? NLA_F_NESTED : 0), len, bytes);
	return EITHER;
}

static enum due put_name(struct nl_msg *msg)
{
	char name[2 * TORUS_NAME_MAX];
	size_t len = one_in(4) ? below(sizeof(name)) : 1 + below(20);

	memset(name, 'n', sizeof(name));
	name[len] = '\0';
	nla_put_string(msg, IFLA_TORUS_NAME, name);
	return len && len <= TORUS_NAME_MAX ? TAKEN : REFUSED;
}

/* @plain: attributes of a NIC with defaults, for values that depend on them */
static enum due put_data(struct nl_msg *msg, const uint64_t *plain)
{
	enum due name = TAKEN, odd = TAKEN, numbers;
	unsigned int often = 2 + below(12);

	memset(f.given, 0, sizeof(f.given));
	for (unsigned int t = 0; t <= IFLA_TORUS_MAX; t++) {
		if (!params[t].width || !one_in(often))
			continue;
		f.given[t] = true;
		f.value[t] = number(t);
		nla_put(msg, (int)t, (int)params[t].width, &f.value[t]);
	}
	if (one_in(6))
		name = put_name(msg);
	if (one_in(12))
		odd = put_odd(msg);
	memcpy(f.shown, plain, sizeof(f.shown));
	numbers = due();
	return odd == EITHER ? EITHER : numbers == TAKEN ? name : name == REFUSED ? name : numbers;
}

static void judge(enum due d, int err, bool was_odd)
{
	bool there = look();

	if ((err == 0) != there)
		fault(err ? "what was refused is there" : "what was taken is not there");
	if (!err && f.nobody)
		fault("somebody without privilege made a NIC");
	if (f.nobody)
		return;
	if (!err && d == REFUSED)
		fault("taken, and must not be");
	if (err && d == TAKEN)
		fault(nl_geterror(err));
	if (err)
		return;
	in_range();
	for (unsigned int t = 0; t <= IFLA_TORUS_MAX && !was_odd; t++)
		if (f.given[t] && f.shown[t] != f.value[t])
			fault(params[t].name);
}

static void make(const uint64_t *plain)
{
	struct nl_msg *msg = about_nic(RTM_NEWLINK, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL);
	struct nlattr *info = nla_nest_start(msg, IFLA_LINKINFO), *data;
	enum due d;
	int err;

	nla_put_string(msg, IFLA_INFO_KIND, "torus");
	data = nla_nest_start(msg, IFLA_INFO_DATA);
	d = put_data(msg, plain);
	nla_nest_end(msg, data);
	nla_nest_end(msg, info);
	err = request(msg);
	f.exists = !err;
	judge(d, err, d == EITHER);
	if (err)
		f.refused++;
	else
		f.taken++;
}

/* Sends a request to change a NIC: it must change nothing. */
static void change(const uint64_t *plain)
{
	struct nl_msg *msg = about_nic(RTM_NEWLINK, NLM_F_ACK);
	struct nlattr *info = nla_nest_start(msg, IFLA_LINKINFO), *data;
	uint64_t before[IFLA_TORUS_MAX + 1];
	int err;

	if (!look())
		fault("a NIC is gone");
	memcpy(before, f.shown, sizeof(before));
	nla_put_string(msg, IFLA_INFO_KIND, "torus");
	data = nla_nest_start(msg, IFLA_INFO_DATA);
	put_data(msg, plain);
	nla_nest_end(msg, data);
	nla_nest_end(msg, info);
	err = request(msg);
	if (!look() || memcmp(before, f.shown, sizeof(before)))
		fault("a NIC was changed");
	if (!err && memchr(f.given, 1, sizeof(f.given)))
		fault("a change that was not made was taken");
	f.refused++;
}

static void unmake(void)
{
	int err = request(about_nic(RTM_DELLINK, NLM_F_ACK));

	f.exists = false;
	if (err || look())
		fault("a NIC does not go");
}

/* --- the run ------------------------------------------------------------------------------ */

static void one_request(const uint64_t *plain)
{
	f.sent++;
	if (!f.exists)
		make(plain);
	else if (one_in(4))
		unmake();
	else
		change(plain);
}

static void connect_route(void)
{
	f.sk = nl_socket_alloc();
	if (!f.sk || nl_connect(f.sk, NETLINK_ROUTE) ||
	    nl_socket_modify_cb(f.sk, NL_CB_VALID, NL_CB_CUSTOM, on_link, NULL))
		fault("no netlink");
	nl_socket_disable_auto_ack(f.sk);
}

/* The attributes of a NIC with defaults. */
static void plain_nic(uint64_t *plain)
{
	struct nl_msg *msg = about_nic(RTM_NEWLINK, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL);
	struct nlattr *info = nla_nest_start(msg, IFLA_LINKINFO);

	nla_put_string(msg, IFLA_INFO_KIND, "torus");
	nla_nest_end(msg, info);
	if (request(msg) || !look())
		fault("no NIC can be made");
	in_range();
	memcpy(plain, f.shown, sizeof(f.shown));
	unmake();
}

static void usage(FILE *to)
{
	fputs("usage: [SEED=N] linkfuzz [--count N] [--nobody]\n\n"
	      "Makes, asks to change, and deletes a NIC " NIC ", in N (2000) requests. --nobody: as one\n"
	      "who may not.\n", to);
}

static int options(int argc, char **argv)
{
	static const struct option opts[] = {
		{ "count", required_argument, NULL, 'c' },
		{ "nobody", no_argument, NULL, 'n' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	int c;

	while ((c = getopt_long(argc, argv, "h", opts, NULL)) != -1) {
		if (c == 'c')
			f.count = strtoull(optarg, NULL, 0);
		else if (c == 'n')
			f.nobody = true;
		else
			return usage(c == 'h' ? stdout : stderr), c == 'h' ? 0 : 2;
	}
	return optind == argc ? -1 : (usage(stderr), 2);
}

int main(int argc, char **argv)
{
	uint64_t plain[IFLA_TORUS_MAX + 1] = { 0 };
	int err;

	f.count = 2000;
	err = options(argc, argv);
	if (err >= 0)
		return err;
	f.seed = random_seed(1);
	f.rng = f.seed;
	connect_route();
	plain_nic(plain);
	if (f.nobody && (setgid(65534) || setuid(65534)))
		fault("privilege stays");
	while (f.sent < f.count)
		one_request(plain);
	if (f.exists)
		unmake();
	printf("ok - %" PRIu64 " requests%s, SEED=%" PRIu64 ": %" PRIu64 " NICs, %" PRIu64
	       " refused\n", f.sent, f.nobody ? " as nobody" : "", f.seed, f.taken, f.refused);
	return 0;
}
