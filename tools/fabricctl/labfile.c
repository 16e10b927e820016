// SPDX-License-Identifier: GPL-2.0-only
/* Reads and writes lab.json and the run directory of a lab. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kind.h"
#include "lab.h"
#include "output.h"

static const char *const state_names[LAB_STATES] = {
	[LAB_STARTING] = "starting",
	[LAB_UP] = "up",
	[LAB_GOING] = "going down",
};

static json_t *cuts_json(const struct lab *lab)
{
	json_t *list = json_array();
	char text[LAB_TEXT_MAX];

	for (uint32_t id = 0; id < lab->nodes; id++)
		for (unsigned int p = 0; p < 2u * lab->shape.ndims; p++)
			if (lab->cut[id] & 1 << p &&
			    (p < lab->shape.ndims || lab_is_swapped(lab, id, p)))
				json_array_append_new(list, json_string(
					lab_link_text(lab, id, p, text)));
	return list;
}

/* Return: the ends that are not plugged as planned, each with the end that it leads to. */
static json_t *joined_json(const struct lab *lab)
{
	char text[LAB_TEXT_MAX], other[LAB_TEXT_MAX];
	json_t *all = json_object();
	unsigned int peer_port;
	uint32_t peer;

	for (uint32_t id = 0; id < lab->nodes; id++)
		for (unsigned int p = 0; p < 2u * lab->shape.ndims; p++) {
			if (!lab_is_swapped(lab, id, p))
				continue;
			lab_peer(lab, id, p, &peer, &peer_port);
			json_object_set_new(all, lab_link_text(lab, id, p, text), json_string(
				lab_link_text(lab, peer, peer_port, other)));
		}
	return all;
}

static json_t *killed_json(const struct lab *lab)
{
	json_t *all = json_object();
	char text[TORUS_TEXT_MAX];

	for (uint32_t id = 0; id < lab->nodes; id++)
		if (lab->killed[id])
			json_object_set_new(all, torus_node_text(&lab->shape, id, text),
					    json_integer(lab->killed[id]));
	return all;
}

static json_t *replaced_json(const struct lab *lab)
{
	json_t *all = json_object();
	char text[TORUS_TEXT_MAX];

	for (uint32_t id = 0; id < lab->nodes; id++)
		if (lab->replaced[id])
			json_object_set_new(all, torus_node_text(&lab->shape, id, text),
					    json_integer(lab->replaced[id]));
	return all;
}

static json_t *names_json(const struct lab *lab)
{
	json_t *all = json_object();
	char text[TORUS_TEXT_MAX];

	for (uint32_t id = 0; id < lab->nodes; id++)
		if (lab->names[id])
			json_object_set_new(all, torus_node_text(&lab->shape, id, text),
					    json_string(lab->names[id]));
	return all;
}

static json_t *kernel_json(const struct lab *lab)
{
	json_t *list = json_array();
	char text[TORUS_TEXT_MAX];

	for (uint32_t id = 0; id < lab->nodes; id++)
		if (lab->kernel[id])
			json_array_append_new(list, json_string(
				torus_node_text(&lab->shape, id, text)));
	return list;
}

static json_t *sets_json(const struct lab *lab)
{
	json_t *list = json_array();

	for (int i = 0; lab->sets[i]; i++)
		json_array_append_new(list, json_string(lab->sets[i]));
	return list;
}

