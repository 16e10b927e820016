/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The configuration in force, with the source of each value. The output does not contain the shared
 * key.
 */
#ifndef CONFIG_DUMP_H
#define CONFIG_DUMP_H

#include <stdbool.h>
#include <stdio.h>
#include <jansson.h>
#include "daemon/config.h"

/**
 * struct config_run - the command line of fabricd
 * @path: path of the configuration file
 * @chosen: --config gave the path
 * @record: path of --record; NULL: not given
 */
struct config_run {
	const char *path;
	bool chosen;
	const char *record;
};

/**
 * config_print() - print the configuration in the form of its file, with the sources as comments
 */
void config_print(FILE *to, const struct config *c, const struct config_run *run);

/** config_json() - Return: for each option and key, its section, key, value, source and line */
json_t *config_json(const struct config *c, const struct config_run *run);

/**
 * config_values_json() - Return: an object with the values, whose members are named SECTION.KEY or
 * KEY
 */
json_t *config_values_json(const struct config *c);

#endif /* CONFIG_DUMP_H */
