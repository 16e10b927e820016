// SPDX-License-Identifier: GPL-2.0-only
/* The manager and the NIC of asked.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/record.h"
#include "daemon/seal.h"
#include "tests/unit/asked.h"

const struct torus_shape asked_shape = { .ndims = 2, .size = { 3, 2, 1, 1, 1, 1 } };

__attribute__((format(printf, 1, 2)))
static void note(const char *fmt, ...)
{
	size_t n = strlen(a.did);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(a.did + n, sizeof(a.did) - n, fmt, ap);
	va_end(ap);
}

/* --- the manager --------------------------------------------------------------- */

static const char *const node_state[FM_NODE_STATES] = {
	"absent", "joining", "up", "silent", "dead",
};

const char *fm_state_name(unsigned int state)
{
	static const char *const name[FM_STATES] = {
		"bootstrapping", "running", "recovering", "degraded",
	};

	return name[state];
}

const char *fm_disk_name(unsigned int disk)
{
	static char name[16];

	snprintf(name, sizeof(name), "disk %u", disk);
	return disk ? name : NULL;
}

const char *fm_verdict_name(unsigned int verdict)
{
	static const char *const name[FM_VERDICTS] = { "unknown", "granted", "refused" };

	return name[verdict];
}

const char *fm_root_state_name(unsigned int state)
{
	static const char *const name[FM_ROOT_STATES] = { "unknown", "leads", "lost", "asks", "claims" };

	return name[state];
}

bool fm_candidate(const struct fm *fm, uint32_t *i, struct fm_candidate_status *out)
{
	(void)fm;
	if (*i >= a.ncandidates)
		return false;
	*out = a.candidate[(*i)++];
	return true;
}

const char *fm_node_state_name(unsigned int state)
{
	return node_state[state];
}

void fm_status(const struct fm *fm, struct fm_status *out)
{
	(void)fm;
	*out = a.status;
}

void fm_outline(const struct fm *fm, struct fm_outline *out)
{
	(void)fm;
	*out = a.outline;
	out->own = a.own;
}

bool fm_is_root(const struct fm *fm)
{
	(void)fm;
	return a.root;
}

bool fm_in_force(const struct fm *fm, uint64_t version)
{
	(void)fm;
	(void)version;
	return !a.pending;
}

bool fm_kept_count(const struct fm *fm, struct fm_kept_count *out)
{
	(void)fm;
	*out = a.kept;
	return a.root;
}

bool fm_reachable(const struct fm *fm)
{
	(void)fm;
	return true;
}

uint32_t fm_own(const struct fm *fm)
{
	(void)fm;
	return a.own;
}

const struct torus_shape *fm_shape(const struct fm *fm)
{
	(void)fm;
	return &asked_shape;
}

uint64_t fm_version(const struct fm *fm)
{
	(void)fm;
	return 119;
}

uint64_t fm_applied(const struct fm *fm)
{
	(void)fm;
	return 118;
}

const struct fm_problem *fm_problem(const struct fm *fm, unsigned int i)
{
	static const struct fm_problem problem[] = {
		{ "wiring", "a cable is wrong" }, { "name", "two have one name" },
	};

	(void)fm;
	return i < 2 ? &problem[i] : NULL;
}

const struct fm_entry *fm_node(const struct fm *fm, uint32_t node)
{
	(void)fm;
	return node < NODES ? &a.entry[node] : NULL;
}

uint32_t fm_node_parent(const struct fm *fm, uint32_t node)
{
	(void)fm;
	return node == OWN ? TORUS_NO_NODE : node + 1;
}

uint32_t fm_node_by_name(const struct fm *fm, const char *name)
{
	(void)fm;
	for (uint32_t i = 0; i < NODES; i++)
		if (!strcmp(a.entry[i].name, name))
			return i;
	return TORUS_NO_NODE;
}

bool fm_joiner(const struct fm *fm, unsigned int i, struct fm_joiner *out)
{
	(void)fm;
	*out = i ? (struct fm_joiner){ .name = "" } :
		   (struct fm_joiner){ "new", "192.168.0.9:9", 0x900 };
	return i < 2;
}

const char *fm_excluded(const struct fm *fm, uint32_t node, unsigned int port)
{
	static const char *const why[PORTS] = { "admin", "wiring", NULL, "held" };

	(void)fm;
	return node == OWN ? why[port] : "fault";
}

bool fm_held(const struct fm *fm, unsigned int i, uint64_t now, struct fm_hold *out)
{
	(void)fm;
	if (!a.root || i >= a.nholds || now != NOW)
		return false;
	*out = a.hold[i];
	return true;
}

