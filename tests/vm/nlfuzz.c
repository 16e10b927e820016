// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of all kinds to the netlink family, or to torusemu's socket: valid ones, and some with
 * wrong types, lengths, nests, values or headers. They are made from the lists from which the
 * policies are made. These are faults: an answer that is no whole message; a change that succeeds
 * without privilege; no answer to a last, valid request. The kernel's own checks find the rest.
 *
 * The same seed makes the same messages. Exit status: 0 fine, 1 a fault was found, 2 usage.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/genetlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "kernel/req/policy.h"
#include "tests/unit/random.h"
#include "tests/vm/role.h"

#define BATCH_MAX	32768	/* bytes of one datagram, plus one attribute */
#define BUF_SIZE	(BATCH_MAX + 2 * 65536)
#define ANSWER_MAX	(256 * 1024)
#define SEQ_SET		0x5e75e700	/* plus the command, if it changes something */

/**
 * struct fuzz - a run
 * @role: of the sender; "none" and "userns" may change nothing
 * @lower: devices that LINK_ATTACH may name
 * @verbose: print the errors of refused messages
 * @sent, @answers, @done: how many messages; @done succeeded
 * @buf, @answer: allocated, because the bytes have many types and so none of their own
 */
static struct fuzz {
	uint64_t seed, rng;
	uint64_t count;
	const char *role;
	const char *path;
	const char *lower[8];
	unsigned int nlower;
	int fd;
	uint16_t family;
	uint64_t sent, answers, done, refused;
	uint64_t set_done;
	bool verbose;
	char *buf;
	char *answer;
	size_t len;
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
	printf("not ok - %s; after %" PRIu64 " messages; replay: SEED=%" PRIu64 " --role %s\n",
	       what, f.sent, f.seed, f.role);
	exit(1);
}

/* --- values ------------------------------------------------------------------------ */

static uint64_t number(const struct torus_rule *r)
{
	uint64_t span = r->max - r->min;

	switch (below(8)) {
	case 0:
		return r->min;
	case 1:
		return r->max;
	case 2:
		return one_in(4) ? r->max + 1 : r->min + 1;
	case 3:
		return one_in(4) ? r->min - 1 : r->min;
	case 4:
		return one_in(4) ? random_next(&f.rng) : 1;
	case 5:
		return r->min + below(2);
	default:
		return r->min + (span > 12 ? below(12) : below((uint32_t)span + 1));
	}
}

static size_t text(char *to, unsigned int type)
{
	static const char *const some[] = { "torus0", "n", "", "lo", "nobody", "a b", "%s%n" };
	const char *s = type == TORUS_A_LOWER && f.nlower && !one_in(3) ?
			f.lower[below(f.nlower)] : some[below(sizeof(some) / sizeof(*some))];
	size_t len = strlen(s) + 1;

	memcpy(to, s, len);
	if (one_in(20)) {
		len = below(120);
		memset(to, 'x', len);
	}
	return one_in(20) && len ? len - 1 : len;
}

static size_t width(enum torus_kind kind)
{
	return kind == TORUS_U8 || kind == TORUS_BYTES ? 1 : kind == TORUS_U16 ||
	       kind == TORUS_U16S ? 2 :
	       kind == TORUS_U32 || kind == TORUS_U32S ? 4 : 8;
}

/*
 * Draws an entry of an array: a size of a shape (small, or now and then large, or nonsense), a
 * coordinate, or a row.
 */
static uint64_t entry(unsigned int type, enum torus_kind kind)
{
	if (kind == TORUS_U64S && one_in(4))
		return random_next(&f.rng);
	if (kind == TORUS_U64S) {	/* rows */
		uint64_t row = TORUS_ROW_VALID | 15ull << TORUS_ROW_FIRST_SHIFT |
			       15ull << TORUS_ROW_LAST_SHIFT;

		row |= 1ull << below(6);
		return one_in(8) ? row | TORUS_ROW_HOLD : row;
	}
	if (type == TORUS_A_SHAPE)
		return one_in(30) ? below(65536) : one_in(50) ? 64 : 1 + below(4);
	return one_in(20) ? random_next(&f.rng) : below(type == TORUS_A_COORDS ? 2 : 4);
}

