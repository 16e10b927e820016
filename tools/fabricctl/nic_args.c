// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <torus/topology.h>
#include <unistd.h>

#include "nic.h"
#include "nic_args.h"

void args_push(struct args *a, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (a->n < ARGS_MAX - 1 && vasprintf(&a->arg[a->n], fmt, ap) >= 0)
		a->n++;
	va_end(ap);
	a->arg[a->n] = NULL;
}

static void push_ports(const struct lab *lab, uint32_t node, struct args *a)
{
	char text[TORUS_TEXT_MAX], lower[IFNAMSIZ];

	for (unsigned int port = 0; port < 2u * lab->shape.ndims; port++) {
		if (!lab_cable(lab, port))
			continue;
		args_push(a, "--port");
		args_push(a, "%s=%s", torus_port_text(lab->shape.ndims, port, text),
		     nic_cable(lab, node, port, lower));
	}
}

void args_push_nic(struct args *a, const struct lab *lab, uint32_t node)
{
	char text[LAB_TEXT_MAX];

	args_push(a, "--name");
	args_push(a, "%s", lab_host(lab, node, text));
	args_push(a, "--ports");
	args_push(a, "%d", 2 * lab->shape.ndims);
	args_push(a, "--socket");
	args_push(a, "%s", lab_path(lab, node, "nic.sock", text));
	unlink(text);
	args_push(a, "--rma");
	args_push(a, "%s", lab_path(lab, node, "rma.sock", text));
	unlink(text);
	args_push(a, "--guid");
	args_push(a, "%016" PRIx64, lab_guid(lab, node));
	if (node == 0)
		args_push(a, "--bootstrap");
	push_ports(lab, node, a);
	for (int i = 0; lab->sets[i]; i++) {
		args_push(a, "--set");
		args_push(a, "%s", lab->sets[i]);
	}
}

void args_free(struct args *a)
{
	while (a->n)
		free(a->arg[--a->n]);
}
