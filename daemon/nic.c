// SPDX-License-Identifier: GPL-2.0-only
/*
 * One daemon manages one NIC. With "auto" it takes the only one there is, and waits
 * while there are none or several; a further one that comes later changes nothing.
 * A NIC of the kernel announces itself (hotplug); for sockets of NICs in user space
 * we look, less and less often.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/topology.h>
#include "daemon/hotplug.h"
#include "daemon/log.h"
#include "daemon/loop.h"
#include "daemon/nic.h"
#include "lib/netdev.h"

#define RETRY_MIN	(100 * LOOP_MS)
#define RETRY_MAX	(5 * LOOP_S)
#define CALL_MAX_MS	1000
#define ROWS_AT_ONCE	4096

struct nic {
	struct loop *loop;
	const struct nic_ops *ops;
	void *arg;
	char where[128];
	struct torus_dev *dev;
	struct loop_fd *watch;
	struct loop_timer *timer;	/* looks for it; or reports its loss */
	struct hotplug *hotplug;	/* NULL where only a socket can be meant */
	bool kernel;			/* its interface is ours to set up */
	uint64_t retry;
	int lost;			/* negative errno, to be reported */
	char why[256];
};

/** struct listing - NICs that torus_list() finds */
struct listing {
	char first[128];
	unsigned int n;
};

static int on_listed(const char *where, void *arg)
{
	struct listing *l = arg;

	if (!l->n++)
		snprintf(l->first, sizeof(l->first), "%s", where);
	return 0;
}