static size_t array(char *to, unsigned int type, const struct torus_rule *r)
{
	static size_t dims;	/* dimensions of the last SHAPE: COORDS often has as many */
	size_t w = width(r->kind),
	n = r->kind == TORUS_U64S && one_in(10) ? below(7000) : 1 + below(6);
	size_t len;

	if (type == TORUS_A_SHAPE)
		dims = n = one_in(5) ? n : 1 + below(3);
	else if (type == TORUS_A_COORDS && !one_in(10))
		n = dims;
	len = n * w;

	for (size_t i = 0; i < n; i++) {
		uint64_t v = entry(type, r->kind);

		memcpy(to + i * w, &v, w);
	}
	return one_in(15) ? below((uint32_t)len + 3) : len;
}

/* --- attributes ---------------------------------------------------------------------- */

static void attr(unsigned int type, const struct torus_rule *r, bool top);

static void nest(unsigned int type)
{
	const struct torus_set *in = type == TORUS_A_ROWS ? &torus_set_rows : &torus_set_fault;
	unsigned int max = type == TORUS_A_ROWS ? TORUS_ROWS_MAX : TORUS_FAULT_MAX;

	for (unsigned int t = 1; t <= max; t++)
		if (type == TORUS_A_ROWS ? !one_in(20) : one_in(2))
			attr(t, &in->rules[t], false);
	if (one_in(30))
		attr(below(64), &in->rules[1], false);
	for (unsigned int depth = one_in(50) ? below(40) : 0; depth && f.len < BATCH_MAX; depth--) {
		struct nlattr *a = (struct nlattr *)(f.buf + f.len);

		a->nla_type = (uint16_t)(type | NLA_F_NESTED);
		a->nla_len = (uint16_t)(NLA_HDRLEN * depth);
		f.len += NLA_HDRLEN;
	}
}

static size_t value(char *to, unsigned int type, const struct torus_rule *r)
{
	uint64_t v;
	size_t len;

	switch (r->kind) {
	case TORUS_TEXT:
		return text(to, type);
	case TORUS_FLAG:
		return one_in(20) ? below(9) : 0;
	case TORUS_BYTES:
		len = one_in(10) ? below(1100) : 1 + below(40);
		memset(to, (int)below(256), len);
		return len;
	case TORUS_U16S:
	case TORUS_U32S:
	case TORUS_U64S:
		return array(to, type, r);
	default:
		v = number(r);
		memcpy(to, &v, sizeof(v));
		return one_in(30) ? below(12) : width(r->kind);
	}
}

static void attr(unsigned int type, const struct torus_rule *r, bool top)
{
	struct nlattr *a = (struct nlattr *)(f.buf + f.len);
	size_t start = f.len;

	if (f.len > BATCH_MAX)
		return;
	memset(a, 0, 256);
	a->nla_type = (uint16_t)type;
	f.len += NLA_HDRLEN;
	if (top && r->kind == TORUS_NEST) {
		if (!one_in(20))
			a->nla_type |= NLA_F_NESTED;
		nest(type);
	} else {
		f.len += value(f.buf + f.len, type, r);
	}
	a->nla_len = (uint16_t)(f.len - start);
	f.len = start + NLA_ALIGN(f.len - start);
	if (one_in(200))
		a->nla_len = (uint16_t)random_next(&f.rng);
	if (one_in(200))
		a->nla_type = (uint16_t)random_next(&f.rng);
}

/* --- messages -------------------------------------------------------------------------- */

static unsigned int pick_command(void)
{
	if (one_in(100))
		return below(256);
	return 1 + below(TORUS_CMD_MAX);
}

/* Flips one bit of the message that begins at @start. */
static void flip(size_t start)
{
	size_t at = start + below((uint32_t)(f.len - start));

	f.buf[at] ^= (char)(1 << below(8));
}

