// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Requests and answers, over whatever transport.
 *
 * Every request asks for an ACK, so every request ends with NLMSG_ERROR or, a
 * dump, with NLMSG_DONE. An answer is known by its sequence number; one to an
 * earlier request that timed out is skipped. A dump is always read to its end,
 * also after an error: the kernel refuses a second one while the first waits.
 */
#include <poll.h>
#include <stdarg.h>
#include <time.h>

#include "client.h"

#define DUMP_TRIES 8 /* against a table that keeps changing */

#define FIXED(t, len) { .type = NLA_##t, .minlen = len, .maxlen = len }
#define U8  FIXED(U8, 1)
#define U16 FIXED(U16, 2)
#define U32 FIXED(U32, 4)
#define U64 FIXED(U64, 8)

static const struct nla_policy policy[TORUS_A_MAX + 1] = {
	[TORUS_A_IFINDEX] = U32,
	[TORUS_A_NAME] = { .type = NLA_STRING, .minlen = 1, .maxlen = TORUS_NAME_MAX + 1 },
	[TORUS_A_IFNAME] = { .type = NLA_STRING, .minlen = 1, .maxlen = 16 },
	[TORUS_A_DRIVER] = { .type = NLA_STRING, .minlen = 1, .maxlen = 16 },
	[TORUS_A_GUID] = U64,
	[TORUS_A_EPOCH] = U32,
	[TORUS_A_PORT_COUNT] = U8,
	[TORUS_A_BOOTSTRAP] = U8,
	[TORUS_A_SHAPE] = { .minlen = 2, .maxlen = 2 * TORUS_MAX_DIMS },
	[TORUS_A_COORDS] = { .minlen = 2, .maxlen = 2 * TORUS_MAX_DIMS },
	[TORUS_A_NODE] = U32,
	[TORUS_A_VERSION] = U64,
	[TORUS_A_ROW_COUNT] = U32,
	[TORUS_A_NODE_COUNTERS] = { .type = NLA_NESTED },
	[TORUS_A_PORT] = U8,
	[TORUS_A_LOWER] = { .type = NLA_STRING, .minlen = 1, .maxlen = 16 },
	[TORUS_A_STATE] = U8,
	[TORUS_A_OLD_STATE] = U8,
	[TORUS_A_REASON] = U8,
	[TORUS_A_ADMIN] = U8,
	[TORUS_A_CLOSED] = U8,
	[TORUS_A_CARRIER] = U8,
	[TORUS_A_SESSION] = U32,
	[TORUS_A_SEQ] = U16,
	[TORUS_A_PEER_GUID] = U64,
	[TORUS_A_PEER_PORT] = U8,
	[TORUS_A_RETRY] = U8,
	[TORUS_A_RETRY_WANTED] = U8,
	[TORUS_A_LANES] = { .type = NLA_NESTED },
	[TORUS_A_LANE] = U8,
	[TORUS_A_EYE] = { .minlen = TORUS_EYE_ROWS * TORUS_EYE_COLS,
			  .maxlen = TORUS_EYE_ROWS * TORUS_EYE_COLS },
	[TORUS_A_SWING] = U16,
	[TORUS_A_RELAY_PACKETS] = U32,
	[TORUS_A_PAYLOAD_MAX] = U32,
	[TORUS_A_MASK_HEIGHT] = U16,
	[TORUS_A_MASK_WIDTH] = U16,
	[TORUS_A_FAULT] = { .type = NLA_NESTED },
	[TORUS_A_PORT_COUNTERS] = { .type = NLA_NESTED },
	[TORUS_A_GAUGES] = { .type = NLA_NESTED },
	[TORUS_A_ROWS] = { .type = NLA_NESTED },
	[TORUS_A_FLOW] = { .type = NLA_NESTED },
	[TORUS_A_PARKED] = U64,
	[TORUS_A_UNRESOLVED] = U64,
	[TORUS_A_PARK_BYTES] = U64,
	[TORUS_A_PARK_BYTES_MAX] = U64,
	[TORUS_A_HELD] = U64,
	[TORUS_A_DATA] = { .minlen = 1, .maxlen = TORUS_MGMT_MAX },
};

