// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests of ethtool to a NIC of the kernel, by ioctl and by netlink (if the kernel has that): any
 * command, with valid and invalid values, lengths and nests. Whatever is requested, waiting times
 * stay within their limits; a request only changes what it concerns, and nothing without privilege;
 * a valid waiting time is accepted and shown, and one out of limits is refused.
 *
 * The same seed makes the same requests. Exit status: 0 fine, 1 a fault was found, 2 usage.
 */
#include <getopt.h>
#include <inttypes.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "tests/unit/random.h"
#include "tests/vm/role.h"

#define USECS_MAX	10000
#define FRAMES_MAX	128
#define WORDS		2		/* words of features, 32 each */
#define IOCTL_MAX	0x60		/* commands */
#define BUF_SIZE	(256 * 1024)	/* the largest answer, and room */
#define MSG_SIZE	8192
#define NAMES_MAX	2000

/** struct state - what requests may change */
struct state {
	uint32_t usecs, frames;
	uint32_t active[WORDS];
};

/* The things that a request may change, and its expected result. */
enum { NOTHING = 0, WAITS = 1, FEATURES = 2 };
enum due { TAKEN, REFUSED, EITHER };

/**
 * struct fuzz - a run
 * @family: of ethtool's netlink; 0: the kernel has none
 * @hw: features that may change
 * @counters: how many the NIC has
 */
static struct fuzz {
	uint64_t seed, rng;
	uint64_t count, sent, done, refused;
	const char *role;
	const char *nic;
	bool root;
	int fd;
	struct nl_sock *sk;
	int family;
	uint32_t seq;
	uint32_t hw[WORDS];
	uint32_t counters;
	uint32_t *buf;
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
	       " ethfuzz --role %s --count %" PRIu64 " %s\n", what, f.sent, f.seed, f.role,
	       f.count, f.nic);
	exit(1);
}

/* Draws a number: at a limit, or any. @top: a limit of this request */
static uint32_t number(uint32_t top)
{
	switch (below(8)) {
	case 0:
		return 0;
	case 1:
		return top;
	case 2:
		return top + 1;
	case 3:
		return ~0u - below(2);
	case 4:
		return (uint32_t)random_next(&f.rng);
	default:
		return below(top + 2);
	}
}

/* --- what a NIC shows ------------------------------------------------------------------ */

/* Return: 0 or a negative errno. */
static int tool(void *data)
{
	struct ifreq ifr = { .ifr_data = data };

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", f.nic);
	return ioctl(f.fd, SIOCETHTOOL, &ifr) ? -errno : 0;
}

static bool in_bounds(const struct state *s)
{
	return s->usecs <= USECS_MAX && s->frames && s->frames <= FRAMES_MAX;
}

static struct state look(void)
{
	struct ethtool_coalesce c = { .cmd = ETHTOOL_GCOALESCE };
	struct ethtool_gfeatures *g = (void *)f.buf;
	struct state s;