static void message(void)
{
	struct nlmsghdr *nlh = (struct nlmsghdr *)(f.buf + f.len);
	struct genlmsghdr *g = (struct genlmsghdr *)(nlh + 1);
	unsigned int cmd = pick_command();
	const struct torus_scope *c = &torus_scopes[cmd <= TORUS_CMD_MAX ? cmd : 0];
	size_t start = f.len;

	memset(nlh, 0, NLMSG_HDRLEN + GENL_HDRLEN);
	nlh->nlmsg_type = f.family;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	g->cmd = (uint8_t)cmd;
	g->version = TORUS_GENL_VERSION;
	f.len += NLMSG_HDRLEN + GENL_HDRLEN;
	for (unsigned int t = 1; t <= TORUS_A_MAX; t++) {
		bool wanted = torus_attrs_has(&c->required, t) ? !one_in(30) :
			      torus_attrs_has(&c->allowed, t) ?
			      one_in(2) : one_in(1000);

		if (wanted || (t == TORUS_A_IFINDEX && one_in(40)) ||
		    (t == TORUS_A_NAME && one_in(40)))
			attr(t, &torus_set_torus.rules[t], true);
	}
	if (torus_attrs_has(&c->allowed, TORUS_A_ROWS) && one_in(4))
		attr(TORUS_A_ROWS, &torus_set_torus.rules[TORUS_A_ROWS], true);
	if ((cmd == TORUS_CMD_LINK_GET || cmd == TORUS_CMD_DEVICE_GET ||
	     cmd == TORUS_CMD_ROWS_GET || one_in(100)) && one_in(2))
		nlh->nlmsg_flags |= NLM_F_DUMP;
	nlh->nlmsg_len = (uint32_t)(f.len - start);
	if (one_in(100)) {
		nlh->nlmsg_len -= below(nlh->nlmsg_len - NLMSG_HDRLEN + 1);
		f.len = start + NLMSG_ALIGN(nlh->nlmsg_len);
	}
	if (one_in(200))
		flip(start);
	if (one_in(1000))
		nlh->nlmsg_len = (uint32_t)random_next(&f.rng);
	/* Send no messages to another family, because they could have any effect. */
	nlh->nlmsg_type = f.family;
	/* The sequence number tells the reader of the answer what was asked. */
	nlh->nlmsg_seq = g->cmd <= TORUS_CMD_MAX && torus_scopes[g->cmd].privileged ?
			 SEQ_SET | g->cmd : 0;
	f.sent++;
}

/* --- the other side ---------------------------------------------------------------------- */

static void print_error(const struct nlmsghdr *nlh, const struct nlmsgerr *e)
{
	struct nlattr *text = NULL;
	int len = (int)nlh->nlmsg_len - (int)NLMSG_LENGTH(sizeof(*e));

	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS && len > 0)
		text = nla_find((struct nlattr *)(e + 1), len, NLMSGERR_ATTR_MSG);
	printf("%s: %s\n", strerror(-e->error), text ? (char *)nla_data(text) : "");
}

static void answered(const struct nlmsghdr *nlh)
{
	const struct nlmsgerr *e = (const void *)(nlh + 1);

	f.answers++;
	if (nlh->nlmsg_type != NLMSG_ERROR)
		return;
	if (nlh->nlmsg_len < NLMSG_LENGTH(sizeof(*e)) || e->error > 0 || e->error < -4095)
		fault("an answer with an impossible error");
	if (e->error) {
		f.refused++;
		if (f.verbose)
			print_error(nlh, e);
		return;
	}
	f.done++;
	/*
	 * A message that is not a request is acknowledged without a check. The copy of the header
	 * in the error shows what the other side saw: broken lengths move the beginnings of
	 * messages.
	 */
	if ((nlh->nlmsg_seq & ~0xffu) != SEQ_SET || !(e->msg.nlmsg_flags & NLM_F_REQUEST))
		return;
	f.set_done++;
	if (!strcmp(f.role, "root"))
		return;
	printf("command %u, flags %#x\n", nlh->nlmsg_seq & 0xff, e->msg.nlmsg_flags);
	fault("a set succeeded without privilege");
}

/* Return: false if nothing came for @ms. */
static bool receive(int ms)
{
	struct pollfd p = { .fd = f.fd, .events = POLLIN };
	struct nlmsghdr *nlh = (struct nlmsghdr *)f.answer;
	ssize_t n;
	int left;

	if (poll(&p, 1, ms) <= 0)
		return false;
	n = recv(f.fd, f.answer, ANSWER_MAX, MSG_DONTWAIT);
	if (n < 0 && (errno == ENOBUFS || errno == EAGAIN))
		return true;
	if (n <= 0)
		fault("the other side is gone");
	for (left = (int)n; NLMSG_OK(nlh, (unsigned int)left); nlh = NLMSG_NEXT(nlh, left))
		answered(nlh);
	if (left > 0)
		fault("an answer that is no whole message");
	return true;
}

/* torusemu stops reading while its answers are not read, and drops a client that sends more. */
static ssize_t send_emu(void)
{
	ssize_t n;

	if (f.len > TORUS_MSG_MAX)
		f.len = TORUS_MSG_MAX;
	while ((n = send(f.fd, f.buf, f.len, MSG_NOSIGNAL | MSG_DONTWAIT)) < 0 && errno == EAGAIN)
		if (!receive(0))
			poll(&(struct pollfd) { .fd = f.fd, .events = POLLIN | POLLOUT }, 1, 1000);
	return n;
}

