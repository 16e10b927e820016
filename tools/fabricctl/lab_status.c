// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>
#include <torus/torus.h>
#include <unistd.h>

#include "json.h"
#include "lab.h"
#include "lib/util/times.h"
#include "nic.h"
#include "node.h"
#include "number.h"
#include "output.h"
#include "proc.h"
#include "table.h"

/* Return: the number of a process or an interface; null for 0, which means that there is none. */
static json_t *number_or_null(int number)
{
	return number ? json_integer(number) : json_null();
}

static json_t *faults_of(const struct torus_link *link, unsigned int n, unsigned int ndims)
{
	json_t *list = json_array();
	char port[TORUS_TEXT_MAX];

	for (unsigned int i = 0; i < n; i++) {
		const struct torus_fault *f = &link[i].fault;

		if (!f->ber && !f->latency_ns && !f->silence && !f->vb)
			continue;
		json_array_append_new(list, json_pack("{ss sf sf sI sb sb}", "port",
				      torus_port_text(ndims, link[i].port, port), "ber",
				      (double)f->ber / 1e18, "vb", (double)f->vb / 1e18,
				      "latency_ns", (json_int_t)f->latency_ns, "silence",
				      !!f->silence, "one_way", f->silence == TORUS_SILENCE_SEND));
	}
	return list;
}

/* Return: the faults of a node; null if its NIC does not answer or refuses the caller. */
static json_t *faults_json(const struct lab *lab, uint32_t node)
{
	struct torus_link link[TORUS_MAX_PORTS];
	unsigned int n = TORUS_MAX_PORTS;
	struct torus_dev *dev;
	json_t *list = NULL;

	if (geteuid() || nic_open(lab, node, &dev))
		return json_null();
	if (!torus_links_get(dev, link, &n))
		list = faults_of(link, n, lab->shape.ndims);
	torus_close(dev);
	return list ? list : json_null();
}

static json_t *cut_ports(const struct lab *lab, uint32_t node)
{
	json_t *list = json_array();
	char port[TORUS_TEXT_MAX];

	for (unsigned int p = 0; p < 2u * lab->shape.ndims; p++)
		if (lab->cut[node] & 1 << p)
			json_array_append_new(list, json_string(
				torus_port_text(lab->shape.ndims, p, port)));
	return list;
}

/* Return: the ports whose cables do not lead to the planned end, and the ends that they lead to. */
static json_t *swapped_json(const struct lab *lab, uint32_t node)
{
	char port[TORUS_TEXT_MAX], other[LAB_TEXT_MAX];
	json_t *list = json_array();
	unsigned int peer_port;
	uint32_t peer;

	for (unsigned int p = 0; p < 2u * lab->shape.ndims; p++) {
		if (!lab_is_swapped(lab, node, p))
			continue;
		lab_peer(lab, node, p, &peer, &peer_port);
		json_array_append_new(list, json_pack("{ss ss}", "port",
				      torus_port_text(lab->shape.ndims, p, port), "leads_to",
				      lab_link_text(lab, peer, peer_port, other)));
	}
	return list;
}

/* A NIC that "lab pause" has stopped is not asked for its faults, because it would not answer. */
static json_t *node_json(const struct lab *lab, uint32_t node)
{
	char host[TORUS_TEXT_MAX], ns[LAB_TEXT_MAX], path[LAB_TEXT_MAX];
	int manager = proc_running(lab_path(lab, node, "fabricd.pid", path));
	int nic = nic_running(lab, node);
	bool nic_paused = nic && !lab->kernel[node] && proc_is_paused(nic);
	bool paused = nic_paused || (manager && proc_is_paused(manager));

	return json_pack("{so ss ss ss so so sb sb so so so}", "node",
			 json_node(&lab->shape, node), "name", lab_host(lab, node, host),
			 "netns", lab_netns(lab, node, ns),
			 "backend", lab->kernel[node] ? "kernel" : "user",
			 "nic", number_or_null(nic), "manager", number_or_null(manager),
			 "paused", paused, "power", !(lab->killed[node] & LAB_NO_POWER),
			 "cut", cut_ports(lab, node), "swapped", swapped_json(lab, node),
			 "faults", nic_paused ? json_null() : faults_json(lab, node));
}

static json_t *to_json(const struct lab *lab)
{
	static const char *const states[] = { "starting", "up", "going down" };
	json_t *nodes = json_array();
	char run[LAB_TEXT_MAX];

	for (uint32_t id = 0; id < lab->nodes; id++)
		json_array_append_new(nodes, node_json(lab, id));
	return json_pack("{ss so sb sb ss sf ss so}", "name", lab->name, "shape",
			 json_shape(&lab->shape), "packed", lab->packed, "bare", lab->bare,
			 "state", states[lab->state], "since", lab->since,
			 "run", lab_path(lab, TORUS_NO_NODE, "", run), "nodes", nodes);
}

static void number_cell(struct table *t, const char *what, const json_t *number)
{
	if (json_is_integer(number))
		table_cell(t, GOOD, "%s%lld", what, json_integer_value(number));
	else
		table_cell(t, BAD, "dead");
}

