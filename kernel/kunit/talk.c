// SPDX-License-Identifier: GPL-2.0-only
#include <linux/net.h>

#include "talk.h"

#define TALK_BYTES	32768

static struct socket *new_socket(void)
{
	struct sockaddr_nl any = { .nl_family = AF_NETLINK };
	struct socket *sock;
	int one = 1, err;

	err = sock_create_kern(&init_net, AF_NETLINK, SOCK_RAW, NETLINK_GENERIC, &sock);
	if (err)
		return ERR_PTR(err);
	err = kernel_bind(sock, (struct sockaddr *)&any, sizeof(any)) ?:
	      sock->ops->setsockopt(sock, SOL_NETLINK, NETLINK_EXT_ACK, KERNEL_SOCKPTR(&one),
				    sizeof(one)) ?:
	      sock->ops->setsockopt(sock, SOL_NETLINK, NETLINK_CAP_ACK, KERNEL_SOCKPTR(&one),
				    sizeof(one));
	if (!err)
		return sock;
	sock_release(sock);
	return ERR_PTR(err);
}

/* Parses the end of an answer: an error or 0, and the attributes after it. */
static void take_end(struct talk *t, const struct nlmsghdr *h)
{
	int head = h->nlmsg_type == NLMSG_ERROR ? (int)sizeof(struct nlmsgerr) : (int)sizeof(int);
	const struct nlattr *msg = NULL;

	t->err = *(int *)nlmsg_data(h);
	if (h->nlmsg_flags & NLM_F_ACK_TLVS)
		msg = nla_find(nlmsg_data(h) + NLMSG_ALIGN(head), nlmsg_len(h) - NLMSG_ALIGN(head),
			       NLMSGERR_ATTR_MSG);
	if (msg)
		nla_strscpy(t->why, msg, sizeof(t->why));
}

/* Parses a message of an answer. Return: true if it was the last one. */
static bool take(struct talk *t, const struct nlmsghdr *h)
{
	if (h->nlmsg_type == NLMSG_ERROR || h->nlmsg_type == NLMSG_DONE) {
		take_end(t, h);
		return true;
	}
	t->replies++;
	t->data = genlmsg_data(nlmsg_data(h));
	t->len = (size_t)genlmsg_len(nlmsg_data(h));
	if (t->each)
		t->each(t);
	return false;
}

/*
 * Reads the answer. The kernel makes an answer while the request is sent, and the parts of a dump
 * while they are read.
 */
static void read_answer(struct talk *t, struct socket *sock)
{
	bool done = false;

	while (!done) {
		struct kvec vec = { t->buf, TALK_BYTES };
		struct msghdr msg = { 0 };
		int n = kernel_recvmsg(sock, &msg, &vec, 1, TALK_BYTES, MSG_DONTWAIT);
		struct nlmsghdr *h;

		if (n < 0) {
			t->err = n;
			return;
		}
		for (h = (struct nlmsghdr *)t->buf; !done && nlmsg_ok(h, n); h = nlmsg_next(h, &n))
			done = take(t, h);
	}
}

int talk(struct talk *t, struct sk_buff *skb, u16 flags)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct msghdr msg = { .msg_name = &kernel, .msg_namelen = sizeof(kernel) };
	struct socket *sock = new_socket();
	struct kvec vec;

	t->replies = t->matches = 0;
	t->why[0] = 0;
	t->err = IS_ERR(sock) ? (int)PTR_ERR(sock) : 0;
	if (!t->err) {
		nlmsg_hdr(skb)->nlmsg_flags |= flags;
		nlmsg_end(skb, nlmsg_hdr(skb));
		vec = (struct kvec) { skb->data, skb->len };
		t->err = min(kernel_sendmsg(sock, &msg, &vec, 1, skb->len), 0);
		if (!t->err)
			read_answer(t, sock);
		sock_release(sock);
	}
	kfree_skb(skb);
	return t->err;
}

struct talk *talk_new(struct kunit *test)
{
	struct talk *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->buf = kunit_kzalloc(test, TALK_BYTES, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->buf);
	return t;
}
