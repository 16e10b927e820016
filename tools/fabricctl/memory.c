// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/rma.h>

#include "kind.h"
#include "memory.h"
#include "output.h"

#define ACCESSES 4

static const char *const accesses[ACCESSES] = { "read", "write", "amo", "fe" };

char *access_text(unsigned int access, char buf[ACCESS_TEXT_MAX])
{
	size_t n = 0;

	snprintf(buf, ACCESS_TEXT_MAX, "-");
	for (unsigned int i = 0; i < ACCESSES; i++)
		if (access & 1u << i)
			n += (size_t)snprintf(buf + n, ACCESS_TEXT_MAX - n, "%s%s", n ? "," : "",
					      accesses[i]);
	return buf;
}

json_t *access_json(unsigned int access)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < ACCESSES; i++)
		if (access & 1u << i)
			json_array_append_new(list, json_string(accesses[i]));
	return list;
}

int memory_fail(const char *where, int err)
{
	bool none = err == -ENODEV && !where && !getenv("TORUS_RMA");

	return fail_as(kind_of_errno(err), "%s%s", torus_rma_error(NULL),
		       none ? "; in a lab, 'fabricctl lab exec NODE -- fabricctl ...' asks a node" :
			      "");
}
