// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <stdio.h>

#include "json.h"
#include "lab.h"
#include "names.h"
#include "output.h"

static bool list;

static json_t *hosts_json(const struct lab *lab)
{
	char a4[INET_ADDRSTRLEN], a6[INET6_ADDRSTRLEN], svc[INET_ADDRSTRLEN];
	char host[TORUS_TEXT_MAX];
	json_t *all = json_array();

	for (uint32_t id = 0; id < lab->nodes; id++) {
		struct in_addr v4 = torus_plan_addr4(&lab->plan, &lab->shape, id);
		struct in_addr s = lab_service(lab, id);
		struct in6_addr v6 = torus_plan_addr6(&lab->plan, &lab->shape, id);

		inet_ntop(AF_INET, &v4, a4, sizeof(a4));
		inet_ntop(AF_INET, &s, svc, sizeof(svc));
		inet_ntop(AF_INET6, &v6, a6, sizeof(a6));
		json_array_append_new(all, json_pack("{so ss ss ss ss}", "node",
				      json_node(&lab->shape, id), "name", lab_host(lab, id, host),
				      "address", a4, "address6", a6, "service", svc));
	}
	return all;
}

static void show_list(const struct lab *lab)
{
	char host[TORUS_TEXT_MAX];

	for (uint32_t id = 0; id < lab->nodes; id++)
		printf("%s%s", id ? "," : "", lab_host(lab, id, host));
	putchar('\n');
}

static int lab_hosts(struct ctl *ctl, int argc, char **argv)
{
	struct lab lab;
	int status;

	(void)argc;
	(void)argv;
	if (list && ctl->json)
		return fail("--list and --json exclude each other");
	status = lab_open(&lab, ctl->lab, LAB_READ);
	if (status != OK)
		return status;
	if (ctl->json)
		json_show(hosts_json(&lab));
	else if (list)
		show_list(&lab);
	else
		names_print(&lab, stdout);
	lab_free(&lab);
	return OK;
}

static const struct opt opts[] = {
	{ OPT_FLAG, "list", 'l', NULL, &list, 0, 0,
	  "names only, with commas between: for mpirun --host" },
	{ .kind = OPT_END },
};

COMMAND(lab_hosts) = {
	.family = "lab",
	.name = "hosts",
	.args = "",
	.brief = "Names and addresses of the nodes",
	.opts = opts,
	.in_lab = true,
	.json = true,
	.run = lab_hosts,
};