static void deliver(void)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	ssize_t n = 0;

	if (f.len)
		n = f.path ? send_emu() :
		    sendto(f.fd, f.buf, f.len, 0, (struct sockaddr *)&kernel, sizeof(kernel));
	if (n < 0 && errno != ENOBUFS && errno != EAGAIN && errno != EMSGSIZE)
		fault(strerror(errno));
	f.len = 0;
	while (receive(0))
		;
}

/* Sends a last, valid request for all devices, which must be answered. */
static void still_there(void)
{
	struct nlmsghdr *nlh = (struct nlmsghdr *)f.buf;
	struct genlmsghdr *g = (struct genlmsghdr *)(nlh + 1);
	uint64_t before;

	while (receive(50))
		;
	before = f.answers;
	memset(nlh, 0, NLMSG_HDRLEN + GENL_HDRLEN);
	nlh->nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN;
	nlh->nlmsg_type = f.family;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_DUMP;
	g->cmd = TORUS_CMD_DEVICE_GET;
	g->version = TORUS_GENL_VERSION;
	f.len = nlh->nlmsg_len;
	deliver();
	receive(10000);
	if (f.answers == before)
		fault("no answer to a sensible question");
}

static void connect_kernel(void)
{
	struct nl_sock *sk = nl_socket_alloc();
	int size = 4 << 20, on = 1, id;

	if (!sk || genl_connect(sk) < 0)
		fault("no generic netlink");
	id = genl_ctrl_resolve(sk, TORUS_GENL_NAME);
	if (id < 0) {
		fprintf(stderr, "nlfuzz: there is no netlink family '%s': load the module\n",
			TORUS_GENL_NAME);
		exit(2);
	}
	f.family = (uint16_t)id;
	f.fd = nl_socket_get_fd(sk);
	setsockopt(f.fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	setsockopt(f.fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	setsockopt(f.fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	setsockopt(f.fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
}

static void connect_emu(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", f.path);
	f.fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (f.fd < 0 || connect(f.fd, (struct sockaddr *)&at, sizeof(at)) < 0) {
		fprintf(stderr, "nlfuzz: %s: %s\n", f.path, strerror(errno));
		exit(2);
	}
	f.family = TORUS_EMU_FAMILY;
}

static void usage(FILE *to)
{
	fputs("usage: [SEED=N] nlfuzz [--count N] [--role root|none|userns] [--socket PATH]\n"
	      "              [--verbose] [LOWER...]\n\n"
	      "Sends N (10000) messages to the netlink family 'torus', or to torusemu.\n"
	      "LOWER: devices that ports may be attached to. --verbose tells why it was refused.\n",
	      to);
}

static int options(int argc, char **argv)
{
	static const struct option opts[] = {
		{ "count", required_argument, NULL, 'c' },
		{ "role", required_argument, NULL, 'r' },
		{ "socket", required_argument, NULL, 's' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	int c;

	while ((c = getopt_long(argc, argv, "hv", opts, NULL)) != -1) {
		if (c == 'c')
			f.count = strtoull(optarg, NULL, 0);
		else if (c == 'r')
			f.role = optarg;
		else if (c == 's')
			f.path = optarg;
		else if (c == 'v')
			f.verbose = true;
		else
			return usage(c == 'h' ? stdout : stderr), c == 'h' ? 0 : 2;
	}
	while (optind < argc && f.nlower < 8)
		f.lower[f.nlower++] = argv[optind++];
	return -1;
}

int main(int argc, char **argv)
{
	int err;

	f.count = 10000;
	f.role = "root";
	err = options(argc, argv);
	if (err >= 0)
		return err;
	f.seed = random_seed(1);
	f.rng = f.seed;
	err = role_take(f.role);
	if (err) {
		fprintf(stderr, "nlfuzz: role '%s': %s; must be root, none or userns\n", f.role,
			strerror(-err));
		return 2;
	}
	f.buf = calloc(1, BUF_SIZE);
	f.answer = calloc(1, ANSWER_MAX);
	if (!f.buf || !f.answer)
		fault("out of memory");
	if (f.path)
		connect_emu();
	else
		connect_kernel();
	while (f.sent < f.count) {
		message();
		/* A broken length would hide what follows it. */
		if (f.len > BATCH_MAX / 4 || one_in(16))
			deliver();
	}
	deliver();
	still_there();
	printf("ok - %" PRIu64 " messages as %s: %" PRIu64 " answers, %" PRIu64 " done (%" PRIu64
	       " sets), %" PRIu64 " refused\n", f.sent, f.role, f.answers, f.done, f.set_done,
	       f.refused);
	if (strcmp(f.role, "root") == 0 && f.count >= 10000 && !f.set_done)
		fault("no set succeeded: this was no test");
	return 0;
}