static void cut_cell(struct table *t, const json_t *node)
{
	const json_t *cut = json_object_get(node, "cut");
	char text[64] = "";
	size_t i;
	json_t *v;

	json_array_foreach(cut, i, v)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "",
			 json_string_value(v));
	if (!json_is_true(json_object_get(node, "power")))
		table_cell(t, BAD, "all (no power)");
	else
		table_cell(t, *text ? BAD : FAINT, "%s", *text ? text : "-");
}

static void fault_cell(struct table *t, const json_t *node)
{
	const json_t *faults = json_object_get(node, "faults");
	char text[512] = "", time[32];
	size_t i, len = 0;
	json_t *v;

	if (json_is_true(json_object_get(node, "paused")))
		len += (size_t)sprintf(text, "paused");
	json_array_foreach(json_object_get(node, "swapped"), i, v)
		if (len < sizeof(text) - 192)
			len += (size_t)sprintf(text + len, "%s%s leads to %s", len ? ", " : "",
					       json_text(v, "port"), json_text(v, "leads_to"));
	json_array_foreach(faults, i, v) {
		double ber = json_number_value(json_object_get(v, "ber"));
		double vb = json_number_value(json_object_get(v, "vb"));
		uint64_t ns = json_count(v, "latency_ns");

		if (len > sizeof(text) - 96)
			break;
		len += (size_t)sprintf(text + len, "%s%s", len ? ", " : "", json_text(v, "port"));
		if (json_is_true(json_object_get(v, "silence")))
			len += (size_t)sprintf(text + len,
					       json_is_true(json_object_get(v, "one_way")) ?
						       " sends nothing" : " silent");
		if (ber > 0)
			len += (size_t)sprintf(text + len, " ber %.3g", ber);
		if (vb > 0)
			len += (size_t)sprintf(text + len, " vb %.3g", vb);
		if (ns)
			len += (size_t)sprintf(text + len, " +%s", ns < MS ?
				(snprintf(time, sizeof(time), "%llu us",
					  (unsigned long long)ns / US), time) :
				duration_text((double)ns / 1e9, time));
	}
	if (json_is_null(faults) && !len)
		table_cell(t, FAINT, "?");
	else
		table_cell(t, *text ? DOUBTFUL : FAINT, "%s", *text ? text : "-");
}

static void show_lab(const struct lab *lab, const json_t *j)
{
	static const char *const titles[] = { "NODE", "NAME", ">NIC", ">MANAGER", "CUT",
					      "FAULTS", NULL };
	struct table *t = table_new(titles);
	const json_t *nodes = json_object_get(j, "nodes");
	char text[TORUS_TEXT_MAX];
	size_t i;
	json_t *v;

	printf("lab %s%s%s: %s%s, %s, files in %s\n", paint(STRONG), lab->name, paint(PLAIN),
	       torus_shape_text(&lab->shape, text),
	       lab->packed ? ", packed" : lab->bare ? ", bare" : "",
	       json_text(j, "state"), json_text(j, "run"));
	json_array_foreach(nodes, i, v) {
		table_cell(t, PLAIN, "%s", json_node_text(json_object_get(v, "node"), text));
		table_cell(t, STRONG, "%s", json_text(v, "name"));
		number_cell(t, strcmp(json_text(v, "backend"), "kernel") ? "" : "kernel #",
			    json_object_get(v, "nic"));
		number_cell(t, "", json_object_get(v, "manager"));
		cut_cell(t, v);
		fault_cell(t, v);
	}
	table_print(t, "no nodes");
}

static int judge_lab(const struct lab *lab, const json_t *j)
{
	const json_t *nodes = json_object_get(j, "nodes");
	size_t i;
	json_t *v;

	if (lab->state != LAB_UP)
		return PROBLEM;
	json_array_foreach(nodes, i, v)
		if (json_is_null(json_object_get(v, "nic")) ||
		    json_is_null(json_object_get(v, "manager")) ||
		    json_is_true(json_object_get(v, "paused")) ||
		    json_array_size(json_object_get(v, "cut")))
			return PROBLEM;
	return OK;
}

static int lab_status(struct ctl *ctl, int argc, char **argv)
{
	struct lab lab;
	json_t *j;
	int status;

	(void)argc;
	(void)argv;
	status = lab_open(&lab, ctl->lab, LAB_READ);
	if (status != OK)
		return status;
	j = to_json(&lab);
	if (!j) {
		lab_free(&lab);
		return fail("out of memory");
	}
	status = judge_lab(&lab, j);
	if (ctl->json)
		json_show(json_incref(j));
	else
		show_lab(&lab, j);
	json_decref(j);
	lab_free(&lab);
	return status;
}

COMMAND(lab_status) = {
	.family = "lab",
	.name = "status",
	.args = "",
	.brief = "Dead processes, cut cables and injected faults of a lab",
	.help = "NIC is the process of one in user space, or the index of the interface of one of\n"
		"the kernel. Exit status 1 if a process is dead or paused, or a cable is cut.\n"
		"'fabricctl status' shows the state of the fabric.",
	.in_lab = true,
	.json = true,
	.watch = true,
	.run = lab_status,
};
