// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "await.h"
#include "device.h"
#include "fault.h"
#include "json.h"
#include "kind.h"
#include "lab.h"
#include "labconf.h"
#include "launcher.h"
#include "names.h"
#include "nic.h"
#include "node.h"
#include "number.h"
#include "proc.h"
#include "raise.h"
#include "output.h"
#include "teardown.h"
#include "web.h"
#include "lib/util/clock.h"

static const char *name = "lab", *backend, *kernel_nodes, *service = "172.30.0.0/16";
static const char *log_level = "info", *config, *ber, *latency;
static const char *sets[OPT_LIST_MAX];
static bool auto_shape, bare, keep, no_wait, packed, tun, web;
static uint16_t *web_port;	/* ports of the fabricwebs of all nodes, with --web */
static uint64_t timeout = 60;

#define LAB_PAYLOAD "payload_max=16368"	/* with this, cables of a lab take the largest packets */

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	interrupted = sig;
}

/* struct took - duration of each phase, seconds */
struct took {
	double network, processes, fabric, total;
};

static int service_check(struct lab *lab)
{
	char address[64];
	const char *slash = strchr(service, '/');
	uint64_t bits;
	uint32_t net, mask, both, own;
	char text[TORUS_TEXT_MAX];

	if (!slash || (size_t)(slash - service) >= sizeof(address) ||
	    number_parse(slash + 1, 8, 30, &bits))
		return fail("--service '%s': write ADDRESS/BITS with 8 to 30 bits, such as "
			    "172.30.0.0/16", service);
	memcpy(address, service, (size_t)(slash - service));
	address[slash - service] = '\0';
	if (inet_pton(AF_INET, address, &lab->service) != 1)
		return fail("--service '%s': '%s' is no IPv4 address", service, address);
	net = ntohl(lab->service.s_addr);
	mask = ~0U << (32 - bits);
	if (net & ~mask)
		return fail("--service '%s': bits below /%u are set", service, (unsigned int)bits);
	both = ~0U << (32 - (bits < lab->plan.len4 ? bits : lab->plan.len4));
	memcpy(&own, lab->plan.net4, sizeof(own));
	if (!((net ^ ntohl(own)) & both) || net >> 24 == 127 || net >> 24 == 0 || net >> 28 >= 14)
		return fail("--service '%s': %s is the torus's own, and 0, 127 and 224 "
			    "upwards cannot be used", service, torus_plan_text4(&lab->plan, text));
	if (lab->nodes + 2 > ~mask)
		return fail("--service '%s': has room for %u nodes, the lab has %u", service,
			    ~mask - 2, lab->nodes);
	lab->service_bits = (unsigned int)bits;
	return OK;
}

static int shape_check(const char *text, struct torus_shape *shape)
{
	int err = torus_shape_parse(text, shape);

	if (err)
		return fail("shape '%s': write 1 to %d sizes of 1 to %d, such as 4x4 or 4x4x2, %d "
			    "nodes at most", text, TORUS_MAX_DIMS, TORUS_MAX_SIZE, LAB_NODES_MAX);
	if (torus_nodes(shape) > LAB_NODES_MAX)
		return fail("shape '%s': %u nodes, a lab has at most %d", text,
			    torus_nodes(shape), LAB_NODES_MAX);
	return OK;
}

static int levels_check(void)
{
	static const char *const allowed[] = { "error", "warning", "info", "debug" };

	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
		if (!strcmp(log_level, allowed[i]))
			return OK;
	return fail("--log-level '%s': must be error, warning, info or debug", log_level);
}

static int free_check(void)
{
	struct leftovers l;
	struct lab old;
	int err;

	leftovers_find(name, &l);
	if (!l.run && !l.netns && !l.names)
		return OK;
	err = lab_load(&old, name);
	if (!err && old.state == LAB_UP) {
		lab_free(&old);
		return fail("lab '%s' is up already; 'fabricctl lab down --lab %s' ends it, "
			    "--lab chooses another name", name, name);
	}
	if (!err)
		lab_free(&old);
	if (l.run && lab_busy(name))
		return fail("lab '%s' is being made or ended by another fabricctl", name);
	return fail("lab '%s' is half-dead (%s, %u namespaces, %u entries in " LAB_ETC
		    "); 'fabricctl lab down --lab %s' clears it away", name,
		    l.run ? "a run directory" : "no run directory", l.netns, l.names, name);
}

