// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <ini.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <torus/topology.h>

#include "nicfile.h"
#include "number.h"
#include "say.h"

#define MTU_MIN 1072		/* a frame takes the largest packet, of the least payload_max */
#define LINE_MAX_BYTES 199	/* what inih's buffer holds */

/**
 * struct reading - a file being read
 * @seen: line of each key, of keys[] first, then of each port
 * @lower: by the port's number in a NIC of all dimensions: how many this one has may
 *	stand further down
 */
struct reading {
	struct nicfile *f;
	FILE *from;
	const char *path;
	unsigned int line;
	unsigned int seen[16 + TORUS_MAX_PORTS];
	char lower[TORUS_MAX_PORTS][IFNAMSIZ];
	bool bad;
};

static void __attribute__((format(printf, 3, 4)))
complain(struct reading *r, unsigned int line, const char *fmt, ...)
{
	char text[384];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	r->bad = true;
	if (line)
		warn("%s:%u: %s", r->path, line, text);
	else
		warn("%s: %s", r->path, text);
}

/* --- keys: each returns 0, or anything else if the value is not allowed ------ */

static int set_ports(struct nicfile *f, const char *value)
{
	uint64_t n;

	if (number_parse(value, 2, TORUS_MAX_PORTS, &n) || n % 2)
		return -EINVAL;
	f->spec.ports = (uint8_t)n;
	return 0;
}

static int set_bootstrap(struct nicfile *f, const char *value)
{
	f->spec.bootstrap = !strcmp(value, "yes");
	return !f->spec.bootstrap && strcmp(value, "no");
}

static int set_guid(struct nicfile *f, const char *value)
{
	return hex_parse(value, &f->spec.guid);
}

static int set_name(struct nicfile *f, const char *value)
{
	if (!*value || strlen(value) >= sizeof(f->name))
		return -EINVAL;
	memcpy(f->name, value, strlen(value) + 1);
	return 0;
}

static int set_mtu(struct nicfile *f, const char *value)
{
	uint64_t n;

	if (number_parse(value, MTU_MIN, 65535, &n))
		return -EINVAL;
	f->mtu = (uint32_t)n;
	return 0;
}

static const struct {
	const char *name;
	int (*set)(struct nicfile *f, const char *value);
	const char *allowed;
} keys[] = {
	{ "ports", set_ports, "an even number from 2 to 12, two for each dimension" },
	{ "bootstrap", set_bootstrap, "yes or no" },
	{ "guid", set_guid, "1 to 16 hexadecimal digits, not 0" },
	{ "name", set_name, "1 to 63 bytes" },
	{ "mtu", set_mtu, "1072 to 65535" },
};

#define NKEYS (sizeof(keys) / sizeof(keys[0]))

/* Return: is it a port? */
static bool on_port(struct reading *r, const char *name, const char *value)
{
	unsigned int port;

	if (torus_port_parse(name, TORUS_MAX_DIMS, &port))
		return false;
	if (r->seen[NKEYS + port])
		complain(r, r->line, "'%s' is given twice, first in line %u", name,
			 r->seen[NKEYS + port]);
	else if (!*value || strlen(value) >= IFNAMSIZ || strchr(value, '/'))
		complain(r, r->line, "%s is '%s', allowed: the name of an Ethernet device", name,
			 value);
	else
		memcpy(r->lower[port], value, strlen(value) + 1);
	r->seen[NKEYS + port] = r->line;
	return true;
}

static bool given(const struct nicfile *f, const struct param *p)
{
	size_t n = strlen(p->name);

	for (unsigned int i = 0; f->sets[i]; i++)
		if (!strncmp(f->sets[i], p->name, n) && f->sets[i][n] == '=')
			return true;
	return false;
}

/* Return: is it a parameter? */
static bool on_param(struct reading *r, const char *name, const char *value)
{
	const struct param *p = param_find(name, strlen(name));
	struct nicfile *f = r->f;
	char why[PARAM_WHY_MAX];
	unsigned int n = 0;
	uint64_t v;

	if (!p)
		return false;
	if (given(f, p)) {
		complain(r, r->line, "'%s' is given twice", name);
		return true;
	}
	while (f->sets[n])
		n++;
	if (snprintf(f->set[n], sizeof(f->set[n]), "%s=%s", name, value) >=
	    (int)sizeof(f->set[n]) || !param_parse(f->set[n], &v, why, sizeof(why)))
		complain(r, r->line, "%s is '%s', allowed: %s, %" PRIu64 " to %" PRIu64 "%s", name,
			 value, param_allowed(p), p->min, p->max,
			 p->unit == PARAM_TIME ? " ns" : "");
	else
		f->sets[n] = f->set[n];
	return true;
}

