/* SPDX-License-Identifier: GPL-2.0-only */
/* "--set PARAM=VALUE": a parameter of a NIC, wherever the NIC is. */
#ifndef PARAM_H
#define PARAM_H

#include <stdint.h>

#include "kernel/core/params.h"

#define PARAM_WHY_MAX 512
#define PARAM_RANGE_MAX 64

/** param_find() - the parameter of this name, or NULL */
const struct tn_param *param_find(const char *name, size_t len);
/** param_allowed() - how its value is written */
const char *param_allowed(const struct tn_param *p);
/**
 * param_range() - the values that are allowed, ", 1 to 1024", or "" if param_allowed() lists them
 * @buf: PARAM_RANGE_MAX bytes. Return: @buf
 */
const char *param_range(const struct tn_param *p, char *buf);

/**
 * param_parse() - read "PARAM=VALUE"; times like 350ms, sizes like 4M
 * @why: what is wrong with it, if something is; PARAM_WHY_MAX is enough
 * Return: the parameter, with its value in @v, or NULL.
 */
const struct tn_param *param_parse(const char *text, uint64_t *v, char *why, size_t size);

#endif /* PARAM_H */
