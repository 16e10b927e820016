// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab.h"
#include "lib/util/clock.h"
#include "lib/util/fnv.h"
#include "number.h"
#include "output.h"

int lab_name_check(const char *name)
{
	size_t len = strlen(name);

	if (len >= 1 && len <= LAB_NAME_MAX && isalpha((unsigned char)name[0]) &&
	    strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			 "0123456789_-") == len)
		return OK;
	return fail("lab name '%s': must be 1 to %d letters, digits, '-' and '_', "
		    "beginning with a letter", name, LAB_NAME_MAX);
}

int lab_new(struct lab *lab, const char *name, const struct torus_shape *shape)
{
	uint32_t n = torus_nodes(shape);

	*lab = (struct lab){ .lock = -1, .shape = *shape, .nodes = n, .service_bits = 16,
			      .tun = true };
	snprintf(lab->name, sizeof(lab->name), "%s", name);
	strcpy(lab->log_level, "info");
	inet_pton(AF_INET, "172.30.0.0", &lab->service);
	torus_plan_default(&lab->plan);
	lab->pid = getpid();
	lab->since = seconds_of(CLOCK_REALTIME);
	lab->cut = calloc(n, sizeof(*lab->cut));
	lab->joined = calloc((size_t)n * TORUS_MAX_PORTS, sizeof(*lab->joined));
	lab->killed = calloc(n, sizeof(*lab->killed));
	lab->kernel = calloc(n, sizeof(*lab->kernel));
	lab->replaced = calloc(n, sizeof(*lab->replaced));
	lab->names = calloc(n, sizeof(*lab->names));
	if (lab->cut && lab->joined && lab->killed && lab->kernel && lab->replaced && lab->names)
		return 0;
	lab_free(lab);
	return -ENOMEM;
}

void lab_free(struct lab *lab)
{
	free(lab->cut);
	free(lab->joined);
	free(lab->killed);
	free(lab->kernel);
	free(lab->replaced);
	for (uint32_t id = 0; lab->names && id < lab->nodes; id++)
		free(lab->names[id]);
	free(lab->names);
	for (int i = 0; i < OPT_LIST_MAX; i++) {
		free(lab->sets[i]);
		lab->sets[i] = NULL;
	}
	if (lab->lock >= 0)
		close(lab->lock);
	lab->cut = NULL;
	lab->joined = NULL;
	lab->killed = NULL;
	lab->kernel = NULL;
	lab->replaced = NULL;
	lab->names = NULL;
	lab->lock = -1;
}

static char *join_coords(const struct lab *lab, uint32_t node, char by, char *buf)
{
	struct torus_coords at;
	char *p = buf;

	torus_node_coords(&lab->shape, node, &at);
	for (unsigned int d = 0; d < lab->shape.ndims; d++) {
		if (d)
			*p++ = by;
		p += sprintf(p, "%u", at.c[d]);
	}
	return buf;
}

char *lab_place_name(const struct lab *lab, uint32_t node, char *buf)
{
	buf[0] = 'n';
	join_coords(lab, node, '-', buf + 1);
	return buf;
}

char *lab_host(const struct lab *lab, uint32_t node, char *buf)
{
	return lab->names[node] ? strcpy(buf, lab->names[node]) : lab_place_name(lab, node, buf);
}

char *lab_netns(const struct lab *lab, uint32_t node, char *buf)
{
	if (!lab->tun)
		return lab_bridge_netns(lab, buf);
	join_coords(lab, node, '.', buf + sprintf(buf, "%s-", lab->name));
	return buf;
}

char *lab_process_netns(const struct lab *lab, uint32_t node, char *buf)
{
	return lab->packed ? lab_bridge_netns(lab, buf) : lab_netns(lab, node, buf);
}

char *lab_bridge_netns(const struct lab *lab, char *buf)
{
	sprintf(buf, "%s-service", lab->name);
	return buf;
}