int machine_event(struct fabricd *d, const struct record_event *e)
{
	(void)d;
	if (e->kind == RECORD_MOVE)
		note("move %u at %llu\n", e->move, (unsigned long long)(e->now / LOOP_S));
	else
		note("%s %u %d at %llu\n", e->kind != RECORD_EXCLUDE ? "?" :
	     e->exclude.on ? "exclude" : "include", e->exclude.node, e->exclude.port,
	     (unsigned long long)(e->now / LOOP_S));
	return a.change_error;
}

const char *fabricd_refused_text(const struct fabricd *d, char *buf, size_t room)
{
	(void)d;
	snprintf(buf, room, "no seal");
	return buf;
}

const struct seal_counts *seal_counts(const struct seal *s)
{
	static const struct seal_counts counts = { .refused = 136, .late = 137 };

	assert_ptr_equal(s, &a);
	return &counts;
}

void fabricd_event(struct fabricd *d, double time, const char *node, enum fm_level level,
		   const char *kind, const char *text)
{
	(void)d;
	note("event %.1f '%s' %u %s: %s\n", time, node, level, kind, text);
}

/* --- the NIC ------------------------------------------------------------------- */

struct torus_dev *nic_dev(const struct nic *nic)
{
	(void)nic;
	return a.no_nic ? NULL : (struct torus_dev *)&a;
}

int nic_check(struct nic *nic, int err)
{
	(void)nic;
	return err;
}

const char *torus_error(const struct torus_dev *dev)
{
	(void)dev;
	return "the NIC refuses";
}

int torus_links_get(struct torus_dev *dev, struct torus_link *out, unsigned int *n)
{
	(void)dev;
	assert_true(*n >= PORTS);
	memcpy(out, a.link, sizeof(a.link));
	*n = PORTS;
	return a.nic_error;
}

/* Only a timer asks for this, and none goes off. */
void nic_links_get(struct nic *nic)
{
	(void)nic;
	fail_msg("the loop asks the NIC for its links");
}

int torus_device_get(struct torus_dev *dev, struct torus_device *out)
{
	(void)dev;
	*out = (struct torus_device){ .placed = a.own != TORUS_NO_NODE, .node = OWN,
				      .root_epoch = a.root_epoch, .root_guid = 242 };
	for (unsigned int i = 0; i < TORUS_NC_COUNT; i++)
		out->counter[i] = 2000 + i;
	return a.nic_error;
}

int torus_flow_get(struct torus_dev *dev, struct torus_flow *out)
{
	(void)dev;
	for (unsigned int i = 0; i < TORUS_FC_COUNT; i++)
		for (unsigned int c = 0; c < TORUS_COLOURS; c++)
			out->counter[i][c] = 3000 + 10 * i + c;
	return a.nic_error;
}

int torus_park_get(struct torus_dev *dev, struct torus_park *out)
{
	(void)dev;
	*out = (struct torus_park){ .parked = 151, .unresolved = 152, .bytes = 153,
				    .bytes_max = 154, .held = 155 };
	return a.nic_error;
}

int torus_root_set(struct torus_dev *dev, uint64_t epoch, uint64_t guid)
{
	(void)dev;
	note("root %llu %llu\n", (unsigned long long)epoch, (unsigned long long)guid);
	return a.nic_error;
}

int torus_park_replay(struct torus_dev *dev, uint64_t version, uint16_t ports)
{
	(void)dev;
	note("replay %llu %u\n", (unsigned long long)version, ports);
	return a.nic_error;
}

int torus_eye_get(struct torus_dev *dev, unsigned int port, unsigned int lane,
		  struct torus_eye *out)
{
	(void)dev;
	*out = (struct torus_eye){ .swing = 161, .mask_height = 162, .mask_width = 163 };
	for (unsigned int r = 0; r < TORUS_EYE_ROWS; r++)
		for (unsigned int c = 0; c < TORUS_EYE_COLS; c++)
			out->map[r][c] = (uint8_t)(7 * r + c);
	note("eye %u %u\n", port, lane);
	return a.nic_error;
}

int torus_admin_set(struct torus_dev *dev, unsigned int port, bool up)
{
	(void)dev;
	note("port %u %s\n", port, up ? "up" : "down");
	return a.nic_error;
}

int torus_retrain(struct torus_dev *dev, unsigned int port)
{
	(void)dev;
	note("retrain %u\n", port);
	return a.nic_error;
}

int nic_rows_read(struct nic *nic, uint64_t **rows, uint32_t *n, uint64_t *version)
{
	(void)nic;
	if (a.nic_error)
		return a.nic_error;
	*rows = malloc(3 * sizeof(**rows));
	assert_non_null(*rows);
	(*rows)[0] = 0x0123456789abcdef;
	(*rows)[1] = 2;
	(*rows)[2] = ~0ULL << 4;
	*n = 3;
	*version = 141;
	return 0;
}