int lab_save(const struct lab *lab)
{
	char path[LAB_TEXT_MAX], fresh[LAB_TEXT_MAX], shape[TORUS_TEXT_MAX];
	char service[INET_ADDRSTRLEN], v4[TORUS_TEXT_MAX], v6[TORUS_TEXT_MAX];
	json_t *j;
	int err = 0;

	inet_ntop(AF_INET, &lab->service, service, sizeof(service));
	j = json_pack("{ss ss ss ss sb sb sb sb ss si ss si sf so so so so so so ss so}",
		      "name", lab->name, "address4", torus_plan_text4(&lab->plan, v4),
		      "address6", torus_plan_text6(&lab->plan, v6),
		      "shape", torus_shape_text(&lab->shape, shape),
		      "auto_shape", lab->auto_shape, "packed", lab->packed,
		      "bare", lab->bare, "tun", lab->tun,
		      "service", service, "service_bits", lab->service_bits,
		      "state", state_names[lab->state], "pid", lab->pid, "since", lab->since,
		      "joined", joined_json(lab), "cut", cuts_json(lab), "killed", killed_json(lab),
		      "replaced", replaced_json(lab), "names", names_json(lab), "kernel",
		      kernel_json(lab), "log_level", lab->log_level, "sets", sets_json(lab));
	if (!j)
		return -ENOMEM;
	lab_path(lab, TORUS_NO_NODE, "lab.json", path);
	lab_path(lab, TORUS_NO_NODE, "lab.json.new", fresh);
	if (json_dump_file(j, fresh, JSON_INDENT(1)) || rename(fresh, path))
		err = errno ? -errno : -EIO;
	json_decref(j);
	return err;
}

static int parse_kernel(struct lab *lab, json_t *kernel)
{
	struct torus_coords at;
	json_t *v;
	size_t i;

	json_array_foreach(kernel, i, v) {
		const char *text = json_string_value(v);

		if (!text || torus_coords_parse(text, &lab->shape, &at))
			return -EINVAL;
		lab->kernel[torus_node_id(&lab->shape, &at)] = true;
	}
	return 0;
}

static int parse_replaced(struct lab *lab, json_t *replaced)
{
	struct torus_coords at;
	const char *text;
	json_t *v;

	json_object_foreach(replaced, text, v) {
		json_int_t times = json_integer_value(v);

		if (torus_coords_parse(text, &lab->shape, &at) || times < 1 ||
		    times > LAB_REPLACED_MAX)
			return -EINVAL;
		lab->replaced[torus_node_id(&lab->shape, &at)] = (uint16_t)times;
	}
	return 0;
}

static int parse_names(struct lab *lab, json_t *names)
{
	struct torus_coords at;
	const char *text;
	json_t *v;

	json_object_foreach(names, text, v) {
		const char *name = json_string_value(v);
		int err;

		if (torus_coords_parse(text, &lab->shape, &at) || !name || !*name ||
		    strlen(name) > TORUS_NAME_MAX)
			return -EINVAL;
		err = lab_rename(lab, torus_node_id(&lab->shape, &at), name);
		if (err)
			return err;
	}
	return 0;
}

static int parse_joined(struct lab *lab, json_t *joined)
{
	unsigned int port, peer_port;
	const char *text, *other;
	uint32_t id, peer;
	json_t *v;

	json_object_foreach(joined, text, v) {
		other = json_string_value(v);
		if (!other || torus_link_parse(text, &lab->shape, &id, &port) ||
		    torus_link_parse(other, &lab->shape, &peer, &peer_port))
			return -EINVAL;
		lab_join(lab, id, port, peer, peer_port);
	}
	return 0;
}

static int parse_changes(struct lab *lab, json_t *cut, json_t *killed)
{
	const char *text;
	uint32_t id, peer;
	unsigned int port, peer_port;
	struct torus_coords at;
	json_t *v;
	size_t i;

	json_array_foreach(cut, i, v) {
		text = json_string_value(v);
		if (!text || torus_link_parse(text, &lab->shape, &id, &port))
			return -EINVAL;
		lab_peer(lab, id, port, &peer, &peer_port);
		lab->cut[id] |= (uint16_t)(1 << port);
		lab->cut[peer] |= (uint16_t)(1 << peer_port);
	}
	json_object_foreach(killed, text, v) {
		if (torus_coords_parse(text, &lab->shape, &at))
			return -EINVAL;
		lab->killed[torus_node_id(&lab->shape, &at)] = (uint8_t)json_integer_value(v);
	}
	return 0;
}