	*g = (struct ethtool_gfeatures) { .cmd = ETHTOOL_GFEATURES, .size = WORDS };
	if (tool(&c) || tool(g))
		fault("what a NIC is like is not told");
	s = (struct state) { .usecs = c.tx_coalesce_usecs, .frames = c.tx_max_coalesced_frames };
	if (!in_bounds(&s))
		fault("a wait is out of bounds");
	for (unsigned int i = 0; i < WORDS; i++) {
		s.active[i] = g->features[i].active;
		f.hw[i] = g->features[i].available;
	}
	return s;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Checks that each counter has a name of its own. */
static void names(void)
{
	struct ethtool_gstrings *g = (void *)f.buf;
	char (*name)[ETH_GSTRING_LEN] = (void *)g->data;

	memset(f.buf, 0xff, BUF_SIZE);
	*g = (struct ethtool_gstrings) { .cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_STATS };
	if (tool(g) || !g->len || g->len > NAMES_MAX)
		fault("counters' names are not told");
	f.counters = g->len;
	for (uint32_t i = 0; i < g->len; i++)
		if (!name[i][0] || !memchr(name[i], 0, ETH_GSTRING_LEN))
			fault("a counter's name has no end");
	qsort(name, g->len, ETH_GSTRING_LEN, by_name);
	for (uint32_t i = 1; i < g->len; i++)
		if (!strcmp(name[i - 1], name[i]))
			fault("two counters have one name");
}

/* --- netlink --------------------------------------------------------------------------- */

/* Return: 0 or a negative errno, as the last of the answers says. */
static int answer(void)
{
	struct pollfd p = { .fd = nl_socket_get_fd(f.sk), .events = POLLIN };
	struct nlmsghdr *nlh;
	int left;

	for (;;) {
		if (poll(&p, 1, 60000) != 1)
			fault("no answer");
		left = (int)recv(p.fd, f.buf, BUF_SIZE, 0);
		if (left < 0)
			fault(strerror(errno));
		for (nlh = (void *)f.buf; NLMSG_OK(nlh, (unsigned int)left); nlh = NLMSG_NEXT(nlh, left)) {
			if (nlh->nlmsg_seq == f.seq &&
			    (nlh->nlmsg_type == NLMSG_ERROR || nlh->nlmsg_type == NLMSG_DONE))
				return *(int *)NLMSG_DATA(nlh);
		}
		if (left)
			fault("an answer that is no whole message");
	}
}

/*
 * Puts a header with the NIC's name or index, which is mostly right. Return: whether it is right.
 */
static bool put_header(struct nl_msg *msg)
{
	struct nlattr *nest = nla_nest_start(msg, 1);	/* ETHTOOL_A_*_HEADER */
	bool right = !one_in(12), index = one_in(2);
	uint32_t flags;

	if (index)
		nla_put_u32(msg, ETHTOOL_A_HEADER_DEV_INDEX,
			    right ? if_nametoindex(f.nic) : number(3));
	if (!index || one_in(2))
		nla_put_string(msg, ETHTOOL_A_HEADER_DEV_NAME, right ? f.nic : one_in(2) ? "" : "lo");
	if (one_in(4)) {
		flags = below(ETHTOOL_FLAG_ALL + 2);
		nla_put_u32(msg, ETHTOOL_A_HEADER_FLAGS, flags);
		/* flags that only some commands allow */
		right = right && flags < ETHTOOL_FLAG_STATS;
	}
	nla_nest_end(msg, nest);
	return right;
}

static void put_bits(struct nl_msg *msg)
{
	struct nlattr *bits = nla_nest_start(msg, ETHTOOL_A_BITSET_BITS), *bit;
	static const char *const some[] = { "tx-scatter-gather", "tx-checksum-ip-generic", "nobody",
					    "tx-tcp-segmentation", "tx-generic-segmentation", "" };

	for (unsigned int n = below(6); n; n--) {
		bit = nla_nest_start(msg, ETHTOOL_A_BITSET_BITS_BIT);
		if (one_in(2))
			nla_put_u32(msg, ETHTOOL_A_BITSET_BIT_INDEX, number(63));
		if (one_in(2))
			nla_put_string(msg, ETHTOOL_A_BITSET_BIT_NAME, some[below(sizeof(some) / sizeof(*some))]);
		if (one_in(2))
			nla_put_flag(msg, ETHTOOL_A_BITSET_BIT_VALUE);
		nla_nest_end(msg, bit);
	}
	nla_nest_end(msg, bits);
}

static void put_bitset(struct nl_msg *msg, int type)
{
	struct nlattr *set = nla_nest_start(msg, type);
	uint32_t words[4];

	for (unsigned int i = 0; i < 4; i++)
		words[i] = (uint32_t)random_next(&f.rng) & (one_in(2) ? f.hw[i % WORDS] : ~0u);
	if (one_in(3))
		nla_put_flag(msg, ETHTOOL_A_BITSET_NOMASK);
	if (one_in(2))
		nla_put_u32(msg, ETHTOOL_A_BITSET_SIZE, one_in(3) ? number(64) : 64);
	if (one_in(2)) {
		put_bits(msg);
	} else {
		nla_put(msg, ETHTOOL_A_BITSET_VALUE, one_in(6) ? (int)below(16) : 8, words);
		nla_put(msg, ETHTOOL_A_BITSET_MASK, one_in(6) ? (int)below(16) : 8, f.hw);
	}
	nla_nest_end(msg, set);
}

/* Puts an attribute of any form. */
static void put_any(struct nl_msg *msg, int type)
{
	char bytes[64];

	memset(bytes, (int)below(256), sizeof(bytes));
	switch (below(5)) {
	case 0:
		nla_put_u32(msg, type, number(128));
		break;
	case 1:
		nla_put_u8(msg, type, (uint8_t)number(2));
		break;
	case 2:
		put_bitset(msg, type);
		break;
	default:
		nla_put(msg, type | (one_in(3) ? NLA_F_NESTED : 0), (int)below(sizeof(bytes)), bytes);
	}
}

/* Puts waiting times and batch sizes of messages; those not given do not change. */
static enum due put_waits(struct nl_msg *msg, struct state *wanted)
{
	enum due due;

