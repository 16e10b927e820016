// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as a file that users write: of a NIC, of a trace. Accepted values are within limits. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/fabricctl/command.h"
#include "tools/fabricctl/nicfile.h"
#include "tools/fabricctl/output.h"
#include "tools/fabricsim/flow_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static unsigned int reported;

/* Replaces output.c: errors of a file are formatted, but not printed. */
static void format_only(const char *fmt, va_list ap)
{
	char text[512];

	if (vsnprintf(text, sizeof(text), fmt, ap) <= 0)
		abort();
	reported++;
}

int fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	format_only(fmt, ap);
	va_end(ap);
	return CANNOT;
}

void warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	format_only(fmt, ap);
	va_end(ap);
}

static void must(bool yes)
{
	if (!yes)
		abort();
}

static void nic(const char *path)
{
	char why[PARAM_WHY_MAX];
	struct nicfile f;
	uint64_t v;

	reported = 0;
	if (nicfile_read(&f, path, "torus0") != OK) {
		must(reported > 0);
		return;
	}
	must(!reported && f.spec.ports <= TORUS_MAX_PORTS && f.spec.ports % 2 == 0 && f.mtu >= 1072);
	for (unsigned int p = 0; p < TORUS_MAX_PORTS; p++)
		must(strnlen(f.lower[p], IFNAMSIZ) < IFNAMSIZ);
	for (const char *const *s = f.spec.sets; s && *s; s++)
		must(param_parse(*s, &v, why, sizeof(why)) != NULL);
}

static void trace(const char *path)
{
	static const struct torus_shape shape = { 3, { 4, 3, 2, 1, 1, 1 } };
	struct flow_trace t;

	reported = 0;
	if (flow_trace_read(path, &shape, &t) != OK) {
		must(reported > 0);
		return;
	}
	must(!reported && t.n > 0);
	for (size_t i = 0; i < t.n; i++)
		must(t.entry[i].src < 24 && t.entry[i].dst < 24 &&
		     t.entry[i].src != t.entry[i].dst &&
		     (!i || t.entry[i - 1].time <= t.entry[i].time));
	free(t.entry);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static int fd = -1;
	char path[32];

	if (fd < 0)
		fd = memfd_create("fuzz", 0);
	must(fd >= 0 && !ftruncate(fd, 0) && pwrite(fd, data, len, 0) == (ssize_t)len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	nic(path);
	trace(path);
	return 0;
}
