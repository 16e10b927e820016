// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netns.h"
#include "node_proc.h"
#include "output.h"
#include "proc.h"
#include "web.h"

#define WEB_PORT_FIRST 7181	/* 7180 is the port of a fabricweb outside labs */

int web_find(void)
{
	char path[PATH_MAX];

	if (!proc_find_program("fabricweb", path, sizeof(path)))
		return OK;
	return fail("cannot find the program 'fabricweb' beside fabricctl or in PATH: build it "
		    "with 'make' or install it");
}

/* Return: true if a server can listen there. */
static bool is_port_free(uint16_t port)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
	bool unused;

	if (fd < 0)
		return false;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	unused = !bind(fd, (struct sockaddr *)&at, sizeof(at)) && !listen(fd, 1);
	close(fd);
	return unused;
}

static int start_web(const struct lab *lab, uint32_t node, int netns, const char *program,
		     uint16_t port)
{
	char listen[32], control[LAB_TEXT_MAX], text[TORUS_TEXT_MAX];
	char *const argv[] = {
		(char *)program, (char *)"--config", (char *)"/dev/null", (char *)"--listen",
		listen, (char *)"--control", lab_path(lab, node, "control", control), NULL,
	};
	int pid;

	snprintf(listen, sizeof(listen), "127.0.0.1:%u", port);
	pid = node_start(lab, node, netns, "fabricweb", argv);
	if (pid >= 0)
		return OK;
	return fail("cannot start fabricweb of node %s: %s",
		    torus_node_text(&lab->shape, node, text), strerror(-pid));
}

int web_start(const struct lab *lab, uint16_t *port)
{
	int netns = netns_home(), status = OK;
	uint32_t next = WEB_PORT_FIRST;
	char path[PATH_MAX];

	if (netns < 0)
		return fail("cannot open the network namespace of this process: %s",
			    strerror(-netns));
	if (proc_find_program("fabricweb", path, sizeof(path)))
		status = web_find();
	for (uint32_t id = 0; status == OK && id < lab->nodes; id++) {
		while (next <= UINT16_MAX && !is_port_free((uint16_t)next))
			next++;
		if (next > UINT16_MAX) {
			status = fail("--web: no port of 127.0.0.1 is free");
			break;
		}
		port[id] = (uint16_t)next++;
		status = start_web(lab, id, netns, path, port[id]);
	}
	close(netns);
	return status;
}

char *web_url(uint16_t port, char *buf)
{
	snprintf(buf, LAB_TEXT_MAX, "http://127.0.0.1:%u/", port);
	return buf;
}