/* --- errors ---------------------------------------------------------------- */

int lt_fail(struct torus_dev *dev, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(dev->error, sizeof(dev->error), fmt, ap);
	va_end(ap);
	return err;
}

/* --- time ------------------------------------------------------------------ */

int64_t lt_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int lt_wait(int fd, short events, int64_t deadline)
{
	struct pollfd p = { .fd = fd, .events = events };

	for (;;) {
		int64_t left = deadline - lt_now();
		int n = poll(&p, 1, left > 0 ? (int)left : 0);

		if (n > 0)
			return 0;
		if (n == 0)
			return -ETIMEDOUT;
		if (errno != EINTR)
			return -errno;
	}
}

int torus_timeout_set(struct torus_dev *dev, int timeout_ms)
{
	if (timeout_ms < 1)
		return lt_fail(dev, -EINVAL, "timeout %d ms: allowed 1 and more",
			       timeout_ms);
	dev->timeout_ms = timeout_ms;
	return 0;
}

/* --- requests -------------------------------------------------------------- */

struct nl_msg *lt_msg(struct torus_dev *dev, enum torus_cmd cmd, size_t bytes)
{
	/* Header, IFINDEX, and some air for small attributes. */
	struct nl_msg *msg = nlmsg_alloc_size(NLMSG_HDRLEN + GENL_HDRLEN + 128 + bytes);

	if (!msg)
		return NULL;
	if (!genlmsg_put(msg, 0, 0, dev->conn.family, 0, 0, (uint8_t)cmd,
			 TORUS_GENL_VERSION) ||
	    (dev->ifindex && nla_put_u32(msg, TORUS_A_IFINDEX, dev->ifindex))) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

int lt_drop(struct torus_dev *dev, struct nl_msg *msg)
{
	nlmsg_free(msg);
	return lt_fail(dev, -ENOMEM, "out of memory for a request");
}

int lt_port_msg(struct torus_dev *dev, enum torus_cmd cmd, unsigned int port, size_t bytes,
		struct nl_msg **out)
{
	if (port >= TORUS_MAX_PORTS)
		return lt_fail(dev, -EINVAL, "port %u: allowed 0 to %u", port,
			       TORUS_MAX_PORTS - 1);
	*out = lt_msg(dev, cmd, bytes);
	if (!*out || nla_put_u8(*out, TORUS_A_PORT, (uint8_t)port))
		return lt_drop(dev, *out);
	return 0;
}

static int send_request(struct torus_dev *dev, struct conn *c, struct nlmsghdr *nlh,
			unsigned int flags)
{
	int64_t deadline = lt_now() + dev->timeout_ms;
	int err;

	if (++c->seq == 0) /* notifications have 0 */
		c->seq = 1;
	nlh->nlmsg_seq = c->seq;
	nlh->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags);
	while ((err = c->ops->send(c, nlh)) == -EAGAIN) {
		err = lt_wait(c->fd, POLLOUT, deadline);
		if (err)
			break;
	}
	return err;
}

/* --- answers --------------------------------------------------------------- */

/**
 * struct exchange - one request under way
 * @req, @cmd: what was asked, for texts
 * @replies: so far
 * @err: first error of @reply; what follows is read but not looked at
 * @intr: the dump says of itself that it is not consistent
 * @done: the end was seen, @end is its error; @text: why
 */
struct exchange {
	struct torus_dev *dev;
	struct conn *c;
	struct nlmsghdr *req;
	unsigned int cmd;
	reply_fn reply;
	void *arg;
	unsigned int replies;
	int err;
	bool intr;
	bool done;
	int end;
	char text[192];
};

/* The extended ACK among the attributes from @from on, as text. Return: "" if there is none. */
static const char *ext_ack(struct exchange *x, struct nlmsghdr *nlh, size_t from)
{
	from = NLMSG_ALIGN(from);
	x->text[0] = '\0';
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS && nlmsg_datalen(nlh) >= (int)from)
		lt_refusal(x->text, sizeof(x->text), x->req,
			   (struct nlattr *)((char *)nlmsg_data(nlh) + from),
			   nlmsg_datalen(nlh) - (int)from);
	return x->text;
}