	if (!one_in(4)) {
		wanted->usecs = number(USECS_MAX);
		nla_put_u32(msg, ETHTOOL_A_COALESCE_TX_USECS, wanted->usecs);
	}
	if (!one_in(4)) {
		wanted->frames = number(FRAMES_MAX);
		nla_put_u32(msg, ETHTOOL_A_COALESCE_TX_MAX_FRAMES, wanted->frames);
	}
	due = in_bounds(wanted) ? TAKEN : REFUSED;
	if (one_in(6)) {
		put_any(msg, 2 + (int)below(ETHTOOL_A_COALESCE_MAX));
		due = EITHER;
	}
	return due;
}

static enum due put_request(struct nl_msg *msg, int cmd, struct state *wanted)
{
	bool right = put_header(msg);
	enum due due = EITHER;

	if (cmd == ETHTOOL_MSG_COALESCE_SET)
		due = put_waits(msg, wanted);
	else if (cmd == ETHTOOL_MSG_FEATURES_SET && !one_in(6))
		put_bitset(msg, ETHTOOL_A_FEATURES_WANTED);
	else
		for (unsigned int n = one_in(2) ? 0 : below(6); n; n--)
			put_any(msg, 1 + (int)below(30));
	return right ? due : EITHER;
}

/* Return: what the request may change; @due, @wanted: its expected result */
static unsigned int by_netlink(enum due *due, struct state *wanted, int *err)
{
	static const int often[] = { ETHTOOL_MSG_COALESCE_SET, ETHTOOL_MSG_FEATURES_SET,
				     ETHTOOL_MSG_STATS_GET, ETHTOOL_MSG_STRSET_GET };
	int cmd = one_in(2) ? often[below(4)] : (int)below(ETHTOOL_MSG_USER_MAX + 4);
	struct nl_msg *msg = nlmsg_alloc_size(MSG_SIZE);
	int flags = NLM_F_REQUEST | NLM_F_ACK;

	if (cmd != ETHTOOL_MSG_COALESCE_SET && one_in(4))
		flags |= NLM_F_DUMP;
	if (!msg || !genlmsg_put(msg, NL_AUTO_PORT, ++f.seq, f.family, 0, flags, (uint8_t)cmd,
				 ETHTOOL_GENL_VERSION))
		fault("out of memory");
	*due = put_request(msg, cmd, wanted);
	if (nl_send_auto(f.sk, msg) < 0)
		fault("cannot send");
	nlmsg_free(msg);
	*err = answer();
	return cmd == ETHTOOL_MSG_COALESCE_SET ? WAITS :
	       cmd == ETHTOOL_MSG_FEATURES_SET ? FEATURES : NOTHING;
}

/* --- ioctl ------------------------------------------------------------------------------ */

static bool about_features(uint32_t cmd)
{
	switch (cmd) {
	case ETHTOOL_SRXCSUM:
	case ETHTOOL_STXCSUM:
	case ETHTOOL_SSG:
	case ETHTOOL_STSO:
	case ETHTOOL_SUFO:
	case ETHTOOL_SGSO:
	case ETHTOOL_SGRO:
	case ETHTOOL_SFLAGS:
	case ETHTOOL_SFEATURES:
		return true;
	}
	return false;
}

/* Asks by ioctl for other waiting times, which no NIC has: refused unless they are 0. */
static int wait_by_ioctl(enum due *due, struct state *wanted)
{
	static const struct ethtool_coalesce none;
	struct ethtool_coalesce c = none;
	uint32_t *word = (uint32_t *)&c;

	if (one_in(6))
		word[1 + below(sizeof(c) / 4 - 1)] = number(1);
	c.tx_coalesce_usecs = c.tx_max_coalesced_frames = 0;
	*due = memcmp(&c, &none, sizeof(c)) ? REFUSED : TAKEN;
	c.cmd = ETHTOOL_SCOALESCE;
	c.tx_coalesce_usecs = wanted->usecs = number(USECS_MAX);
	c.tx_max_coalesced_frames = wanted->frames = number(FRAMES_MAX);
	if (!in_bounds(wanted))
		*due = REFUSED;
	return tool(&c);
}

static int any_by_ioctl(uint32_t cmd)
{
	memset(f.buf, (int)below(256), 4096);
	for (unsigned int i = 1; i < 16; i++)
		f.buf[i] = one_in(8) ? f.counters : one_in(2) ? number(64) : below(3);
	f.buf[0] = cmd;
	return tool(f.buf);
}

/* As by_netlink(), by ioctl. */
static unsigned int by_ioctl(enum due *due, struct state *wanted, int *err)
{
	uint32_t cmd = one_in(4) ? (uint32_t)ETHTOOL_SFEATURES : below(IOCTL_MAX);

	if (one_in(4)) {
		*err = wait_by_ioctl(due, wanted);
		return WAITS;
	}
	*err = any_by_ioctl(cmd);
	return cmd == ETHTOOL_SCOALESCE ? WAITS : about_features(cmd) ? FEATURES : NOTHING;
}

/* --- the run ---------------------------------------------------------------------------- */

static void judge(const struct state *before, const struct state *wanted, unsigned int may,
		  enum due due, int err)
{
	struct state after = look();

