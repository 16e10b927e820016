// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the file of a NIC and prints what "device up" would do with it. It needs neither root nor
 * the driver, so it can check a file before the file is installed, or on another machine.
 */
#include <ctype.h>
#include <inttypes.h>
#include <libgen.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/topology.h>

#include "json.h"
#include "nicfile.h"
#include "output.h"
#include "table.h"

static const char *ifname_given;

/* Return: true if the kernel accepts the first @n bytes of @s as the name of an interface. */
static bool is_ifname(const char *s, size_t n)
{
	if (!n || n >= IFNAMSIZ || (*s == '.' && (n == 1 || (n == 2 && s[1] == '.'))))
		return false;
	for (size_t i = 0; i < n; i++)
		if (s[i] == '/' || s[i] == ':' || isspace((unsigned char)s[i]))
			return false;
	return true;
}

/* The name of the interface is the name of the file, as in /etc/torus. Return: OK or CANNOT */
static int take_interface(const char *path, char *ifname)
{
	char *copy = strdup(path), *base = copy ? basename(copy) : NULL;
	size_t n = base ? strlen(base) : 0;
	bool is_conf = n > strlen(".conf") && !strcmp(base + n - strlen(".conf"), ".conf");
	int status = OK;

	if (ifname_given)
		n = strlen(ifname_given);
	else if (is_conf)
		n -= strlen(".conf");
	if (!ifname_given && !is_conf)
		status = fail("%s: the name of the file is that of the interface and '.conf', such "
			      "as torus0.conf; for a file of another name there is --interface",
			      path);
	else if (!is_ifname(ifname_given ? ifname_given : base, n))
		status = fail("'%.*s' is not a name of an interface: must have 1 to %d bytes "
			      "without '/', ':' and blanks, and neither '.' nor '..'",
			      (int)n, ifname_given ? ifname_given : base, IFNAMSIZ - 1);
	else
		snprintf(ifname, IFNAMSIZ, "%.*s", (int)n, ifname_given ? ifname_given : base);
	free(copy);
	return status;
}

static json_t *lower_json(const struct nicfile *f)
{
	json_t *list = json_array();
	char port[TORUS_TEXT_MAX];

	for (unsigned int p = 0; p < f->spec.ports; p++) {
		const char *lower = f->lower[p];

		json_array_append_new(list, json_pack("{ss ss? sb}", "port",
						      torus_port_text(f->spec.ports / 2u, p, port),
						      "lower", *lower ? lower : NULL, "present",
						      *lower && if_nametoindex(lower)));
	}
	return list;
}

static json_t *params_json(const struct nicfile *f)
{
	json_t *list = json_array();

	for (unsigned int i = 0; f->sets[i]; i++)
		json_array_append_new(list, json_string(f->sets[i]));
	return list;
}

static json_t *plan_json(const struct nicfile *f, const char *path)
{
	const char *name = f->spec.name ? f->spec.name : f->spec.ifname;
	char guid[20] = "";

	if (f->spec.guid)
		snprintf(guid, sizeof(guid), "%016" PRIx64, f->spec.guid);
	return json_pack("{ss ss ss si sb ss? si so so}", "file", path, "interface", f->spec.ifname,
			 "name", name, "ports", (int)f->spec.ports, "bootstrap", f->spec.bootstrap,
			 "guid", *guid ? guid : NULL, "mtu", (int)f->mtu, "cables", lower_json(f),
			 "parameters", params_json(f));
}

static void show_plan_cables(const json_t *cables, uint64_t mtu)
{
	static const char *const titles[] = { "PORT", "DEVICE", ">MTU", "HERE", NULL };
	struct table *t = table_new(titles);
	size_t i;
	json_t *v;

	json_array_foreach(cables, i, v) {
		const char *lower = json_text(v, "lower");
		bool here = json_is_true(json_object_get(v, "present"));

		table_cell(t, PLAIN, "%s", json_text(v, "port"));
		table_cell(t, lower ? STRONG : FAINT, "%s", lower ? lower : "no cable");
		if (lower)
			table_cell(t, PLAIN, "%" PRIu64, mtu);
		else
			table_cell(t, FAINT, "-");
		table_cell(t, here ? PLAIN : lower ? DOUBTFUL : FAINT, "%s",
			   here ? "yes" :
			   lower ? "not yet: it is plugged in when it appears" : "-");
	}
	table_print(t, "no ports");
}

static void show_device_plan(const json_t *plan)
{
	const char *guid = json_text(plan, "guid");
	size_t i;
	json_t *v;

	printf("%s is right: 'fabricctl device up' would make or change the NIC\n",
	       json_text(plan, "file"));
	printf("interface  %s\n", json_text(plan, "interface"));
	printf("name       %s\n", json_text(plan, "name"));
	printf("guid       %s\n", guid ? guid : "made from the name and /etc/machine-id");
	printf("bootstrap  %s\n", json_is_true(json_object_get(plan, "bootstrap")) ?
	       "yes: coordinates 0, and the first root" : "no");
	json_array_foreach(json_object_get(plan, "parameters"), i, v)
		printf("%-10s %s\n", i ? "" : "parameters", json_string_value(v));
	show_plan_cables(json_object_get(plan, "cables"), json_count(plan, "mtu"));
}

static int device_check(struct ctl *ctl, int argc, char **argv)
{
	char ifname[IFNAMSIZ];
	struct nicfile f;
	json_t *plan;

	(void)argc;
	if (take_interface(argv[0], ifname) != OK || nicfile_read(&f, argv[0], ifname))
		return CANNOT;
	plan = plan_json(&f, argv[0]);
	if (ctl->json)
		json_show(json_incref(plan));
	else
		show_device_plan(plan);
	json_decref(plan);
	return OK;
}

static const struct opt opts[] = {
	{ OPT_TEXT, "interface", 'i', "NAME", &ifname_given, 0, 0,
	  "the NIC's interface; usually that of the file's name" },
	{ .kind = OPT_END },
};

COMMAND(device_check) = {
	.family = "device",
	.name = "check",
	.args = "FILE",
	.brief = "Check a NIC's configuration file, and say what 'device up' would do",
	.help = "The file is described in torus-nic.conf(5). Neither root nor the driver is\n"
		"needed, and nothing is changed. Each error names its line and what it must be:\n"
		"exit status 2.",
	.opts = opts,
	.min = 1,
	.max = 1,
	.json = true,
	.run = device_check,
};
