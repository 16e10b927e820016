/* SPDX-License-Identifier: GPL-2.0-only */
/* Parses "--set PARAM=VALUE": parameters of NICs of both kinds, emulated and in the kernel. */
#ifndef PARAM_H
#define PARAM_H

#include <stdint.h>

#include "kernel/core/params.h"

#define PARAM_WHY_MAX 512
#define PARAM_RANGE_MAX 64

/** param_find() - Return: the parameter called @name, of @len bytes, or NULL */
const struct tn_param *param_find(const char *name, size_t len);
/** param_allowed() - Return: a text that describes the form of the parameter's values */
const char *param_allowed(const struct tn_param *p);
/**
 * param_range() - describe the allowed values: ", 1 to 1024", or "" if param_allowed() lists them
 * @p: the parameter
 * @buf: gets the text, PARAM_RANGE_MAX bytes
 * Return: @buf.
 */
const char *param_range(const struct tn_param *p, char *buf);

/**
 * param_policy() - Return: the name of a bubble policy
 * @bubble: enum torus_bubble
 */
const char *param_policy(uint32_t bubble);

/**
 * param_parse() - parse "PARAM=VALUE", with times as 350ms and sizes as 4M
 * @text: to parse
 * @v: gets the value
 * @why: gets the text of an error
 * @size: bytes of @why; PARAM_WHY_MAX is enough
 * Return: the parameter, or NULL.
 */
const struct tn_param *param_parse(const char *text, uint64_t *v, char *why, size_t size);

#endif /* PARAM_H */
