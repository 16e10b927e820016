// SPDX-License-Identifier: GPL-2.0-only
/*
 * Uevents of network devices with DEVTYPE=torus, from both sources of libudev: "udev" sends an
 * event after the rules for a device have been applied, but only where udevd runs; "kernel" sends
 * events in every network namespace. An event only makes the manager look for NICs. The manager
 * asks the driver for the NICs, because sysfs shows the devices of the namespace that mounted it.
 */
#include <errno.h>
#include <libudev.h>
#include <stdlib.h>
#include "daemon/hotplug.h"
#include "daemon/log.h"
#include "daemon/loop.h"

#define SOURCES 2

/** struct source - one of the two sources of libudev */
struct source {
	struct hotplug *hotplug;
	struct udev_monitor *monitor;
	struct loop_fd *watch;
};

struct hotplug {
	struct udev *udev;
	struct source source[SOURCES];
	void (*fn)(void *arg);
	void *arg;
};

static void on_uevent(void *arg, unsigned int what)
{
	struct source *s = arg;
	struct udev_device *dev;
	bool any = false;

	(void)what;
	while ((dev = udev_monitor_receive_device(s->monitor)) != NULL) {
		const char *action = udev_device_get_action(dev);

		log_debug("nic", "%s: %s", udev_device_get_sysname(dev), action ? action : "?");
		udev_device_unref(dev);
		any = true;
	}
		/* Events about NICs may be among the events that were lost. */
	if (any || errno == ENOBUFS)
		s->hotplug->fn(s->hotplug->arg);
}

static int source_open(struct hotplug *h, struct source *s, struct loop *loop, const char *name)
{
	s->hotplug = h;
	s->monitor = udev_monitor_new_from_netlink(h->udev, name);
	if (!s->monitor ||
	    udev_monitor_filter_add_match_subsystem_devtype(s->monitor, "net", "torus") < 0 ||
	    udev_monitor_enable_receiving(s->monitor) < 0)
		return -errno;
	s->watch = loop_fd_new(loop, udev_monitor_get_fd(s->monitor), LOOP_READ, on_uevent, s);
	return s->watch ? 0 : -ENOMEM;
}

struct hotplug *hotplug_new(struct loop *loop, void (*fn)(void *arg), void *arg)
{
	static const char *const name[SOURCES] = { "kernel", "udev" };
	struct hotplug *h = calloc(1, sizeof(*h));
	int err = 0;

	if (!h)
		return NULL;
	h->fn = fn;
	h->arg = arg;
	h->udev = udev_new();
	if (!h->udev)
		err = -ENOMEM;
	for (int i = 0; !err && i < SOURCES; i++)
		err = source_open(h, &h->source[i], loop, name[i]);
	if (!err)
		return h;
	hotplug_free(h);
	errno = -err;
	return NULL;
}

void hotplug_free(struct hotplug *h)
{
	if (!h)
		return;
	for (int i = 0; i < SOURCES; i++) {
		if (h->source[i].watch)
			loop_fd_free(h->source[i].watch);
		udev_monitor_unref(h->source[i].monitor);
	}
	udev_unref(h->udev);
	free(h);
}
