// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "device.h"
#include "json.h"
#include "number.h"
#include "output.h"
#include "table.h"

static bool ports;

static json_t *port_json(const struct torus_link *l, unsigned int ndims)
{
	char text[TORUS_TEXT_MAX];

	const char *reason = torus_link_reason_name(l->reason);

	return json_pack("{ss ss ss ss sb sb}", "port", torus_port_text(ndims, l->port, text),
			 "lower", l->lower, "state", torus_link_state_name(l->state), "reason",
			 reason ? reason : "?", "carrier", l->carrier, "admin", l->admin);
}

static json_t *ports_json(struct torus_dev *dev, unsigned int ndims)
{
	struct torus_link links[TORUS_MAX_PORTS];
	unsigned int n = TORUS_MAX_PORTS;
	json_t *list;

	if (torus_links_get(dev, links, &n))
		return NULL;
	list = json_array();
	for (unsigned int i = 0; i < n; i++)
		json_array_append_new(list, port_json(&links[i], ndims));
	return list;
}

static json_t *listed_json(const char *where, const struct torus_device *d, json_t *links)
{
	char guid[20], root[20];

	snprintf(guid, sizeof(guid), "%016" PRIx64, d->guid);
	snprintf(root, sizeof(root), "%016" PRIx64, d->root_guid);
	return json_pack("{ss ss ss ss ss sI sI sI sI ss* sb so so so}", "device", where,
			 "name", d->name, "driver", d->driver, "interface", d->ifname, "guid", guid,
			 "payload_max", (json_int_t)d->payload_max, "relay_packets",
			 (json_int_t)d->relay_packets, "uptime", (json_int_t)d->uptime,
			 "root_epoch", (json_int_t)d->root_epoch, "root_guid",
			 d->root_epoch ? root : NULL, "bootstrap", d->bootstrap,
			 "shape", d->placed ? json_shape(&d->shape) : json_null(), "node",
			 d->placed ? json_node(&d->shape, d->node) : json_null(), "ports", links);
}

/* Adds a NIC to the list; one that ends while it is asked is left out. */
static int gather_device(const char *where, void *arg)
{
	struct torus_device info;
	struct torus_dev *dev;
	json_t *links = NULL;

	if (torus_open(where, &dev)) {
		warn("%s", torus_error(NULL));
		return 0;
	}
	if (!torus_device_get(dev, &info))
		links = ports_json(dev, info.nports / 2u);
	if (links)
		json_array_append_new(arg, listed_json(where, &info, links));
	else
		warn("%s: %s", where, torus_error(dev));
	torus_close(dev);
	return 0;
}

static unsigned int count_links_up(const json_t *list)
{
	unsigned int n = 0;
	size_t i;
	json_t *v;

	json_array_foreach(list, i, v)
		n += !strcmp(json_text(v, "state"), "up");
	return n;
}

static void show_nics(const json_t *all)
{
	static const char *const titles[] = { "DEVICE", "NAME",	     "DRIVER",	 "INTERFACE",
					      "GUID",	">PORTS UP", ">PAYLOAD", ">UP FOR",
					      "NODE",	"",	     NULL };
	struct table *t = table_new(titles);
	char text[TORUS_TEXT_MAX];
	size_t i;
	json_t *v;

	json_array_foreach(all, i, v) {
		const json_t *links = json_object_get(v, "ports");

		table_cell(t, STRONG, "%s", json_text(v, "device"));
		table_cell(t, PLAIN, "%s", json_text(v, "name"));
		table_cell(t, PLAIN, "%s", json_text(v, "driver"));
		table_cell(t, PLAIN, "%s", *json_text(v, "interface") ? json_text(v, "interface")
								      : "-");
		table_cell(t, FAINT, "%s", json_text(v, "guid"));
		table_cell(t, PLAIN, "%u/%zu", count_links_up(links), json_array_size(links));
		table_cell(t, PLAIN, "%" JSON_INTEGER_FORMAT,
			   json_integer_value(json_object_get(v, "payload_max")));
		table_cell(t, PLAIN, "%s",
			   duration_text((double)json_count(v, "uptime") / 1e9, text));
		table_cell(t, PLAIN, "%s", json_node_text(json_object_get(v, "node"), text));
		table_cell(t, PLAIN, "%s", json_is_true(json_object_get(v, "bootstrap")) ?
			   "bootstrap" : "");
	}
	table_print(t, "no NIC here; 'fabricctl device add torus0' makes one");
}

static void print_ports(const json_t *all)
{
	static const char *const titles[] = { "DEVICE", "PORT", "INTERFACE", "CARRIER", "STATE",
					      "REASON", NULL };
	struct table *t = table_new(titles);
	json_t *v, *p;
	size_t i, k;

	json_array_foreach(all, i, v)
		json_array_foreach(json_object_get(v, "ports"), k, p) {
			const char *state = json_text(p, "state"), *reason = json_text(p, "reason");
			bool carrier = json_is_true(json_object_get(p, "carrier"));

			table_cell(t, STRONG, "%s", json_text(v, "device"));
			table_cell(t, PLAIN, "%s", json_text(p, "port"));
			table_cell(t, PLAIN, "%s",
				   *json_text(p, "lower") ? json_text(p, "lower") : "-");
			table_cell(t, carrier ? GOOD : FAINT, "%s", carrier ? "yes" : "no");
			table_cell(t, strcmp(state, "up") ? DOUBTFUL : GOOD, "%s", state);
			table_cell(t, PLAIN, "%s", strcmp(state, "up") && strcmp(reason, "none") ?
				   reason : "-");
		}
	table_print(t, "no NIC here; 'fabricctl device add torus0' makes one");
}

static int device_list(struct ctl *ctl, int argc, char **argv)
{
	json_t *all = json_array();
	int err;

	(void)argc;
	(void)argv;
	err = torus_list(gather_device, all);
	if (err < 0) {
		json_decref(all);
		return fail("cannot look for NICs: %s", strerror(-err));
	}
	if (ctl->json)
		json_show(json_incref(all));
	else if (ports)
		print_ports(all);
	else
		show_nics(all);
	json_decref(all);
	return OK;
}

static const struct opt opts[] = {
	{ OPT_FLAG, "ports", 'p', NULL, &ports, 0, 0, "a line for each port" },
	{ .kind = OPT_END },
};

COMMAND(device_list) = {
	.family = "device",
	.name = "list",
	.args = "",
	.brief = "The NICs on this host, of the kernel and in user space",
	.help = "Sockets of NICs in user space are looked for in $TORUS_RUNDIR, else /run/torus.",
	.opts = opts,
	.json = true,
	.watch = true,
	.run = device_list,
};
