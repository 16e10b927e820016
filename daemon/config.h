/* SPDX-License-Identifier: GPL-2.0-only */
/* The configuration file; fabricd.conf(5) describes it. */
#ifndef CONFIG_H
#define CONFIG_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>
#include "daemon/fm/fm.h"

#define CONFIG_PATH	"/etc/fabricd.conf"
#define CONFIG_SIZE_MAX	65536
#define CONFIG_PATH_MAX	108		/* sun_path, with NUL */

/**
 * struct config - what the file says
 * @fm: the manager's part: names, service address, shape, fan-out, times
 * @device: "auto", "unix:PATH" or "genl:NAME"
 * @key_file: the shared key
 * @control: path of the control socket
 * @state_dir: where the table is kept; "": where systemd says, "none": nowhere
 * @loopback: service_address may be one of this host alone
 * @history: events are kept there, too; @history_bytes: at most so many
 * @arbiter: program, "": none, and then @fm.arbiter is false; @arbiter_max: ns that it has for an
 *	answer
 * @control_group: its name, "" for none; @control_gid is then meaningless
 * @stall_max: how long a link waits for credits until it is taken down, ns; 0: for ever
 * @level: log level
 */
struct config {
	struct fm_config fm;
	char device[CONFIG_PATH_MAX + 8];
	char key_file[CONFIG_PATH_MAX];
	char control[CONFIG_PATH_MAX];
	char state_dir[CONFIG_PATH_MAX];
	bool history;
	bool loopback;
	uint64_t history_bytes;
	char arbiter[CONFIG_PATH_MAX];
	uint64_t arbiter_max;
	char control_group[64];
	gid_t control_gid;
	uint64_t stall_max;
	enum fm_level level;
};

/** config_complain - called for everything wrong; @line 0: the file as a whole */
typedef void config_complain(void *arg, unsigned int line, const char *text);

/** config_default() - what holds when the file says nothing */
void config_default(struct config *c);

/**
 * config_parse() - read a configuration from memory
 * @c: defaults in, configuration out
 * Return: 0, or -EINVAL after at least one complaint.
 */
int config_parse(struct config *c, const char *text, size_t len,
		 config_complain *complain, void *arg);

/** config_load() - defaults, then the file @path. Return: 0 or a negative errno. */
int config_load(struct config *c, const char *path, config_complain *complain, void *arg);

#endif /* CONFIG_H */
