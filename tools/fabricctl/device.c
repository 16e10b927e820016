// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <torus/topology.h>
#include <unistd.h>

#include "../torusemu/param.h"
#include "device.h"
#include "kind.h"
#include "number.h"
#include "output.h"

#define KIND "torus"

int device_kernel(void)
{
	struct nl_sock *sk = nl_socket_alloc();
	int family = -1;

	/* This question makes the kernel load the module if it is installed. */
	if (sk && !genl_connect(sk))
		family = genl_ctrl_resolve(sk, TORUS_GENL_NAME);
	nl_socket_free(sk);
	if (family >= 0)
		return OK;
	return fail("this kernel has no torus driver: load it with 'modprobe torus', or take NICs "
		    "in user space (torusemu, or lab up --backend user)");
}

static struct nl_msg *new_request(int type, int flags, const char *ifname)
{
	struct nl_msg *msg = nlmsg_alloc_simple(type, flags);
	struct ifinfomsg ifi = { .ifi_family = AF_UNSPEC };

	if (msg && !nlmsg_append(msg, &ifi, sizeof(ifi), NLMSG_ALIGNTO) &&
	    !nla_put_string(msg, IFLA_IFNAME, ifname))
		return msg;
	nlmsg_free(msg);
	return NULL;
}

static int put_sets(struct nl_msg *msg, const char *const *sets)
{
	char why[PARAM_WHY_MAX];
	uint64_t v;

	for (; sets && *sets; sets++) {
		const struct tn_param *p = param_parse(*sets, &v, why, sizeof(why));

		if (!p)
			return -EINVAL;
		if (p->is_wide ? nla_put_u64(msg, p->attr, v) :
				 nla_put_u32(msg, p->attr, (uint32_t)v))
			return -ENOMEM;
	}
	return 0;
}

int device_sets_check(const char *const *sets)
{
	char why[PARAM_WHY_MAX];
	uint64_t v;

	for (const char *const *set = sets; *set; set++)
		if (!param_parse(*set, &v, why, sizeof(why)))
			return fail("%s", why);
	return params_compare(sets, why, sizeof(why)) ? fail("--set %s", why) : OK;
}

/* Adds the given parameters to the request; the driver chooses the others. */
static int put_spec(struct nl_msg *msg, const struct device_spec *s)
{
	if ((s->ports && nla_put_u8(msg, IFLA_TORUS_PORTS, s->ports)) ||
	    (s->name && nla_put_string(msg, IFLA_TORUS_NAME, s->name)) ||
	    (s->guid && nla_put_u64(msg, IFLA_TORUS_GUID, s->guid)) ||
	    (s->bootstrap && nla_put_u8(msg, IFLA_TORUS_BOOTSTRAP, 1)))
		return -ENOMEM;
	return put_sets(msg, s->sets);
}

int device_make(struct nl_sock *sk, const struct device_spec *spec)
{
	struct nl_msg *msg = new_request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, spec->ifname);
	struct nlattr *info, *data;

	if (!msg || !(info = nla_nest_start(msg, IFLA_LINKINFO)) ||
	    nla_put_string(msg, IFLA_INFO_KIND, KIND) ||
	    !(data = nla_nest_start(msg, IFLA_INFO_DATA)) || put_spec(msg, spec)) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	nla_nest_end(msg, data);
	nla_nest_end(msg, info);
	return wire_send(sk, msg);
}

/* Reads the parameters from the driver's link data; @arg: array of values, indexed by parameter. */
static int read_params(struct nl_msg *msg, void *arg)
{
	struct nlattr *link[IFLA_MAX + 1], *info[IFLA_INFO_MAX + 1], *data[IFLA_TORUS_MAX + 1];
	uint64_t *of = arg;

	if (nlmsg_parse(nlmsg_hdr(msg), sizeof(struct ifinfomsg), link, IFLA_MAX, NULL) ||
	    !link[IFLA_LINKINFO] ||
	    nla_parse_nested(info, IFLA_INFO_MAX, link[IFLA_LINKINFO], NULL) ||
	    !info[IFLA_INFO_DATA] ||
	    nla_parse_nested(data, IFLA_TORUS_MAX, info[IFLA_INFO_DATA], NULL))
		return NL_OK;
	for (unsigned int i = 0; i < TN_PARAMS; i++) {
		const struct nlattr *a = data[tn_param_list[i].attr];

		if (a)
			of[i] = tn_param_list[i].is_wide ? nla_get_u64(a) : nla_get_u32(a);
	}
	return NL_OK;
}

