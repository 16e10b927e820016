// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <torus/torus.h>

#include "json.h"
#include "kind.h"
#include "lab.h"
#include "local.h"
#include "nic.h"
#include "output.h"

/**
 * struct local - state of asking all NICs of this host
 * @ctl: options, with the time limit for each answer
 * @n: number of NICs that have answered
 * @status: kind of the error of the last NIC that has not answered
 */
struct local {
	const struct ctl *ctl;
	int (*add)(struct torus_dev *dev, const struct torus_device *info, json_t *list);
	json_t *list;
	unsigned int n;
	int status;
};

static void take_nic(struct local *l, struct torus_dev *dev)
{
	struct torus_device info;
	int err = 0;

	if (l->ctl->timeout > 0)
		err = torus_timeout_set(dev, (int)(l->ctl->timeout * 1e3));
	if (!err)
		err = torus_device_get(dev, &info);
	if (!err)
		err = l->add(dev, &info, l->list);
	if (err)
		l->status = fail_as(kind_of_errno(err), "%s", torus_error(dev));
	else
		l->n++;
	torus_close(dev);
}

static int ask_nic(const char *where, void *arg)
{
	struct local *l = arg;
	struct torus_dev *dev;
	int err = torus_open(where, &dev);

	if (err)
		l->status = fail_as(kind_of_errno(err), "%s", torus_error(NULL));
	else
		take_nic(l, dev);
	return 0;
}

static int ask_here(struct local *l)
{
	const char *where = secure_getenv("TORUS_DEVICE");
	int err = where && *where ? ask_nic(where, l) : torus_list(ask_nic, l);

	if (err < 0)
		return fail_as(kind_of_errno(err), "cannot look for NICs: %s", strerror(-err));
	if (!l->n && l->status == OK)
		return fail_as(UNREACHABLE,
			       "no NIC here; with --lab and --node that of a lab's node "
			       "is asked");
	return l->status;
}

static int ask_in_lab(const struct ctl *ctl, struct local *l)
{
	struct torus_dev *dev;
	uint32_t node = 0;
	struct lab lab;
	int err, status = lab_open(&lab, ctl->lab, LAB_READ);

	if (status != OK)
		return status;
	if (ctl->node)
		status = lab_node_parse(&lab, ctl->node, &node);
	if (status == OK) {
		err = nic_open(&lab, node, &dev);
		if (err)
			status = fail_as(kind_of_errno(err), "%s", torus_error(NULL));
		else
			take_nic(l, dev);
	}
	lab_free(&lab);
	return status != OK ? status : l->status;
}

int local_show(const struct ctl *ctl,
	       int (*add)(struct torus_dev *dev, const struct torus_device *info, json_t *list),
	       json_t *(*pick)(const json_t *list), void (*show)(const json_t *list))
{
	struct local l = { .ctl = ctl, .add = add };
	int status;

	if (ctl->control)
		return fail("--local asks the NIC and no manager: --control does not go with it");
	l.list = json_array();
	status = ctl->lab || ctl->node ? ask_in_lab(ctl, &l) : ask_here(&l);
	if (pick) {
		json_t *some = pick(l.list);

		json_decref(l.list);
		l.list = some;
	}
	if (l.n && ctl->json)
		json_show(json_incref(l.list));
	else if (l.n)
		show(l.list);
	json_decref(l.list);
	return status;
}

static void add_local_counters(json_t *to, const struct torus_counter_desc *d,
			       const uint64_t *value, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		json_object_set_new(to, d[i].name, json_integer((json_int_t)value[i]));
}

static json_t *place_json(const struct torus_device *info)
{
	return info->placed ? json_node(&info->shape, info->node) : json_null();
}

/*
 * Return: the other end of the cable, as the GUID of its NIC, because only a manager knows its node
 * and name.
 */
static json_t *local_peer_json(const struct torus_link *l, unsigned int ndims)
{
	char port[TORUS_TEXT_MAX], guid[20];

	if (!l->peer_guid)
		return json_null();
	snprintf(guid, sizeof(guid), "%016" PRIx64, l->peer_guid);
	return json_pack("{sn ss ss sn}", "node", "port",
			 torus_port_text(ndims, l->peer_port, port), "guid", guid, "name");
}

static json_t *local_differs_json(const struct torus_link *l)
{
	const char *name = torus_differs_name(l->differs);
	char own[TORUS_TEXT_MAX], peer[TORUS_TEXT_MAX];

	if (l->differs == TORUS_DIFFERS_NOTHING || l->state == TORUS_LINK_UP)
		return json_null();
	return json_pack("{ss ss ss}", "parameter", name ? name : "unknown", "own",
			 torus_differs_text(l->differs, l->differs_own, own), "peer",
			 torus_differs_text(l->differs, l->differs_peer, peer));
}

static json_t *link_item(const struct torus_device *info, const struct torus_link *l)
{
	unsigned int ndims = info->placed ? info->shape.ndims : info->nports / 2u;
	const char *state = torus_link_state_name(l->state);
	const char *reason = torus_link_reason_name(l->reason);
	char port[TORUS_TEXT_MAX];
	json_t *j = json_pack("{so ss ss so sn ss sI ss sb sn sn sn sb ss sI ss? ss? sb}", "node",
			      place_json(info), "port", torus_port_text(ndims, l->port, port),
			      "name", info->name, "peer", local_peer_json(l, ndims), "expected",
			      "state", state ? state : "?", "state_age", (json_int_t)l->state_age,
			      "reason",
			      l->state == TORUS_LINK_UP ? "none" :
			      reason			? reason :
							  "?",
			      "admin", l->admin, "excluded", "until", "held_ms", "closed",
			      l->closed, "lower", l->lower, "session", (json_int_t)l->session,
			      "retry", torus_retry_name(l->retry), "retry_wanted",
			      torus_retry_name(l->retry_wanted), "local", true);

	json_object_set_new(j, "last_reason",
			    reason && l->reason ? json_string(reason) : json_null());
	json_object_set_new(j, "downs", json_null());
	json_object_set_new(j, "differs", local_differs_json(l));
	add_local_counters(j, torus_port_counters, l->counter, TORUS_PC_COUNT);
	add_local_counters(j, torus_port_gauges, l->gauge, TORUS_PG_COUNT);
	return j;
}

int local_links(struct torus_dev *dev, const struct torus_device *info, json_t *list)
{
	struct torus_link links[TORUS_MAX_PORTS];
	unsigned int n = TORUS_MAX_PORTS;
	int err = torus_links_get(dev, links, &n);

	for (unsigned int i = 0; !err && i < n; i++)
		json_array_append_new(list, link_item(info, &links[i]));
	return err;
}

int local_counters(struct torus_dev *dev, const struct torus_device *info, json_t *list)
{
	json_t *flows = json_object(), *j;
	struct torus_flow flow;
	int err = torus_flow_get(dev, &flow);

	for (unsigned int i = 0; !err && i < TORUS_FC_COUNT; i++) {
		json_t *colours = json_array();

		for (unsigned int c = 0; c < TORUS_COLOURS; c++)
			json_array_append_new(colours,
					      json_integer((json_int_t)flow.counter[i][c]));
		json_object_set_new(flows, torus_flow_counters[i].name, colours);
	}
	j = json_pack("{so sb so}", "node", place_json(info), "local", true, "flow", flows);
	add_local_counters(j, torus_node_counters, info->counter, TORUS_NC_COUNT);
	if (!err)
		json_array_append(list, j);
	json_decref(j);
	return err;
}
