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
#define CONFIG_PATH_MAX	108		/* sun_path, with NUL */
#define CONFIG_KEYS	40		/* at most */
#define CONFIG_TEXT_MAX	128		/* bytes of a value as text, with NUL */

/**
 * struct config - the configuration
 * @fm: the part of the state machine (daemon/fm): names, service address, shape, fan-out, times
 * @device: "auto", "unix:PATH" or "genl:NAME"
 * @key_file: the shared key
 * @control: path of the control socket
 * @state_dir: directory of the table; "": the one that systemd names; "none": it is not kept
 * @network: service_network, in which @fm.address was found; "": the file gives the address
 * @port: the port of @fm.address
 * @loopback: service_address may be a loopback address
 * @history: events are kept in @state_dir, too, in at most @history_bytes
 * @arbiter: path of the program; "": none, and @fm.arbiter is false
 * @arbiter_max: time that the arbiter has for an answer, ns
 * @control_group: name of the group, whose id is @control_gid; "": none
 * @stall_max: how long a link waits for credits before it is taken down, ns; 0: for ever
 * @quality: when a link is bad; @out_of_service: so many of them at most are excluded; 0: none
 * @level: log level
 * @line: line of each key in the file; 0: the file does not have it
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
	uint64_t stall_max;
	struct quality_rules quality;
	unsigned int out_of_service;
	enum fm_level level;
	unsigned int line[CONFIG_KEYS];
};

/** config_complain - called for each error; @line 0: it concerns the file as a whole */
typedef void config_complain(void *arg, unsigned int line, const char *text);

/** config_default() - set the defaults */
void config_default(struct config *c);

/**
 * config_parse() - read a configuration from memory
 * @c: has the defaults, and gets the configuration
 * Return: 0; -EADDRNOTAVAIL if the only complaint was that this host has no address in
 *	service_network (yet); else -EINVAL after at least one complaint.
 */
int config_parse(struct config *c, const char *text, size_t len,
		 config_complain *complain, void *arg);

/** config_load() - set the defaults, and read the file @path. Return: 0 or a negative errno. */
int config_load(struct config *c, const char *path, config_complain *complain, void *arg);

/** config_reload() - copy the keys from @now that may change at run time: log level and address plan */
void config_reload(struct config *c, const struct config *now);

/** config_state_dir() - Return: the directory of the state file and the history; NULL: none */
const char *config_state_dir(const struct config *c);

/** enum config_source - where a value comes from */
enum config_source {
	CONFIG_DEFAULT,
	CONFIG_FILE,
	CONFIG_ENVIRONMENT,	/* $STATE_DIRECTORY */
	CONFIG_NETWORK,		/* service_address, found by service_network */
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

/** config_value() - get the value of the @i-th key. Return: false if there are no more keys */
bool config_value(const struct config *c, unsigned int i, struct config_value *v);

#endif /* CONFIG_H */
