/* SPDX-License-Identifier: GPL-2.0-only */
/* The configuration file; fabricd.conf(5) describes it. */
#ifndef CONFIG_H
#define CONFIG_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>
#include "daemon/fm/fm.h"
#include "daemon/quality.h"

#define CONFIG_PATH	"/etc/fabricd.conf"
#define CONFIG_SIZE_MAX	65536
#define CONFIG_PATH_MAX	108		/* size of sun_path, with NUL */
#define CONFIG_KEYS	40		/* upper limit of the number of keys */
#define CONFIG_TEXT_MAX	128		/* bytes of a value as text, with NUL */

/**
 * struct config - the configuration
 * @fm: the part of the state machine (daemon/fm): names, service address, shape, fan-out, times
 * @device: "auto", "unix:PATH" or "genl:NAME"
 * @key_file: the shared key
 * @control: path of the control socket
 * @state_dir: directory of the table; "": the directory that systemd names; "none": the table is
 *	not kept
 * @network: service_network, in which @fm.address was found; "": the file sets service_address
 * @port: the port of @fm.address
 * @loopback: true if service_address may be a loopback address
 * @history: true if events are kept in files below @state_dir; @history_bytes: most bytes of these
 *	files
 * @arbiter: path of the arbiter's program; "": there is no arbiter, and @fm.arbiter is false
 * @arbiter_max: time that the arbiter has for an answer, ns
 * @control_group: name of the group, whose id is @control_gid; "": none
 * @job_group: likewise, of the users who may start jobs; its id is @job_gid
 * @stall_max: how long a link waits for credits before it is taken down, ns; 0: without limit
 * @quality: rules by which a link is bad; @out_of_service: most links that the root excludes
 *	because they are bad; 0: it excludes no links
 * @round_trip_max: a link whose round trip is longer may be slow (slow.h), ns; 0: none is
 * @level: log level
 * @line: for each key, the number of the line that sets it; 0: no line sets it
 */
struct config {
	struct fm_config fm;
	char device[CONFIG_PATH_MAX + 8];
	char key_file[CONFIG_PATH_MAX];
	char control[CONFIG_PATH_MAX];
	char state_dir[CONFIG_PATH_MAX];
	char network[CONFIG_PATH_MAX];
	unsigned int port;
	bool history;
	bool loopback;
	uint64_t history_bytes;
	char arbiter[CONFIG_PATH_MAX];
	uint64_t arbiter_max;
	char control_group[64];
	gid_t control_gid;
	char job_group[64];
	gid_t job_gid;
	uint64_t stall_max;
	struct quality_rules quality;
	uint64_t round_trip_max;
	unsigned int out_of_service;
	enum fm_level level;
	unsigned int line[CONFIG_KEYS];
};

/** config_complain - called for each error; @line 0: the error concerns the whole file */
typedef void config_complain(void *arg, unsigned int line, const char *text);

/** config_default() - set the defaults */
void config_default(struct config *c);

/**
 * config_parse() - read a configuration from memory
 * @c: contains the defaults before the call, and the configuration after it
 * Return: 0; -EADDRNOTAVAIL if the only complaint was that this host has no address in
 *	service_network (yet); else -EINVAL after at least one complaint.
 */
int config_parse(struct config *c, const char *text, size_t len,
		 config_complain *complain, void *arg);

/** config_load() - set the defaults, and read the file @path. Return: 0 or a negative errno. */
int config_load(struct config *c, const char *path, config_complain *complain, void *arg);

/**
 * config_reload() - copy from @now the keys that may change at run time: log level and address plan
 */
void config_reload(struct config *c, const struct config *now);

/**
 * config_state_dir() - Return: the directory of the state file and the history; NULL if there is
 * none
 */
const char *config_state_dir(const struct config *c);

/** enum config_source - where a value comes from */
enum config_source {
	CONFIG_DEFAULT,
	CONFIG_FILE,
	CONFIG_ENVIRONMENT,	/* $STATE_DIRECTORY */
	CONFIG_NETWORK,		/* service_address was found by service_network */
};

/**
 * struct config_value - the value of a key that is in force
 * @section: "" or "timers"
 * @text: as it would be in the file
 * @line: line in the file, if @source is CONFIG_FILE
 */
struct config_value {
	const char *section, *name;
	char text[CONFIG_TEXT_MAX];
	enum config_source source;
	unsigned int line;
};

/** config_value() - get the value of the key number @i. Return: false if there are fewer keys */
bool config_value(const struct config *c, unsigned int i, struct config_value *v);

#endif /* CONFIG_H */