static int parse_settings(struct lab *lab, const char *log_level, json_t *sets)
{
	json_t *v;
	size_t i;

	snprintf(lab->log_level, sizeof(lab->log_level), "%s", log_level);
	if (json_array_size(sets) > OPT_LIST_MAX)
		return -EINVAL;
	json_array_foreach(sets, i, v) {
		if (!json_is_string(v))
			return -EINVAL;
		lab->sets[i] = strdup(json_string_value(v));
		if (!lab->sets[i])
			return -ENOMEM;
	}
	return 0;
}

static int parse_lab(struct lab *lab, const char *name, json_t *j)
{
	const char *shape_text, *service, *state, *log_level, *v4 = NULL, *v6 = NULL;
	struct torus_shape shape;
	json_t *joined = NULL, *cut, *killed, *replaced = NULL, *names = NULL, *kernel, *sets;
	int auto_shape, packed, bare = false, tun, bits, pid, err;
	double since;

	if (json_unpack(j, "{s?s s?s ss sb sb s?b sb ss si ss si sF s?o so so s?o s?o so ss so}",
			"address4", &v4, "address6", &v6, "shape", &shape_text, "auto_shape",
			&auto_shape, "packed", &packed, "bare", &bare, "tun", &tun,
			"service", &service, "service_bits", &bits, "state", &state,
			"pid", &pid, "since", &since, "joined", &joined, "cut", &cut,
			"killed", &killed, "replaced", &replaced, "names", &names,
			"kernel", &kernel, "log_level", &log_level, "sets", &sets) ||
	    torus_shape_parse(shape_text, &shape) || torus_nodes(&shape) > LAB_NODES_MAX)
		return -EINVAL;
	err = lab_new(lab, name, &shape);
	if (err)
		return err;
	if ((v4 && torus_plan_parse4(v4, &lab->plan)) ||
	    (v6 && torus_plan_parse6(v6, &lab->plan))) {
		lab_free(lab);
		return -EINVAL;
	}
	lab->auto_shape = auto_shape;
	lab->packed = packed;
	lab->bare = bare;
	lab->tun = tun;
	lab->service_bits = (unsigned int)bits;
	lab->pid = pid;
	lab->since = since;
	while (lab->state < LAB_STATES && strcmp(state, state_names[lab->state]))
		lab->state++;
	if (lab->state < LAB_STATES && inet_pton(AF_INET, service, &lab->service) == 1)
		err = parse_joined(lab, joined);
	else
		err = -EINVAL;
	if (!err)
		err = parse_changes(lab, cut, killed);
	if (!err)
		err = parse_replaced(lab, replaced);
	if (!err)
		err = parse_names(lab, names);
	if (!err)
		err = parse_kernel(lab, kernel);
	if (!err)
		err = parse_settings(lab, log_level, sets);
	if (err)
		lab_free(lab);
	return err;
}

int lab_load(struct lab *lab, const char *name)
{
	char path[PATH_MAX];
	json_t *j;
	int err;

	*lab = (struct lab) { .lock = -1 };
	snprintf(lab->name, sizeof(lab->name), "%s", name);
	snprintf(path, sizeof(path), LAB_RUN "/%s/lab.json", name);
	if (access(path, R_OK))
		return -errno;
	j = json_load_file(path, 0, NULL);
	if (!j)
		return -EINVAL;
	err = parse_lab(lab, name, j);
	json_decref(j);
	return err;
}

/* Return: 0, -EWOULDBLOCK, ... */
static int lock_lab(struct lab *lab, enum lab_lock lock)
{
	char path[LAB_TEXT_MAX];

	if (lock == LAB_READ)
		return 0;
	if (lab->lock < 0)
		lab->lock = open(lab_path(lab, TORUS_NO_NODE, "", path),
				 O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lab->lock < 0)
		return -errno;
	if (flock(lab->lock, (lock == LAB_ALONE ? LOCK_EX : LOCK_SH) | LOCK_NB))
		return -errno;
	return 0;
}

