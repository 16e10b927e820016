// SPDX-License-Identifier: GPL-2.0-only
#include "lower.h"

#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <sys/epoll.h>

#include "emu.h"
#include "log.h"

static struct port *port_of_lower(struct emu *e, int ifindex)
{
	for (unsigned int i = 0; i < e->soft.hw.nports; i++)
		if (e->port[i].ether.ifindex == ifindex)
			return &e->port[i];
	return NULL;
}

/* Return: the port whose lower device @name was deleted, or NULL. */
static struct port *port_waiting(struct emu *e, const char *name)
{
	for (unsigned int i = 0; i < e->soft.hw.nports; i++)
		if (!e->port[i].medium && *name && !strcmp(e->port[i].soft->lower, name))
			return &e->port[i];
	return NULL;
}

static void update_port(struct emu *e, const struct ifinfomsg *ifi, const char *name, bool gone)
{
	struct port *port = port_of_lower(e, ifi->ifi_index);
	char at[TORUS_TEXT_MAX];
	const char *why;

	if (port && gone)
		port_gone(port, loop_now());
	else if (port)
		port_look(port, loop_now());
	else if (!gone && (port = port_waiting(e, name)) &&
		 e->attach(port, name, &why, loop_now()))
		log_warn(e->soft.hw.name, "port %s: its device %s is back, and not used: %s",
			 port_text(port, at), name, why ? why : "cannot bind");
}

static int on_lower_link(struct nl_msg *msg, void *arg)
{
	struct chassis *c = arg;
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct nlattr *tb[IFLA_MAX + 1];

	if ((nlh->nlmsg_type != RTM_NEWLINK && nlh->nlmsg_type != RTM_DELLINK) ||
	    nlmsg_parse(nlh, sizeof(struct ifinfomsg), tb, IFLA_MAX, NULL) < 0 ||
	    !tb[IFLA_IFNAME])
		return NL_OK;
	for (struct emu *e = c->nics; e; e = e->next)
		update_port(e, nlmsg_data(nlh), nla_get_string(tb[IFLA_IFNAME]),
			    nlh->nlmsg_type == RTM_DELLINK);
	return NL_OK;
}

static int ask_all_lower(struct nl_sock *sock)
{
	struct ifinfomsg ifi = { .ifi_family = AF_UNSPEC };

	return nl_send_simple(sock, RTM_GETLINK, NLM_F_DUMP, &ifi, sizeof(ifi));
}

static void lower_ready(struct watch *w, u32 events)
{
	struct chassis *c = container_of(w, struct chassis, lower.watch);
	int err;

	(void)events;
	err = nl_recvmsgs_default(c->lower.sock);
	/* Notifications were lost (libnl reports ENOBUFS as this error): read all devices again. */
	if (err == -NLE_NOMEM)
		ask_all_lower(c->lower.sock);
	else if (err < 0 && err != -NLE_AGAIN)
		log_warn("rtnetlink", "%s", nl_geterror(err));
}

int lower_init(struct chassis *c)
{
	struct nl_sock *sock = nl_socket_alloc();
	int err = -ENOMEM;

	c->lower.watch.fd = -1;
	if (!sock)
		return err;
	nl_socket_disable_seq_check(sock);
	nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, on_lower_link, c);
	if (nl_connect(sock, NETLINK_ROUTE) < 0 ||
	    nl_socket_add_memberships(sock, RTNLGRP_LINK, 0) < 0 ||
	    nl_socket_set_nonblocking(sock) < 0) {
		err = -errno;
		goto err_sock;
	}
	nl_socket_set_buffer_size(sock, 1 << 20, 0);
	err = loop_add(&c->loop, &c->lower.watch, nl_socket_get_fd(sock), EPOLLIN, lower_ready);
	if (err)
		goto err_sock;
	c->lower.sock = sock;
	return 0;

err_sock:
	nl_socket_free(sock);
	return err;
}

void lower_fini(struct chassis *c)
{
	if (!c->lower.sock)
		return;
	c->lower.watch.fd = -1;	/* the socket owns the descriptor, and closes it */
	nl_socket_free(c->lower.sock);
	c->lower.sock = NULL;
}