static int on_key(void *arg, const char *section, const char *name, const char *value)
{
	struct reading *r = arg;

	if (*section) {
		complain(r, r->line, "unknown section [%s]; there are none", section);
		return 1;
	}
	for (unsigned int i = 0; i < NKEYS; i++) {
		if (strcmp(name, keys[i].name))
			continue;
		if (r->seen[i])
			complain(r, r->line, "'%s' is given twice, first in line %u", name,
				 r->seen[i]);
		else if (keys[i].set(r->f, value))
			complain(r, r->line, "%s is '%s', allowed: %s", name, value,
				 keys[i].allowed);
		r->seen[i] = r->line;
		return 1;
	}
	if (!on_port(r, name, value) && !on_param(r, name, value))
		complain(r, r->line, "unknown key '%s'; allowed: ports, bootstrap, guid, name, mtu, "
			 "ports +x -x +y ... -c, and parameters such as park_bytes", name);
	return 1;
}

/* inih would take the rest of a line too long for its buffer as another line. */
static char *next_line(char *buf, int room, void *arg)
{
	struct reading *r = arg;
	int c = 0, n = 0;

	while ((c = getc(r->from)) != EOF && c != '\n')
		if (n < room - 1)
			buf[n++] = (char)c;
		else
			n = room;
	if (c == EOF && !n)
		return NULL;
	r->line++;
	if (n == room)
		complain(r, r->line, "the line has more than %d bytes", LINE_MAX_BYTES);
	buf[n == room ? 0 : n] = '\0';
	return buf;
}

/* From the numbering of a NIC of all dimensions to that of this one. */
static void place_ports(struct reading *r)
{
	unsigned int ndims = r->f->spec.ports / 2u;
	char text[TORUS_TEXT_MAX];

	for (unsigned int p = 0; p < TORUS_MAX_PORTS; p++) {
		unsigned int dim = p % TORUS_MAX_DIMS;
		bool minus = p >= TORUS_MAX_DIMS;

		if (!*r->lower[p])
			continue;
		if (dim >= ndims) {
			complain(r, r->seen[NKEYS + p], "a NIC of %u ports has no port %s",
				 r->f->spec.ports, torus_port_text(TORUS_MAX_DIMS, p, text));
			continue;
		}
		memcpy(r->f->lower[minus ? ndims + dim : dim], r->lower[p], IFNAMSIZ);
	}
}

/* One cable cannot be in two ports. */
static void compare_ports(struct reading *r)
{
	for (unsigned int a = 0; a < TORUS_MAX_PORTS; a++)
		for (unsigned int b = 0; b < TORUS_MAX_PORTS; b++)
			if (*r->lower[b] && r->seen[NKEYS + a] < r->seen[NKEYS + b] &&
			    !strcmp(r->lower[a], r->lower[b]))
				complain(r, r->seen[NKEYS + b], "'%s' is in another port, line %u",
					 r->lower[b], r->seen[NKEYS + a]);
}

int nicfile_read(struct nicfile *f, const char *path, const char *ifname)
{
	struct reading r = { .f = f, .path = path };
	int err;

	memset(f, 0, sizeof(*f));
	f->spec.ifname = ifname;
	f->spec.ports = DEVICE_PORTS;
	f->spec.sets = f->sets;
	f->mtu = NICFILE_MTU;
	r.from = fopen(path, "re");
	if (!r.from)
		return fail("%s: %m", path);
	ini_allow_multiline = false;
	err = ini_parse_stream(next_line, &r, on_key, &r);
	if (ferror(r.from))
		complain(&r, 0, "cannot be read");
	fclose(r.from);
	if (err > 0 && !r.bad)
		complain(&r, (unsigned int)err,
			 "not understood; allowed: 'key = value', '# comment'");
	else if (err < 0)
		complain(&r, 0, "out of memory");
	place_ports(&r);
	compare_ports(&r);
	if (*f->name)
		f->spec.name = f->name;
	return r.bad ? CANNOT : OK;
}
