/* SPDX-License-Identifier: GPL-2.0-only */
/* "--set PARAM=VALUE": a parameter of a NIC, wherever the NIC is. */
#ifndef PARAM_H
#define PARAM_H

#include <stddef.h>
#include <stdint.h>

enum param_unit { PARAM_TIME, PARAM_SIZE, PARAM_COUNT, PARAM_RATE };

/**
 * struct param - one parameter
 * @name: as people write it
 * @ifla: enum torus_ifla
 * @bytes: of its number: 4 or 8
 * @min, @max: ns for times, bytes for sizes, 1e-18 for error rates
 */
struct param {
	const char *name;
	uint16_t ifla;
	uint8_t bytes;
	enum param_unit unit;
	uint64_t min;
	uint64_t max;
};

#define PARAMS_MAX 23

extern const struct param params[PARAMS_MAX + 1];	/* the last has no name */

#define PARAM_WHY_MAX 512

/** param_find() - the parameter of this name, or NULL */
const struct param *param_find(const char *name, size_t len);
/** param_allowed() - how its value is written */
const char *param_allowed(const struct param *p);

/**
 * param_parse() - read "PARAM=VALUE"; times like 350ms, sizes like 4M
 * @why: what is wrong with it, if something is; PARAM_WHY_MAX is enough
 * Return: the parameter, with its value in @v, or NULL.
 */
const struct param *param_parse(const char *text, uint64_t *v, char *why, size_t size);

#endif /* PARAM_H */