char *lab_link_text(const struct lab *lab, uint32_t node, unsigned int port, char *buf)
{
	char text[TORUS_TEXT_MAX];
	char *p = join_coords(lab, node, ',', buf);

	sprintf(p + strlen(p), ":%s", torus_port_text(lab->shape.ndims, port, text));
	return buf;
}

char *lab_port_name(const struct lab *lab, unsigned int port, char *buf)
{
	char text[TORUS_TEXT_MAX];

	torus_port_text(lab->shape.ndims, port, text);
	snprintf(buf, IFNAMSIZ, "p%c%c", text[1], text[0]);
	return buf;
}

char *lab_path(const struct lab *lab, uint32_t node, const char *file, char *buf)
{
	char dots[TORUS_TEXT_MAX] = "";

	if (node != TORUS_NO_NODE)
		join_coords(lab, node, '.', dots);
	snprintf(buf, LAB_TEXT_MAX, LAB_RUN "/%s%s%s%s%s", lab->name, *dots ? "/" : "", dots,
		 *file ? "/" : "", file);
	return buf;
}

char *lab_device(const struct lab *lab, uint32_t node, char *buf)
{
	char path[LAB_TEXT_MAX];

	if (lab->kernel[node])
		return strcpy(buf, "genl:" LAB_INTERFACE);
	snprintf(buf, LAB_TEXT_MAX, "unix:%.*s", LAB_TEXT_MAX - 6,
		 lab_path(lab, node, "nic.sock", path));
	return buf;
}

char *lab_rma(const struct lab *lab, uint32_t node, char *buf)
{
	char path[LAB_TEXT_MAX];

	if (lab->kernel[node])
		strcpy(buf, "dev:torus0");
	else
		snprintf(buf, LAB_TEXT_MAX, "unix:%.*s", LAB_TEXT_MAX - 6,
			 lab_path(lab, node, "rma.sock", path));
	return buf;
}

struct in_addr lab_service(const struct lab *lab, uint32_t node)
{
	return (struct in_addr){ htonl(ntohl(lab->service.s_addr) + 1 + node) };
}

/*
 * Makes a GUID. Its bits are, from the top: a hash of the lab's name; how often the node was
 * replaced; the node's number.
 */
uint64_t lab_guid(const struct lab *lab, uint32_t node)
{
	return fnv1a(FNV1A_START, lab->name) << 24 | (uint32_t)lab->replaced[node] << 11 |
	       (node + 1);
}

static int node_error(const struct lab *lab, const char *text)
{
	char shape[TORUS_TEXT_MAX], first[TORUS_TEXT_MAX], last[TORUS_TEXT_MAX];
	char host[TORUS_TEXT_MAX];

	return fail("node '%s': lab '%s' is %s, must be %s to %s, or a name such as %s", text,
		    lab->name, torus_shape_text(&lab->shape, shape),
		    torus_node_text(&lab->shape, 0, first),
		    torus_node_text(&lab->shape, lab->nodes - 1, last),
		    lab_host(lab, lab->nodes - 1, host));
}

/* Finds a node by "x,y,z" or "nx-y-z". Return: false if the lab has no such node. */
static bool find_by_place(const struct lab *lab, const char *text, uint32_t *node)
{
	char copy[TORUS_TEXT_MAX];
	struct torus_coords at;
	size_t len = strlen(text);

	if (len >= sizeof(copy))
		return false;
	memcpy(copy, text, len + 1);
	if (copy[0] == 'n') {
		if (strchr(copy, ','))
			return false;
		for (char *p = copy; *p; p++)
			if (*p == '-')
				*p = ',';
	}
	if (torus_coords_parse(copy + (copy[0] == 'n'), &lab->shape, &at))
		return false;
	*node = torus_node_id(&lab->shape, &at);
	return true;
}

bool lab_node_find(const struct lab *lab, const char *text, uint32_t *node)
{
	for (uint32_t id = 0; id < lab->nodes; id++)
		if (lab->names[id] && !strcmp(lab->names[id], text)) {
			*node = id;
			return true;
		}
	return find_by_place(lab, text, node);
}