/* Checks the arguments, before anything is changed. */
static int check_arguments(const char *shape_text, struct torus_shape *shape, struct programs *p,
			   struct fault_wish *wish)
{
	if (lab_name_check(name) || shape_check(shape_text, shape) || levels_check() ||
	    fault_wish_parse(ber, latency, wish))
		return CANNOT;
	if (bare)
		return web ? fail("--web: a bare lab has no managers to ask") : OK;
	return web && web_find() ? CANNOT : programs_find(p);
}

/* Checks that this machine can run the lab, before anything is changed. */
static int check_machine(const struct lab *lab)
{
	if (geteuid())
		return fail_as(DENIED,
			       "lab up needs root, to make network namespaces: run it with sudo");
	if (!bare && memchr(lab->kernel, true, lab->nodes) && device_kernel())
		return CANNOT;
	return free_check();
}

static int write_key(const struct lab *lab)
{
	unsigned char key[32];
	char path[LAB_TEXT_MAX];
	FILE *f;
	int fd;

	if (getrandom(key, sizeof(key), 0) != sizeof(key))
		return -EIO;
	fd = open(lab_path(lab, TORUS_NO_NODE, "key", path),
		  O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f)
		return -errno;
	for (size_t i = 0; i < sizeof(key); i++)
		fprintf(f, "%02x", key[i]);
	fputc('\n', f);
	return fclose(f) ? -errno : 0;
}

static int write_files(const struct lab *lab, const char *extra)
{
	int err = names_write(lab);

	err = err ? err : write_key(lab);
	err = err ? err : launcher_make(lab);
	for (uint32_t id = 0; !err && id < lab->nodes; id++)
		err = node_files(lab, id, extra);
	return err ? fail("cannot write the files of lab '%s': %s", lab->name, strerror(-err)) : OK;
}

static int start_manager(const struct lab *lab, uint32_t node, int netns,
			 const struct programs *p)
{
	char text[TORUS_TEXT_MAX];
	int pid = node_start_manager(lab, node, netns, p);

	if (pid >= 0)
		return OK;
	return fail("cannot start fabricd of node %s: %s",
		    torus_node_text(&lab->shape, node, text), strerror(-pid));
}

static int start_processes(const struct lab *lab, const int *netns, const struct programs *p)
{
	int status = OK;

	for (uint32_t id = 0; status == OK && id < lab->nodes; id++) {
		progress("NICs %u/%u", id, lab->nodes);
		status = nic_start(lab, id, netns[id], p->nic);
	}
	for (uint32_t id = 0; status == OK && id < lab->nodes; id++) {
		progress("managers %u/%u", id, lab->nodes);
		status = nic_wait(lab, id);
		if (status == OK)
			status = start_manager(lab, id, netns[id], p);
	}
	return status;
}

static int bring_up_lab(struct lab *lab, const struct programs *p, const char *extra,
			struct took *took)
{
	int *netns = calloc(lab->nodes, sizeof(*netns));
	double start = seconds_now();
	int status;

	if (!netns)
		return fail("out of memory");
	status = raise_network(lab, netns);
	took->network = seconds_now() - start;
	if (status == OK)
		status = write_files(lab, extra);
	if (status == OK && !bare && !interrupted)
		status = start_processes(lab, netns, p);
	took->processes = seconds_now() - start - took->network;
	for (uint32_t id = 0; id < lab->nodes; id++)
		if (netns[id] >= 0)
			close(netns[id]);
	free(netns);
	if (status == OK && !bare && !no_wait)
		status = await_running(lab, (int)timeout, &interrupted);
	if (status == OK && web)
		status = web_start(lab, web_port);
	took->total = seconds_now() - start;
	took->fabric = took->total - took->network - took->processes;
	if (interrupted)
		status = fail("interrupted");
	return status;
}