/* An end that carries @err; a peer that sends a positive one lies. */
static int end_with(struct exchange *x, int err, const char *text)
{
	x->done = true;
	x->end = err;
	if (x->err) /* what went wrong first is what to tell */
		return err;
	if (err > 0 || err < -4095)
		return lt_fail(x->dev, x->end = -EBADMSG, "%s: answered with error %d",
			       lt_command_name(x->cmd), err);
	if (err && *text)
		lt_fail(x->dev, err, "%s: %s (%s)", lt_command_name(x->cmd), text,
			strerror(-err));
	else if (err)
		lt_fail(x->dev, err, "%s: %s", lt_command_name(x->cmd), strerror(-err));
	return err;
}

static int got_error(struct exchange *x, struct nlmsghdr *nlh)
{
	struct nlmsgerr *e = nlmsg_data(nlh);
	size_t from = sizeof(*e);

	if (nlmsg_datalen(nlh) < (int)sizeof(*e))
		return end_with(x, -EBADMSG, "its acknowledgement is cut short");
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED) && e->msg.nlmsg_len > NLMSG_HDRLEN)
		from += e->msg.nlmsg_len - NLMSG_HDRLEN;
	return end_with(x, e->error, ext_ack(x, nlh, from));
}

static int got_done(struct exchange *x, struct nlmsghdr *nlh)
{
	int err = 0;

	if (nlmsg_datalen(nlh) >= (int)sizeof(err))
		memcpy(&err, nlmsg_data(nlh), sizeof(err));
	return end_with(x, err, ext_ack(x, nlh, sizeof(err)));
}

static void got_reply(struct exchange *x, struct nlmsghdr *nlh)
{
	struct nlattr *tb[TORUS_A_MAX + 1];

	x->replies++;
	if (x->err || x->intr || !x->reply)
		return;
	x->err = lt_parse(x->dev, nlh, tb);
	if (!x->err)
		x->err = x->reply(x->dev, tb, nlh, x->arg);
}

static void got_message(struct exchange *x, struct nlmsghdr *nlh)
{
	if (nlh->nlmsg_type == NLMSG_OVERRUN ||
	    (nlh->nlmsg_seq == 0 && nlh->nlmsg_type == x->c->family)) {
		x->c->missed = true;
		return;
	}
	if (nlh->nlmsg_seq != x->c->seq)
		return;
	if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
		x->intr = true;
	if (nlh->nlmsg_type == NLMSG_ERROR)
		got_error(x, nlh);
	else if (nlh->nlmsg_type == NLMSG_DONE)
		got_done(x, nlh);
	else if (nlh->nlmsg_type == x->c->family)
		got_reply(x, nlh);
	else if (nlh->nlmsg_type != NLMSG_NOOP && !x->err)
		x->err = lt_fail(x->dev, -EBADMSG, "%s: answered with message type %u",
				 lt_command_name(x->cmd), nlh->nlmsg_type);
}

static int got_datagram(struct exchange *x, size_t len)
{
	struct nlmsghdr *nlh = x->c->buf;
	int left = (int)len;

	for (; nlmsg_ok(nlh, left) && !x->done; nlh = nlmsg_next(nlh, &left))
		got_message(x, nlh);
	if (left > 0 && !x->done)
		return lt_fail(x->dev, -EBADMSG, "%s: answered with %d bytes of garbage",
			       lt_command_name(x->cmd), left);
	return 0;
}

static int timed_out(struct exchange *x)
{
	return lt_fail(x->dev, -ETIMEDOUT, "%s: no answer in %d ms", lt_command_name(x->cmd),
		       x->dev->timeout_ms);
}

static int receive_datagram(struct exchange *x, int64_t deadline)
{
	ssize_t n = lt_wait(x->c->fd, POLLIN, deadline);

	if (n == -ETIMEDOUT)
		return timed_out(x);
	if (!n) {
		n = x->c->ops->recv(x->c);
		if (n == -EAGAIN)
			return 0;
		if (n == 0)
			return lt_fail(x->dev, -ENODEV, "%s: the NIC went away",
				       lt_command_name(x->cmd));
	}
	if (n < 0)
		return lt_fail(x->dev, (int)n, "%s: %s", lt_command_name(x->cmd),
			       strerror((int)-n));
	return got_datagram(x, (size_t)n);
}

