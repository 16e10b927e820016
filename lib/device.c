// SPDX-License-Identifier: LGPL-2.1-or-later
/* Finding and opening NICs; commands of the NIC as a whole. */
#include <stdlib.h>

#include <torus/topology.h>
#include "client.h"

static const struct transport *const transports[] = { &lt_unix, &lt_genl };

#define TIMEOUT_MS 5000

/*
 * Text of the last error of torus_open(). It is not in a handle, because there is no handle after
 * this error.
 */
static _Thread_local char open_error[256];

const char *torus_error(const struct torus_dev *dev)
{
	return dev ? dev->error : open_error;
}

/* --- open and close -------------------------------------------------------- */

int lt_conn_open(struct torus_dev *dev, struct conn *c, const struct transport *ops,
		 const char *name)
{
	int err;

	*c = (struct conn) { .ops = ops, .fd = -1, .poll = -1 };
	c->buf = malloc(TORUS_MSG_MAX);
	if (!c->buf)
		return lt_fail(dev, -ENOMEM, "out of memory");
	err = ops->open(dev, c, name);
	if (err)
		lt_conn_close(c);
	else
		c->poll = c->fd;
	return err;
}

void lt_conn_close(struct conn *c)
{
	if (c->ops && c->fd >= 0)
		c->ops->close(c);
	free(c->buf);
	*c = (struct conn) { .fd = -1, .poll = -1 };
}

void torus_close(struct torus_dev *dev)
{
	if (!dev)
		return;
	lt_conn_close(&dev->events);
	lt_conn_close(&dev->conn);
	free(dev->name);
	free(dev);
}

int lt_new(const struct transport *ops, const char *name, struct torus_dev **devp)
{
	struct torus_dev *dev = calloc(1, sizeof(*dev));
	int err = -ENOMEM;

	open_error[0] = '\0';
	if (dev) {
		dev->timeout_ms = TIMEOUT_MS;
		dev->conn.fd = dev->events.fd = dev->events.poll = -1;
		dev->name = name ? strdup(name) : NULL;
		if (!name || dev->name)
			err = lt_conn_open(dev, &dev->conn, ops, name);
		memcpy(open_error, dev->error, sizeof(open_error));
	}
	if (err) {
		torus_close(dev);
		return err;
	}
	*devp = dev;
	return 0;
}

static int open_named(const char *where, struct torus_dev **devp)
{
	size_t i, n;
	int err;

	for (i = 0; i < sizeof(transports) / sizeof(transports[0]); i++) {
		n = strlen(transports[i]->scheme);
		if (strncmp(where, transports[i]->scheme, n) || where[n] != ':')
			continue;
		err = lt_new(transports[i], where + n + 1, devp);
		if (!err && transports[i]->resolve) {
			err = transports[i]->resolve(*devp);
			if (err) {
				memcpy(open_error, (*devp)->error, sizeof(open_error));
				torus_close(*devp);
				*devp = NULL;
			}
		}
		return err;
	}
	snprintf(open_error, sizeof(open_error),
		 "NIC '%s': must be unix:PATH or genl:NAME", where);
	return -EINVAL;
}

/**
 * struct only - search for a NIC that is the only one of the host
 * @where: the first NIC found
 * @count: number of NICs found; the search ends at 2
 */
struct only {
	char where[160];
	unsigned int count;
};

static int note_only(const char *where, void *arg)
{
	struct only *only = arg;

	if (!only->count++)
		snprintf(only->where, sizeof(only->where), "%s", where);
	return only->count > 1;
}

int torus_open(const char *where, struct torus_dev **devp)
{
	struct only only = { .count = 0 };
	int err;

	*devp = NULL;
	if (!where)
		where = secure_getenv("TORUS_DEVICE");
	if (where && *where)
		return open_named(where, devp);

	err = torus_list(note_only, &only);
	if (err < 0) {
		snprintf(open_error, sizeof(open_error), "looking for NICs: %s",
			 strerror(-err));
		return err;
	}
	if (only.count == 1)
		return open_named(only.where, devp);
	if (!only.count) {
		snprintf(open_error, sizeof(open_error),
			 "no torus NIC found; "
			 "unix:PATH or genl:NAME, also in TORUS_DEVICE, names one");
		return -ENODEV;
	}
	snprintf(open_error, sizeof(open_error),
		 "more than one torus NIC (%.100s, ...); set TORUS_DEVICE to one of them",
		 only.where);
	return -ENOTUNIQ;
}

int torus_list(int (*fn)(const char *where, void *arg), void *arg)
{
	size_t i;
	int err = 0;

	for (i = 0; i < sizeof(transports) / sizeof(transports[0]) && !err; i++)
		err = transports[i]->list(fn, arg);
	return err;
}

/* --- get ------------------------------------------------------------------- */

static int bad_place(struct torus_dev *dev)
{
	return lt_fail(dev, -EBADMSG,
		       "the NIC's shape, coordinates and node id do not fit together");
}

/* Checks that shape, coordinates and node id are all present and consistent, or all absent. */
static int check_place(struct torus_dev *dev, const struct torus_attrs *seen,
		       struct torus_device *out)
{
	unsigned int d;