static json_t *list_urls(const struct lab *lab)
{
	json_t *urls = json_array();
	char url[LAB_TEXT_MAX];

	for (uint32_t id = 0; web && id < lab->nodes; id++)
		json_array_append_new(urls, json_string(web_url(web_port[id], url)));
	return urls;
}

static void print_urls(const struct lab *lab)
{
	char url[LAB_TEXT_MAX], text[TORUS_TEXT_MAX];

	for (uint32_t id = 0; web && id < lab->nodes; id++)
		printf("%-8s %s\n", torus_node_text(&lab->shape, id, text),
		       web_url(web_port[id], url));
}

static void report_lab(const struct ctl *ctl, const struct lab *lab, const struct took *t)
{
	char text[TORUS_TEXT_MAX];
	unsigned int cables = 0;

	for (unsigned int d = 0; d < lab->shape.ndims; d++)
		cables += lab_cable(lab, d) ? lab->nodes : 0;
	torus_shape_text(&lab->shape, text);
	progress("%s", "");
	if (ctl->json) {
		json_show(json_pack("{ss so si si s{sf sf sf sf} so}", "name", lab->name, "shape",
				    json_shape(&lab->shape), "nodes", lab->nodes, "links", cables,
				    "seconds", "network", t->network, "processes", t->processes,
				    "fabric", t->fabric, "total", t->total, "web", list_urls(lab)));
		return;
	}
	printf("lab '%s' is up: %s, %u node%s, %u cable%s, in %.1f s (network %.1f, processes "
	       "%.1f, fabric %.1f)\n", lab->name, text, lab->nodes, lab->nodes == 1 ? "" : "s",
	       cables, cables == 1 ? "" : "s", t->total, t->network, t->processes, t->fabric);
	print_urls(lab);
}

/*
 * All network namespaces share one table of neighbours (ARP), with the limits of the host. A node
 * has entries for its parent, its children and the candidates; a candidate that was root has one
 * for each node. When the table is full, the kernel drops packets, also those of the torus devices,
 * and connections fail. So the limits are raised, and never lowered.
 */
#define NEIGHBOURS_EACH 64
#define NEIGHBOURS_DEFAULT 1024		/* the kernel's gc_thresh3 */
#define NEIGHBOURS_LEAST 4096		/* for several labs at once */

/* Raises a limit to @least. Return: true if the limit is @least or higher now. */
static bool raise_limit(const char *path, unsigned int least)
{
	FILE *f = fopen(path, "r+e");
	unsigned int now = 0;
	bool fine;

	if (!f)
		return false;
	fine = fscanf(f, "%u", &now) == 1 && now >= least;
	if (!fine) {
		rewind(f);
		fine = fprintf(f, "%u\n", least) > 0 && !fflush(f);
	}
	fclose(f);
	return fine;
}

static void make_room_for_neighbours(const struct lab *lab)
{
	unsigned int each = lab->nodes < NEIGHBOURS_EACH ? lab->nodes : NEIGHBOURS_EACH;
	unsigned int need = 2 * lab->nodes * each;
	unsigned int max = need < NEIGHBOURS_LEAST ? NEIGHBOURS_LEAST : need;

	if (raise_limit("/proc/sys/net/ipv4/neigh/default/gc_thresh3", max) &&
	    raise_limit("/proc/sys/net/ipv4/neigh/default/gc_thresh2", max / 2))
		return;
	if (need > NEIGHBOURS_DEFAULT)
		warn("cannot make room for the neighbours of %u nodes: packets may be lost; "
		     "'sysctl net.ipv4.neigh.default.gc_thresh3=%u' and gc_thresh2=%u help",
		     lab->nodes, max, max / 2);
}

/* Removes a lab whose start has failed. Return: @status, the reason. */
static int abandon_lab(struct lab *lab, int status)
{
	if (keep) {
		warn("what was made of lab '%s' is kept, with its logs in " LAB_RUN "/%s",
		     lab->name, lab->name);
		return status;
	}
	progress("clearing away");
	teardown(lab->name);
	progress("%s", "");
	return status;
}