int lab_node_parse(const struct lab *lab, const char *text, uint32_t *node)
{
	return lab_node_find(lab, text, node) ? OK : node_error(lab, text);
}

int lab_rename(struct lab *lab, uint32_t node, const char *name)
{
	uint32_t place;
	char *own = NULL;

	/* The name of a node's place follows from its coordinates, so it is not stored. */
	if (!find_by_place(lab, name, &place)) {
		own = strdup(name);
		if (!own)
			return -ENOMEM;
	}
	free(lab->names[node]);
	lab->names[node] = own;
	return 0;
}

bool lab_cable(const struct lab *lab, unsigned int port)
{
	return lab->shape.size[port % lab->shape.ndims] > 1;
}

static void planned_peer(const struct lab *lab, uint32_t node, unsigned int port, uint32_t *peer,
			 unsigned int *peer_port)
{
	*peer = torus_neighbour(&lab->shape, node, port);
	*peer_port = torus_dir_opposite(&lab->shape, port);
}

static uint16_t *joined_end(const struct lab *lab, uint32_t node, unsigned int port)
{
	return &lab->joined[node * TORUS_MAX_PORTS + port];
}

/* Notes where the cable in a port leads, unless it leads to the planned end. */
static void join_end(struct lab *lab, uint32_t node, unsigned int port, uint32_t peer,
		     unsigned int peer_port)
{
	unsigned int planned_port;
	uint32_t planned;

	planned_peer(lab, node, port, &planned, &planned_port);
	*joined_end(lab, node, port) = planned == peer && planned_port == peer_port ? LAB_PLANNED :
		(uint16_t)(peer * TORUS_MAX_PORTS + peer_port + 1);
}

void lab_join(struct lab *lab, uint32_t node, unsigned int port, uint32_t peer,
	      unsigned int peer_port)
{
	join_end(lab, node, port, peer, peer_port);
	join_end(lab, peer, peer_port, node, port);
}

bool lab_is_swapped(const struct lab *lab, uint32_t node, unsigned int port)
{
	return *joined_end(lab, node, port) != LAB_PLANNED;
}

void lab_peer(const struct lab *lab, uint32_t node, unsigned int port, uint32_t *peer,
	      unsigned int *peer_port)
{
	unsigned int end = *joined_end(lab, node, port);

	if (end == LAB_PLANNED) {
		planned_peer(lab, node, port, peer, peer_port);
		return;
	}
	*peer = (end - 1) / TORUS_MAX_PORTS;
	*peer_port = (end - 1) % TORUS_MAX_PORTS;
}

bool lab_end_up(const struct lab *lab, uint32_t node, unsigned int port)
{
	return !(lab->cut[node] & 1 << port) && !(lab->killed[node] & LAB_NO_POWER);
}

int lab_link_parse(const struct lab *lab, const char *text, uint32_t *node,
		   unsigned int *port)
{
	const char *colon = strchr(text, ':');
	char at[TORUS_TEXT_MAX], last[TORUS_TEXT_MAX], dims[32];
	unsigned int n = lab->shape.ndims;

	if (!colon || (size_t)(colon - text) >= sizeof(at))
		return fail("link '%s': write a node and its port, such as %s", text,
			    lab_link_text(lab, lab->nodes - 1, 0, last));
	memcpy(at, text, (size_t)(colon - text));
	at[colon - text] = '\0';
	if (lab_node_parse(lab, at, node))
		return CANNOT;
	if (torus_port_parse(colon + 1, n, port))
		return fail("link '%s': '%s' is not a port of it, must be + or - and one of %s",
			    text, colon + 1, dims_text(n, dims));
	if (!lab_cable(lab, *port))
		return fail("link '%s': dimension %c has one node, hence no cables", text,
			    "xyzabc"[*port % n]);
	return OK;
}
