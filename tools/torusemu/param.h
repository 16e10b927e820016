/* SPDX-License-Identifier: GPL-2.0-only */
/* Parses "--set PARAM=VALUE": parameters of NICs of both kinds, emulated and in the kernel. */
#ifndef PARAM_H
#define PARAM_H

#include <stdint.h>

#include "kernel/core/params.h"

#define PARAM_WHY_MAX 512
#define PARAM_RANGE_MAX 64
#define PARAM_TEXT_MAX 128

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
 * param_text() - write a value for people: "350000000 ns", "8,10-12"
 * @p: the parameter
 * @v: its value
 * @buf: gets the text, PARAM_TEXT_MAX bytes
 * Return: @buf.
 */
const char *param_text(const struct tn_param *p, uint64_t v, char *buf);

/**
 * param_parse() - parse "PARAM=VALUE", with times as 350ms and sizes as 4M
 * @text: to parse
 * @v: gets the value
 * @why: gets the text of an error
 * @size: bytes of @why; PARAM_WHY_MAX is enough
 * Return: the parameter, or NULL.
 */
const struct tn_param *param_parse(const char *text, uint64_t *v, char *why, size_t size);

/**
 * params_refused() - describe why tn_params_check() refused parameters
 * @all: the parameters
 * @at: the reason, set by tn_params_check()
 * @why: gets the text, such as "slots: 1 is out of range, must be 2 to 1024 with bubble=cbs"
 * @size: bytes of @why; PARAM_WHY_MAX is enough
 * Return: @why.
 */
const char *params_refused(const struct tn_params *all, const struct tn_params_why *at, char *why,
			   size_t size);

/**
 * params_compare() - find a parameter that contradicts another one
 * Defaults of times and sizes differ between kinds of NICs, so only the NIC can compare with them.
 * @sets: texts "PARAM=VALUE", then NULL; of two for one parameter the last counts. Texts that
 *	param_parse() refuses are skipped.
 * @why: gets the text of params_refused()
 * @size: bytes of @why; PARAM_WHY_MAX is enough
 * Return: the parameter that is too small for the others, or NULL if there is none.
 */
const struct tn_param *params_compare(const char *const *sets, char *why, size_t size);

#endif /* PARAM_H */