static int raise_lab(const struct ctl *ctl, struct lab *lab, const struct programs *p,
		     const char *extra, const struct fault_wish *wish)
{
	struct took took = { 0 };
	int err = lab_create(lab), status;

	if (err == -EEXIST)
		return fail("lab '%s' is being made by another process", name);
	if (err) {
		status = fail_as(kind_of_errno(err), "cannot make " LAB_RUN "/%s: %s", name,
				 strerror(-err));
		return abandon_lab(lab, status);
	}
	if (!bare && !lab->packed)
		make_room_for_neighbours(lab);
	status = bring_up_lab(lab, p, extra, &took);
	if (status == OK && !bare)
		status = fault_everywhere(lab, wish);
	if (status != OK)
		return abandon_lab(lab, status);
	lab->state = LAB_UP;
	lab->pid = 0;
	err = lab_save(lab);
	if (err) {
		return abandon_lab(lab, fail("cannot write lab.json: %s", strerror(-err)));
	}
	report_lab(ctl, lab, &took);
	return OK;
}

/*
 * Return: true for every second node, so that each cable joins NICs of both kinds; false for the
 * root.
 */
static bool is_alternate(const struct lab *lab, uint32_t node)
{
	struct torus_coords at;
	unsigned int sum = 0;

	torus_node_coords(&lab->shape, node, &at);
	for (unsigned int d = 0; d < lab->shape.ndims; d++)
		sum += at.c[d];
	return sum % 2;
}

static int kernel_list(struct lab *lab, const char *list)
{
	char *copy = strdup(list), *at = copy, *text;
	int status = copy ? OK : fail("out of memory");
	uint32_t node;

	while (status == OK && (text = strsep(&at, ",")) != NULL) {
		status = lab_node_parse(lab, text, &node);
		if (status == OK)
			lab->kernel[node] = true;
	}
	free(copy);
	return status;
}

static int choose_backends(struct lab *lab)
{
	const char *kind = backend && *backend ? backend : "user";
	bool all = !strcmp(kind, "kernel"), mixed = !strcmp(kind, "mixed");

	if (!all && !mixed && strcmp(kind, "user"))
		return fail("--backend '%s': must be user (NICs in user space), kernel, or "
			    "mixed (every other node)", kind);
	if (packed && (all || mixed || kernel_nodes))
		return fail("--packed is of NICs in user space: --%s does not go with it",
			    kernel_nodes ? "kernel-nodes" : "backend");
	if (kernel_nodes && (all || mixed))
		return fail("--kernel-nodes and --backend %s both set which nodes have a NIC of "
			    "the kernel: give one", kind);
	for (uint32_t id = 0; id < lab->nodes; id++)
		lab->kernel[id] = all || (mixed && is_alternate(lab, id));
	if (kernel_nodes && kernel_list(lab, kernel_nodes))
		return CANNOT;
	return nic_sets_check(lab);
}

/*
 * Collects the parameters of the NICs; the user's parameters come last, so that they replace
 * defaults.
 */
static int take_sets(struct lab *lab)
{
	int n = 0;

	lab->sets[n++] = strdup(LAB_PAYLOAD);
	for (int i = 0; sets[i] && lab->sets[n - 1]; i++)
		lab->sets[n++] = strdup(sets[i]);
	return lab->sets[n - 1] ? OK : fail("out of memory");
}

static int take_settings(struct lab *lab)
{
	lab->auto_shape = auto_shape;
	lab->packed = packed;
	lab->bare = bare;
	lab->tun = tun || !packed;
	if (tun && !packed)
		return fail("--tun: goes with --packed; all other labs have a torus0");
	snprintf(lab->log_level, sizeof(lab->log_level), "%s", log_level);
	return take_sets(lab) == OK && service_check(lab) == OK ? choose_backends(lab) : CANNOT;
}