	if (torus_attrs_has(seen, TORUS_A_SHAPE) != torus_attrs_has(seen, TORUS_A_COORDS))
		return bad_place(dev);
	if (!torus_attrs_has(seen, TORUS_A_SHAPE)) {
		out->node = TORUS_NO_NODE;
		return 0;
	}
	for (d = out->shape.ndims; d < TORUS_MAX_DIMS; d++)
		out->shape.size[d] = 1;
	if (!torus_nodes(&out->shape) || 2 * out->shape.ndims > out->nports)
		return bad_place(dev);
	for (d = 0; d < out->shape.ndims; d++)
		if (out->coords.c[d] >= out->shape.size[d])
			return bad_place(dev);
	if (torus_attrs_has(seen, TORUS_A_NODE) &&
	    out->node != torus_node_id(&out->shape, &out->coords))
		return bad_place(dev);
	out->node = torus_node_id(&out->shape, &out->coords);
	out->placed = true;
	return 0;
}

int lt_device(struct torus_dev *dev, struct nlattr **tb, struct nlmsghdr *nlh, void *arg)
{
	struct torus_device *out = arg;
	struct torus_attrs seen;
	int err;

	(void)tb;
	*out = (struct torus_device) { 0 };
	err = lt_tree(dev, nlh, &torus_tree_device_get, out, &seen);
	if (err)
		return err;
	if (out->nports < 2 || out->nports > TORUS_MAX_PORTS || out->nports % 2)
		return lt_fail(dev, -EBADMSG,
			       "the NIC reports %u ports: must be an even number, 2 to %u",
			       out->nports, TORUS_MAX_PORTS);
	return check_place(dev, &seen, out);
}

int torus_device_get(struct torus_dev *dev, struct torus_device *out)
{
	struct nl_msg *msg = lt_msg(dev, TORUS_CMD_DEVICE_GET, 0);

	if (!msg)
		return lt_drop(dev, msg);
	return lt_do(dev, msg, lt_device, out);
}

/* --- set ------------------------------------------------------------------- */

/* Adds an address plan to a request. Return: true if the message is full */
static bool put_plan(struct nl_msg *msg, const struct torus_plan *plan)
{
	return nla_put(msg, TORUS_A_NET4, sizeof(plan->net4), plan->net4) ||
	       nla_put_u8(msg, TORUS_A_NET4_LEN, plan->len4) ||
	       nla_put(msg, TORUS_A_NET6, sizeof(plan->net6), plan->net6) ||
	       nla_put_u8(msg, TORUS_A_NET6_LEN, plan->len6);
}

int torus_place_plan_set(struct torus_dev *dev, const struct torus_shape *shape,
			 const struct torus_coords *coords, const struct torus_plan *plan)
{
	char text[TORUS_TEXT_MAX];
	struct nl_msg *msg;
	unsigned int d;

	if (!torus_nodes(shape))
		return lt_fail(dev, -EINVAL,
			       "shape: must be 1 to %d dimensions of 1 to "
			       "%d nodes, %d nodes in all",
			       TORUS_MAX_DIMS, TORUS_MAX_SIZE, TORUS_MAX_NODES);
	for (d = 0; d < shape->ndims; d++)
		if (coords->c[d] >= shape->size[d])
			return lt_fail(dev, -EINVAL, "coordinates %s: outside the shape",
				       torus_coords_text(shape, coords, text));
	if (plan && (!torus_plan_valid(plan) || !torus_plan_holds4(plan, shape) ||
		     !torus_plan_holds6(plan, shape)))
		return lt_fail(dev, -EINVAL, "address plan: no addresses for all nodes");
	msg = lt_msg(dev, TORUS_CMD_DEVICE_SET, 0);
	if (!msg || nla_put(msg, TORUS_A_SHAPE, 2 * shape->ndims, shape->size) ||
	    nla_put(msg, TORUS_A_COORDS, 2 * shape->ndims, coords->c) ||
	    (plan && put_plan(msg, plan)) || lt_put_root(dev, msg))
		return lt_drop(dev, msg);
	return lt_do(dev, msg, NULL, NULL);
}

int torus_place_set(struct torus_dev *dev, const struct torus_shape *shape,
		    const struct torus_coords *coords)
{
	return torus_place_plan_set(dev, shape, coords, NULL);
}

int torus_root_set(struct torus_dev *dev, uint64_t epoch, uint64_t guid)
{
	struct nl_msg *msg;
	int err;

	if (!epoch)
		return lt_fail(dev, -EINVAL, "epoch of a root: 0, must be 1 or more");
	msg = lt_msg(dev, TORUS_CMD_DEVICE_SET, 0);
	if (!msg || nla_put_u64(msg, TORUS_A_ROOT_EPOCH, epoch) ||
	    nla_put_u64(msg, TORUS_A_ROOT_GUID, guid))
		return lt_drop(dev, msg);
	err = lt_do(dev, msg, NULL, NULL);
	if (err)
		return err;
	dev->root_epoch = epoch;
	dev->root_guid = guid;
	return 0;
}

int torus_bootstrap_set(struct torus_dev *dev, bool on)
{
	struct nl_msg *msg = lt_msg(dev, TORUS_CMD_DEVICE_SET, 0);

	if (!msg || nla_put_u8(msg, TORUS_A_BOOTSTRAP, on))
		return lt_drop(dev, msg);
	return lt_do(dev, msg, NULL, NULL);
}

int torus_name_set(struct torus_dev *dev, const char *name)
{
	struct nl_msg *msg;

	if (!*name || strlen(name) > TORUS_NAME_MAX)
		return lt_fail(dev, -EINVAL, "name '%.80s': must have 1 to %d bytes", name,
			       TORUS_NAME_MAX);
	msg = lt_msg(dev, TORUS_CMD_DEVICE_SET, TORUS_NAME_MAX + 8);
	if (!msg || nla_put_string(msg, TORUS_A_NAME, name))
		return lt_drop(dev, msg);
	return lt_do(dev, msg, NULL, NULL);
}