int device_params(struct nl_sock *sk, const char *ifname, uint64_t *of)
{
	struct nl_msg *msg = new_request(RTM_GETLINK, 0, ifname);

	memset(of, 0xff, TN_PARAMS * sizeof(*of));
	return msg ? wire_ask(sk, msg, read_params, of) : -ENOMEM;
}

int device_remove(struct nl_sock *sk, const char *ifname)
{
	struct nl_msg *msg = new_request(RTM_DELLINK, 0, ifname);

	return msg ? wire_send(sk, msg) : -ENOMEM;
}

/* --- by name --------------------------------------------------------------- */

/**
 * struct search - a search for a NIC by its name among the NICs with sockets
 * @where: socket of the first NIC with that name
 */
struct search {
	const char *name;
	char where[160];
};

static int search_device(const char *where, void *arg)
{
	struct search *s = arg;
	struct torus_device info;
	struct torus_dev *dev;

	if (strncmp(where, "unix:", 5) || torus_open(where, &dev))
		return 0;
	if (!torus_device_get(dev, &info) &&
	    (!strcmp(info.name, s->name) || !strcmp(info.ifname, s->name)))
		snprintf(s->where, sizeof(s->where), "%s", where);
	torus_close(dev);
	return *s->where != '\0';
}

int device_kind(int err)
{
	return kind_of_errno(err) == DENIED ? DENIED : CANNOT;
}

int device_open(const char *name, struct torus_dev **dev)
{
	struct search s = { .name = name };
	char where[TORUS_NAME_MAX + 8];
	int err;

	if (!strncmp(name, "unix:", 5) || !strncmp(name, "genl:", 5)) {
		err = torus_open(name, dev);
		return err ? fail_as(device_kind(err), "%s", torus_error(NULL)) : OK;
	}
	if (!*name || strlen(name) > TORUS_NAME_MAX)
		return fail("NIC '%s': a name has 1 to %d bytes", name, TORUS_NAME_MAX);
	snprintf(where, sizeof(where), "genl:%s", name);
	if (!torus_open(where, dev))
		return OK;
	torus_list(search_device, &s);
	if (*s.where && !torus_open(s.where, dev))
		return OK;
	return fail("there is no NIC '%s' here; 'fabricctl device list' shows them", name);
}

static int port_of(struct torus_dev *dev, const char *text, unsigned int *port)
{
	struct torus_device info;
	int err = torus_device_get(dev, &info);
	char dims[32];

	if (err)
		return fail_as(device_kind(err), "%s", torus_error(dev));
	if (!torus_port_parse(text, info.nports / 2u, port))
		return OK;
	return fail("'%s' is not a port of a NIC with %u, must be + or - and one of %s", text,
		    info.nports, dims_text(info.nports / 2u, dims));
}

/* Opens the NIC of "NAME:+x", and sets @port. Return: as device_open() */
static int open_port(const char *text, struct torus_dev **dev, unsigned int *port)
{
	const char *colon = strrchr(text, ':');
	char name[160];
	int status;

	if (!colon || colon == text || (size_t)(colon - text) >= sizeof(name))
		return fail("port '%s': write a NIC and its port, such as torus0:+x", text);
	memcpy(name, text, (size_t)(colon - text));
	name[colon - text] = '\0';
	status = device_open(name, dev);
	if (status != OK)
		return status;
	status = port_of(*dev, colon + 1, port);
	if (status != OK)
		torus_close(*dev);
	return status;
}

int device_plug(const char *text, const char *lower)
{
	struct torus_dev *dev;
	unsigned int port;
	int err, status;

	if (geteuid())
		return fail_as(DENIED, "cables can be plugged by root only: run it with sudo");
	status = open_port(text, &dev, &port);
	if (status != OK)
		return status;
	err = torus_attach(dev, port, lower);
	if (err)
		status = fail_as(device_kind(err), "%s: %s", text, torus_error(dev));
	torus_close(dev);
	return status;
}