static int lab_up(struct ctl *ctl, int argc, char **argv)
{
	static char text[65537];
	const char *extra = config ? labconf_read(config, text, sizeof(text)) : "";
	struct fault_wish wish = { 0 };
	struct torus_shape shape;
	struct programs p;
	struct lab lab;
	int status;

	(void)argc;
	if (!backend && !kernel_nodes && !packed)
		backend = getenv("TORUS_BACKEND");
	if (!extra || check_arguments(argv[0], &shape, &p, &wish))
		return CANNOT;
	if (lab_new(&lab, name, &shape))
		return fail("out of memory");
	web_port = calloc(lab.nodes, sizeof(*web_port));
	labconf_plan(extra, &lab.plan);
	proc_files();
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	signal(SIGHUP, on_signal);
	status = web_port ? take_settings(&lab) : fail("out of memory");
	if (status == OK)
		status = check_machine(&lab);
	if (status == OK)
		status = raise_lab(ctl, &lab, &p, extra, &wish);
	free(web_port);
	lab_free(&lab);
	return status;
}

static const struct opt opts[] = {
	{ OPT_TEXT, "lab", 'n', "NAME", &name, 0, 0, "name of the lab, default 'lab'" },
	{ OPT_TEXT, "name", 0, "NAME", &name, 0, 0, "the same" },
	{ OPT_TEXT, "backend", 0, "KIND", &backend, 0, 0,
	  "NICs: user (in user space), kernel, or mixed; default $TORUS_BACKEND, else user" },
	{ OPT_TEXT, "kernel-nodes", 0, "NAMES", &kernel_nodes, 0, 0,
	  "nodes whose NICs are the kernel's: n0-1,n2-3" },
	{ OPT_FLAG, "packed", 0, NULL, &packed, 0, 0,
	  "all NICs in one process, all managers in one namespace: large labs, no torus0" },
	{ OPT_FLAG, "tun", 0, NULL, &tun, 0, 0,
	  "with --packed: torus0 all the same, in a namespace for each node" },
	{ OPT_FLAG, "auto-shape", 0, NULL, &auto_shape, 0, 0,
	  "let the root discover the shape; default: lab up sets it" },
	{ OPT_TEXT, "ber", 0, "RATE", &ber, 0, 0, "bit error rate on every cable, such as 1e-6" },
	{ OPT_TEXT, "latency", 0, "TIME", &latency, 0, 0, "added to every cable, such as 50us" },
	{ OPT_TEXT, "service", 0, "NET/BITS", &service, 0, 0,
	  "service network, default 172.30.0.0/16" },
	{ OPT_LIST, "set", 0, "PARAM=VALUE", sets, 0, 0,
	  "parameter of every NIC, see torusemu(8); may be given again" },
	{ OPT_TEXT, "config", 0, "FILE", &config, 0, 0,
	  "further lines for every fabricd.conf(5); keys of each node are refused" },
	{ OPT_TEXT, "log-level", 0, "LEVEL", &log_level, 0, 0,
	  "of NICs and managers: error, warning, info (default), debug" },
	{ OPT_NUMBER, "timeout", 't', "SECONDS", &timeout, 1, 3600,
	  "give up if the fabric is not running by then, default 60" },
	{ OPT_FLAG, "no-wait", 0, NULL, &no_wait, 0, 0, "do not wait until the fabric runs" },
	{ OPT_FLAG, "web", 0, NULL, &web, 0, 0,
	  "a page for browsers at each node, on this machine: prints the addresses" },
	{ OPT_FLAG, "bare", 0, NULL, &bare, 0, 0,
	  "namespaces and cables only: no NICs, no managers" },
	{ OPT_FLAG, "keep", 0, NULL, &keep, 0, 0,
	  "if it fails keep what there is, to look at the logs" },
	{ .kind = OPT_END },
};

COMMAND(lab_up) = {
	.family = "lab",
	.name = "up",
	.args = "SHAPE",
	.brief = "Build a torus of software NICs on this machine (a lab)",
	.help = "SHAPE is the number of nodes along each dimension: 4x4, 2x3x4. Each node is a\n"
		"network namespace NAME-x.y.z with a NIC (torusemu, or one of the kernel), a\n"
		"manager (fabricd) and the interface torus0. In a dimension of two nodes, two\n"
		"cables join them; a dimension of one node has no cable. The lab's files and logs\n"
		"are in /run/torus/NAME.",
	.opts = opts,
	.min = 1,
	.max = 1,
	.json = true,
	.run = lab_up,
};