static void __attribute__((format(printf, 2, 3)))
absent(struct nic *nic, const char *fmt, ...)
{
	char why[sizeof(nic->why)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	if (!strcmp(why, nic->why))
		return;
	memcpy(nic->why, why, sizeof(why));
	nic->ops->absent(nic->arg, why);
}

/* Return: the NIC to open, or NULL. */
static const char *choose(struct nic *nic, struct listing *l)
{
	int err;

	if (strcmp(nic->where, "auto"))
		return nic->where;
	err = torus_list(on_listed, l);
	if (err < 0)
		absent(nic, "cannot look for NICs: %s", strerror(-err));
	else if (!l->n)
		absent(nic, "no NIC here yet");
	else if (l->n > 1)
		absent(nic, "%u NICs here, the first is %s: say which in the key 'device'",
		       l->n, l->first);
	return l->n == 1 ? l->first : NULL;
}

struct torus_dev *nic_dev(const struct nic *nic)
{
	return nic->lost ? NULL : nic->dev;
}

int nic_check(struct nic *nic, int err)
{
	switch (err) {
	case -ENODEV:
	case -ECONNRESET:
	case -EPIPE:
	case -ENOTCONN:
	case -ECONNREFUSED:
	case -EBADF:
	case -ETIMEDOUT:
		if (!nic->lost && nic->dev) {
			nic->lost = err;
			loop_timer_set(nic->timer, 0);
		}
		return -ENODEV;
	default:
		return err;
	}
}

/* --- its place ------------------------------------------------------------- */

static void interface_place(const struct torus_device *before, const struct torus_shape *shape,
			    const struct torus_coords *at)
{
	struct lt_netdev dev = {
		.ifindex = before->ifindex,
		.old = before->placed ? &before->shape : NULL, .old_node = before->node,
		.shape = shape, .node = torus_node_id(shape, at),
	};
	char text[128];
	int err = lt_netdev_place(&dev, text, sizeof(text));

	if (err == -EAFNOSUPPORT)
		log_warning("nic", "%s has no IPv6 address: %s", before->ifname, text);
	else if (err)
		log_error("nic", "%s: cannot set addresses: %s", before->ifname, text);
}

int nic_place_set(struct nic *nic, const struct torus_shape *shape,
		  const struct torus_coords *at)
{
	struct torus_device before;
	int err = nic->kernel ? torus_device_get(nic->dev, &before) : 0;

	if (!err)
		err = torus_place_set(nic->dev, shape, at);
	if (!err && nic->kernel)
		interface_place(&before, shape, at);
	return nic_check(nic, err);
}

/* --- its rows -------------------------------------------------------------- */

int nic_rows_read(struct nic *nic, uint64_t **rows, uint32_t *n, uint64_t *version)
{
	struct torus_device dev;
	uint32_t total, done = 0;
	uint64_t *r;
	int err;

	err = torus_device_get(nic->dev, &dev);
	if (!err && !dev.placed)
		err = -EAGAIN;
	if (err)
		return nic_check(nic, err);
	total = torus_nodes(&dev.shape);
	r = calloc(total ? total : 1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	while (done < total) {
		uint32_t got = total - done < ROWS_AT_ONCE ? total - done : ROWS_AT_ONCE;

		err = torus_rows_get(nic->dev, done, r + done, &got, version);
		if (err || !got)
			break;
		done += got;
	}
	if (err || done < total) {
		free(r);
		return nic_check(nic, err ? err : -EIO);
	}
	*rows = r;
	*n = total;
	return 0;
}

int nic_rows_write(struct nic *nic, uint64_t version, const uint32_t *node,
		   const uint64_t *row, uint32_t n)
{
	int err = torus_rows_begin(nic->dev, version);

	if (!err && n)
		err = torus_rows_put_list(nic->dev, version, node, row, n);
	if (!err)
		err = torus_rows_commit(nic->dev, version);
	return nic_check(nic, err);
}

/* --- its events ------------------------------------------------------------ */

static void on_event(const struct torus_event *ev, void *arg)
{
	struct nic *nic = arg;

	switch (ev->group) {
	case TORUS_GROUP_LINK:
		nic->ops->link(nic->arg, &ev->link);
		break;
	case TORUS_GROUP_MGMT:
		nic->ops->mgmt(nic->arg, ev->port, ev->data, ev->len);
		break;
	case TORUS_GROUP_PARK:
		nic->ops->park(nic->arg, &ev->park);
		break;
	default:
		break;
	}
}

/* Events were lost: what they would have told is read. */
static int read_again(struct nic *nic)
{
	struct torus_link links[TORUS_MAX_PORTS];
	unsigned int n = TORUS_MAX_PORTS;
	struct torus_park park;
	int err;

	log_debug("nic", "events were lost, everything is read again");
	err = torus_links_get(nic->dev, links, &n);
	for (unsigned int i = 0; !err && i < n; i++)
		nic->ops->link(nic->arg, &links[i]);
	if (!err)
		err = torus_park_get(nic->dev, &park);
	if (!err)
		nic->ops->park(nic->arg, &park);
	return err;
}

static void on_readable(void *arg, unsigned int what)
{
	struct nic *nic = arg;
	int err;

	(void)what;
	err = torus_events_read(nic->dev, on_event, nic);
	if (err == -ENOBUFS)
		err = read_again(nic);
	if (err && err != -EAGAIN && err != -EINTR)
		nic_check(nic, err == -ENOMEM ? err : -ENODEV);
}

/* --- found and lost -------------------------------------------------------- */

static int bind_dev(struct nic *nic, const char *where)
{
	struct torus_link links[TORUS_MAX_PORTS];
	unsigned int nlinks = TORUS_MAX_PORTS;
	struct torus_device dev;
	uint64_t *rows = NULL;
	uint64_t version;
	uint32_t nrows;
	int err;

	err = torus_open(where, &nic->dev);
	if (err) {
		absent(nic, "cannot open NIC %s: %s", where, torus_error(NULL));
		return err;
	}
	torus_timeout_set(nic->dev, CALL_MAX_MS);
	/* Subscribed before it is read: no change falls in between. */
	err = torus_events_open(nic->dev, (1u << TORUS_GROUPS) - 1);
	if (!err)
		err = torus_device_get(nic->dev, &dev);
	if (!err)
		err = torus_links_get(nic->dev, links, &nlinks);
	if (!err && dev.placed)
		err = nic_rows_read(nic, &rows, &nrows, &version);
	if (!err && nlinks != dev.nports)
		err = -EPROTO;
	if (err) {
		absent(nic, "cannot read NIC %s: %s", where, torus_error(nic->dev));
		goto err_close;
	}
	nic->watch = loop_fd_new(nic->loop, torus_events_fd(nic->dev), LOOP_READ, on_readable,
				 nic);
	if (!nic->watch) {
		err = -ENOMEM;
		goto err_close;
	}
	nic->why[0] = '\0';
	nic->retry = RETRY_MIN;
	nic->kernel = !strncmp(where, "genl:", 5);
	if (nic->kernel && dev.placed)
		interface_place(&dev, &dev.shape, &dev.coords);
	log_info("nic", "%s: %s '%s', guid %016llx, %u ports", where, dev.driver, dev.name,
		 (unsigned long long)dev.guid, dev.nports);
	nic->ops->found(nic->arg, &dev, links, rows);
	free(rows);
	return 0;

err_close:
	free(rows);
	torus_close(nic->dev);
	nic->dev = NULL;
	nic->lost = 0;
	return err;
}

static void unbind(struct nic *nic)
{
	loop_fd_free(nic->watch);
	nic->watch = NULL;
	torus_close(nic->dev);
	nic->dev = NULL;
	nic->lost = 0;
}

static void look(struct nic *nic)
{
	struct listing l = { .n = 0 };
	const char *where = choose(nic, &l);

	if (where && bind_dev(nic, where) == 0)
		return;
	loop_timer_set(nic->timer, loop_now() + nic->retry);
	nic->retry = nic->retry * 2 > RETRY_MAX ? RETRY_MAX : nic->retry * 2;
}

static void on_timer(void *arg)
{
	struct nic *nic = arg;

	if (nic->lost) {
		const char *why = strerror(-nic->lost);

		unbind(nic);
		nic->ops->gone(nic->arg, why);
	}
	look(nic);
}

static void on_hotplug(void *arg)
{
	struct nic *nic = arg;

	if (nic->dev)
		return;
	nic->retry = RETRY_MIN;
	loop_timer_set(nic->timer, 0);
}

struct nic *nic_new(struct loop *loop, const char *where, const struct nic_ops *ops, void *arg)
{
	struct nic *nic = calloc(1, sizeof(*nic));

	if (!nic)
		return NULL;
	nic->loop = loop;
	nic->ops = ops;
	nic->arg = arg;
	nic->retry = RETRY_MIN;
	snprintf(nic->where, sizeof(nic->where), "%s", where);
	nic->timer = loop_timer_new(loop, on_timer, nic);
	if (!nic->timer) {
		free(nic);
		return NULL;
	}
	if (strncmp(where, "unix:", 5)) {
		nic->hotplug = hotplug_new(loop, on_hotplug, nic);
		if (!nic->hotplug)
			log_warning("nic", "no word of NICs that come: %s", strerror(errno));
	}
	loop_timer_set(nic->timer, 0);
	return nic;
}

void nic_free(struct nic *nic)
{
	if (!nic)
		return;
	if (nic->dev)
		unbind(nic);
	loop_timer_free(nic->timer);
	hotplug_free(nic->hotplug);
	free(nic);
}
