// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as a configuration: an error is reported, or all values are within limits. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void ignore_error(void *arg, unsigned int line, const char *text)
{
	unsigned int *n = arg;

	(void)line;
	*n += strlen(text) > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	unsigned int complaints = 0;
	struct config c;
	int err;

	config_default(&c);
	err = config_parse(&c, (const char *)data, len, ignore_error, &complaints);
	if (!err != !complaints)
		abort();
	if (err)
		return 0;
	if (c.fm.fanout < 1 || c.fm.fanout > 64 || !c.fm.fabric[0] || !c.fm.name[0] ||
	    c.fm.shape.ndims > TORUS_MAX_DIMS || c.key_file[0] != '/' || c.control[0] != '/')
		abort();
	return 0;
}
