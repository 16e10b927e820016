// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <torus/topology.h>

#include "lib/util/inifile.h"
#include "nicfile.h"
#include "number.h"
#include "output.h"

#define MTU_MIN 1072		/* a frame must have room for the largest packet with the
				 * smallest payload_max */
#define FILE_MAX 65536

/**
 * struct reading - state of reading a file
 * @seen: line of each key: first the keys in keys[], then the keys of ports
 * @set_line: line of each parameter
 * @lower: device of each port, numbered as in a NIC of all dimensions, because the key "ports" may
 *	follow later in the file
 */
struct reading {
	struct nicfile *f;
	struct inifile file;
	const char *path;
	unsigned int seen[16 + TORUS_MAX_PORTS];
	unsigned int set_line[TN_PARAMS];
	char lower[TORUS_MAX_PORTS][IFNAMSIZ];
};

static void warn_line(void *arg, unsigned int line, const char *text)
{
	const struct reading *r = arg;

	if (line)
		warn("%s:%u: %s", r->path, line, text);
	else
		warn("%s: %s", r->path, text);
}

/* --- keys: each function returns 0 if the value is allowed ------------------- */

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

/* Handles a key that is the name of a port. Return: false if the key is not a port. */
static bool on_port(struct reading *r, const char *name, const char *value)
{
	unsigned int port;

	if (torus_port_parse(name, TORUS_MAX_DIMS, &port))
		return false;
	if (r->seen[NKEYS + port])
		inifile_refuse(&r->file, r->file.line, "'%s' is given twice, first in line %u",
			       name, r->seen[NKEYS + port]);
	else if (!*value || strlen(value) >= IFNAMSIZ || strchr(value, '/'))
		inifile_refuse(&r->file, r->file.line,
			       "%s is '%s', must be the name of an Ethernet device", name, value);
	else
		memcpy(r->lower[port], value, strlen(value) + 1);
	r->seen[NKEYS + port] = r->file.line;
	return true;
}

static bool is_given(const struct nicfile *f, const struct tn_param *p)
{
	size_t n = strlen(p->name);

	for (unsigned int i = 0; f->sets[i]; i++)
		if (!strncmp(f->sets[i], p->name, n) && f->sets[i][n] == '=')
			return true;
	return false;
}

/* Handles a key that is the name of a parameter. Return: false if the key is not a parameter. */
static bool on_param(struct reading *r, const char *name, const char *value)
{
	const struct tn_param *p = param_find(name, strlen(name));
	struct nicfile *f = r->f;
	char why[PARAM_WHY_MAX], range[PARAM_RANGE_MAX];
	unsigned int n = 0;
	uint64_t v;

	if (!p)
		return false;
	if (is_given(f, p)) {
		inifile_refuse(&r->file, r->file.line, "'%s' is given twice", name);
		return true;
	}
	r->set_line[p - tn_param_list] = r->file.line;
	while (f->sets[n])
		n++;
	if (snprintf(f->set[n], sizeof(f->set[n]), "%s=%s", name, value) >=
	    (int)sizeof(f->set[n]) || !param_parse(f->set[n], &v, why, sizeof(why)))
		inifile_refuse(&r->file, r->file.line, "%s is '%s', must be %s%s", name, value,
			       param_allowed(p), param_range(p, range));
	else
		f->sets[n] = f->set[n];
	return true;
}

static void on_key(struct inifile *file, const char *section, const char *name,
		   const char *value)
{
	struct reading *r = file->arg;

	if (*section) {
		inifile_refuse(file, file->line, "unknown section [%s]; there are none", section);
		return;
	}
	for (unsigned int i = 0; i < NKEYS; i++) {
		if (strcmp(name, keys[i].name))
			continue;
		if (r->seen[i])
			inifile_refuse(file, file->line, "'%s' is given twice, first in line %u",
				       name, r->seen[i]);
		else if (keys[i].set(r->f, value))
			inifile_refuse(file, file->line, "%s is '%s', must be %s", name, value,
				       keys[i].allowed);
		r->seen[i] = file->line;
		return;
	}
	if (!on_port(r, name, value) && !on_param(r, name, value))
		inifile_refuse(file, file->line,
			       "unknown key '%s'; known: ports, bootstrap, guid, "
			       "name, mtu, ports +x -x +y ... -c, and parameters such as "
			       "park_bytes",
			       name);
}

/* Moves ports from the numbering of a NIC with all dimensions to the numbering of this NIC. */
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
			inifile_refuse(&r->file, r->seen[NKEYS + p],
				       "a NIC of %u ports has no port %s", r->f->spec.ports,
				       torus_port_text(TORUS_MAX_DIMS, p, text));
			continue;
		}
		memcpy(r->f->lower[minus ? ndims + dim : dim], r->lower[p], IFNAMSIZ);
	}
}

/* Refuses a device that is named for two ports. */
static void compare_ports(struct reading *r)
{
	for (unsigned int a = 0; a < TORUS_MAX_PORTS; a++)
		for (unsigned int b = 0; b < TORUS_MAX_PORTS; b++)
			if (*r->lower[b] && r->seen[NKEYS + a] < r->seen[NKEYS + b] &&
			    !strcmp(r->lower[a], r->lower[b]))
				inifile_refuse(&r->file, r->seen[NKEYS + b],
					       "'%s' is in another port, line %u", r->lower[b],
					       r->seen[NKEYS + a]);
}

/* Refuses a parameter that is too small for another one. */
static void refuse_contradictions(struct reading *r)
{
	char why[PARAM_WHY_MAX];
	const struct tn_param *p = params_compare(r->f->sets, why, sizeof(why));

	if (p)
		inifile_refuse(&r->file, r->set_line[p - tn_param_list], "%s", why);
}

int nicfile_read(struct nicfile *f, const char *path, const char *ifname)
{
	struct reading r = {
		.f = f,
		.path = path,
		.file = {
			.key = on_key, .complain = warn_line, .arg = &r,
			.forms = "'key = value', '# comment'",
		},
	};

	memset(f, 0, sizeof(*f));
	f->spec.ifname = ifname;
	f->spec.ports = DEVICE_PORTS;
	f->spec.sets = f->sets;
	f->mtu = NICFILE_MTU;
	if (inifile_load(&r.file, path, FILE_MAX))
		return CANNOT;
	place_ports(&r);
	compare_ports(&r);
	refuse_contradictions(&r);
	if (*f->name)
		f->spec.name = f->name;
	return r.file.refused ? CANNOT : OK;
}

bool nicfile_differs(const struct nicfile *f, unsigned int i, uint64_t is, uint64_t *wanted)
{
	char why[PARAM_WHY_MAX];
	uint64_t v;

	for (unsigned int k = 0; f->sets[k]; k++) {
		if (param_parse(f->sets[k], &v, why, sizeof(why)) != &tn_param_list[i])
			continue;
		*wanted = v;
		return is != UINT64_MAX && is != v;
	}
	return false;
}