	if (!f.root && memcmp(before, &after, sizeof(after)))
		fault("something changed without privilege");
	if (!f.root && may == WAITS && !err)
		fault("a wait was taken without privilege");
	if (!(may & WAITS) && (before->usecs != after.usecs || before->frames != after.frames))
		fault("waits changed, and were not asked to");
	for (unsigned int i = 0; i < WORDS; i++)
		if ((before->active[i] ^ after.active[i]) & ~(may & FEATURES ? f.hw[i] : 0))
			fault("features changed that cannot, or were not asked to");
	if (!f.root || due == EITHER)
		return;
	if (err && due == TAKEN) {
		printf("%u us, %u frames: %s\n", wanted->usecs, wanted->frames, strerror(-err));
		fault("a sensible wait is refused");
	}
	if (!err && due == REFUSED)
		fault("a wait out of bounds is taken");
	wanted = err ? before : wanted;
	if (after.usecs != wanted->usecs || after.frames != wanted->frames)
		fault("what was set is not what is shown");
}

static void one_request(void)
{
	struct state before = look(), wanted = before;
	enum due due = EITHER;
	unsigned int may;
	int err;

	f.sent++;
	if (f.family && !one_in(3))
		may = by_netlink(&due, &wanted, &err);
	else
		may = by_ioctl(&due, &wanted, &err);
	if (err > 0 || err < -4095)
		fault("an impossible error");
	if (err)
		f.refused++;
	else
		f.done++;
	judge(&before, &wanted, may, due, err);
}

static void connect_all(void)
{
	int id;

	f.fd = socket(AF_INET, SOCK_DGRAM, 0);
	f.sk = nl_socket_alloc();
	if (f.fd < 0 || !f.sk || genl_connect(f.sk))
		fault("no sockets");
	id = genl_ctrl_resolve(f.sk, ETHTOOL_GENL_NAME);
	f.family = id < 0 ? 0 : id;
}

static void usage(FILE *to)
{
	fputs("usage: [SEED=N] ethfuzz [--count N] [--role root|none|userns] NIC\n\n"
	      "Asks of NIC what ethtool can ask of it, in N (2000) requests.\n", to);
}

static int options(int argc, char **argv)
{
	static const struct option opts[] = {
		{ "count", required_argument, NULL, 'c' },
		{ "role", required_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	int c;

	while ((c = getopt_long(argc, argv, "h", opts, NULL)) != -1) {
		if (c == 'c')
			f.count = strtoull(optarg, NULL, 0);
		else if (c == 'r')
			f.role = optarg;
		else
			return usage(c == 'h' ? stdout : stderr), c == 'h' ? 0 : 2;
	}
	f.nic = argv[optind];
	return optind + 1 == argc ? -1 : (usage(stderr), 2);
}

int main(int argc, char **argv)
{
	int err;

	f.count = 2000;
	f.role = "root";
	err = options(argc, argv);
	if (err >= 0)
		return err;
	f.seed = random_seed(1);
	f.rng = f.seed;
	f.root = !strcmp(f.role, "root");
	err = role_take(f.role);
	if (err) {
		fprintf(stderr, "ethfuzz: role '%s': %s; must be root, none or userns\n", f.role,
			strerror(-err));
		return 2;
	}
	f.buf = calloc(1, BUF_SIZE);
	if (!f.buf)
		fault("out of memory");
	connect_all();
	names();
	while (f.sent < f.count)
		one_request();
	names();
	printf("ok - %" PRIu64 " requests as %s%s, SEED=%" PRIu64 ": %" PRIu64 " done, %" PRIu64
	       " refused\n", f.sent, f.role, f.family ? "" : ", by ioctl only", f.seed, f.done, f.refused);
	return 0;
}