bool lab_busy(const char *name)
{
	struct lab lab = { .lock = -1 };
	int err;

	snprintf(lab.name, sizeof(lab.name), "%s", name);
	err = lock_lab(&lab, LAB_ALONE);
	if (lab.lock >= 0)
		close(lab.lock);
	return err == -EWOULDBLOCK;
}

int lab_create(struct lab *lab)
{
	char path[LAB_TEXT_MAX];
	int err;

	if (mkdir(LAB_RUN, 0755) && errno != EEXIST)
		return -errno;
	if (mkdir(lab_path(lab, TORUS_NO_NODE, "", path), 0755))
		return -errno;
	err = lock_lab(lab, LAB_ALONE);
	return err ? err : lab_save(lab);
}

int lab_each(int (*fn)(const char *name, void *arg), void *arg)
{
	DIR *dir = opendir(LAB_RUN);
	struct dirent *e;
	int err = 0;

	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while (!err && (e = readdir(dir)) != NULL) {
		char path[PATH_MAX];

		if (e->d_name[0] == '.' || strlen(e->d_name) > LAB_NAME_MAX)
			continue;
		snprintf(path, sizeof(path), LAB_RUN "/%s/lab.json", e->d_name);
		if (!access(path, F_OK))
			err = fn(e->d_name, arg);
	}
	closedir(dir);
	return err;
}

struct only {
	char name[LAB_NAME_MAX + 1];
	char all[256];
	unsigned int n;
};

static int count_lab(const char *name, void *arg)
{
	struct only *only = arg;
	size_t len = strlen(only->all);

	snprintf(only->all + len, sizeof(only->all) - len, "%s%s", len ? ", " : "", name);
	snprintf(only->name, sizeof(only->name), "%.*s", LAB_NAME_MAX, name);
	only->n++;
	return 0;
}

static int refuse_lab(const struct lab *lab)
{
	bool alive = lab->pid > 0 && !access(LAB_RUN, F_OK);
	char proc[64];

	snprintf(proc, sizeof(proc), "/proc/%d", lab->pid);
	alive = alive && !access(proc, F_OK);
	if (lab->state == LAB_STARTING && alive)
		return fail("lab '%s' is still coming up (process %d)", lab->name, lab->pid);
	return fail("lab '%s' is half-dead: it was left %s; "
		    "'fabricctl lab down --lab %s' clears it away", lab->name,
		    state_names[lab->state], lab->name);
}

int lab_open(struct lab *lab, const char *name, enum lab_lock lock)
{
	struct only only = { 0 };
	int err;

	*lab = (struct lab) { .lock = -1 };
	if (!name || !*name)
		name = getenv("TORUS_LAB");
	if (!name || !*name) {
		lab_each(count_lab, &only);
		if (!only.n)
			return fail_as(UNREACHABLE,
				       "no lab is up; 'fabricctl lab up 4x4' raises one");
		if (only.n > 1)
			return fail("there are %u labs: %s; choose one with --lab",
				    only.n, only.all);
		name = only.name;
	}
	if (lab_name_check(name))
		return CANNOT;
	err = lab_load(lab, name);
	if (err == -ENOENT)
		return fail("there is no lab '%s'; 'fabricctl lab list' shows them", name);
	if (err && kind_of_errno(err) == DENIED)
		return fail_as(DENIED, "lab '%s': lab.json: %s; run it with sudo", name,
			       strerror(-err));
	if (err)
		return fail_as(PROBLEM,
			       "lab '%s' is damaged (lab.json: %s); 'fabricctl lab down --lab %s' "
			       "clears it away",
			       name, strerror(-err), name);
	if (lock == LAB_READ)
		return OK;
	if (lab->state != LAB_UP) {
		refuse_lab(lab);
		lab_free(lab);
		return PROBLEM;
	}
	err = lock_lab(lab, lock);
	if (err)
		fail("lab '%s': %s", name, err == -EWOULDBLOCK ?
		     "another fabricctl changes it right now; try again" : strerror(-err));
	if (err)
		lab_free(lab);
	return err ? PROBLEM : OK;
}