/*
 * Receive until the end. A reply buys another timeout, anything else does not.
 * What has come is looked at even if it is late: a busy machine may have kept
 * us from it.
 */
static int receive_answer(struct exchange *x)
{
	int64_t deadline = lt_now() + x->dev->timeout_ms;
	int err;

	while (!x->done) {
		unsigned int before = x->replies;

		err = receive_datagram(x, deadline);
		if (err)
			return err;
		if (x->replies != before)
			deadline = lt_now() + x->dev->timeout_ms;
		else if (!x->done && lt_now() > deadline)
			return timed_out(x);
	}
	return x->err ? x->err : x->end;
}

static int exchange(struct exchange *x, struct nl_msg *msg, unsigned int flags)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct genlmsghdr *g = nlmsg_data(nlh);
	int err;

	x->req = nlh;
	x->cmd = g->cmd;
	x->dev->error[0] = '\0';
	err = send_request(x->dev, x->c, nlh, flags);
	if (err)
		return lt_fail(x->dev, err, "%s: sending: %s", lt_command_name(x->cmd),
			       strerror(-err));
	return receive_answer(x);
}

int lt_do(struct torus_dev *dev, struct nl_msg *msg, reply_fn reply, void *arg)
{
	struct exchange x = { .dev = dev, .c = &dev->conn, .reply = reply, .arg = arg };
	int err = exchange(&x, msg, 0);

	if (!err && reply && x.replies != 1)
		err = lt_fail(dev, -EBADMSG, "%s: answered with %u replies instead of 1",
			      lt_command_name(x.cmd), x.replies);
	nlmsg_free(msg);
	return err;
}

int lt_do_on(struct torus_dev *dev, struct conn *c, struct nl_msg *msg)
{
	struct exchange x = { .dev = dev, .c = c };
	int err = exchange(&x, msg, 0);

	nlmsg_free(msg);
	return err;
}

int lt_dump(struct torus_dev *dev, struct nl_msg *msg, reply_fn reply,
	    void (*restart)(void *arg), void *arg)
{
	int err = -EAGAIN, try;

	for (try = 0; try < DUMP_TRIES; try++) {
		struct exchange x = {
			.dev = dev, .c = &dev->conn, .reply = reply, .arg = arg,
		};

		restart(arg);
		err = exchange(&x, msg, NLM_F_DUMP);
		if (!err && x.intr)
			err = -EAGAIN;
		if (err != -EAGAIN)
			break;
		lt_fail(dev, err, "%s: what it reads kept changing",
			lt_command_name(x.cmd));
	}
	nlmsg_free(msg);
	return err;
}

int lt_parse(struct torus_dev *dev, struct nlmsghdr *nlh, struct nlattr **tb)
{
	struct genlmsghdr *g = nlmsg_data(nlh);

	if (nlmsg_datalen(nlh) < (int)GENL_HDRLEN)
		return lt_fail(dev, -EBADMSG, "message of the NIC cut short");
	if (nla_parse(tb, TORUS_A_MAX, genlmsg_attrdata(g, 0), genlmsg_attrlen(g, 0),
		      (struct nla_policy *)policy) < 0)
		return lt_fail(dev, -EBADMSG, "%s: answered with a malformed attribute",
			       lt_command_name(g->cmd));
	return 0;
}

int lt_counters(struct torus_dev *dev, struct nlattr *nest, uint64_t *out, unsigned int n)
{
	struct nlattr *attr;
	int left;

	nla_for_each_nested(attr, nest, left) {
		unsigned int type = (unsigned int)nla_type(attr);

		if (type < 1 || type > n)
			continue; /* of a newer NIC */
		if (nla_len(attr) != (int)sizeof(uint64_t))
			return lt_fail(dev, -EBADMSG, "counter %u has %d bytes", type,
				       nla_len(attr));
		out[type - 1] = nla_get_u64(attr);
	}
	return 0;
}
