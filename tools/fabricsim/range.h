/* SPDX-License-Identifier: GPL-2.0-only */
/* Ranges and words as people type them: 0.1:1.0:0.1, 1,2,4, bloc,mbs. */
#ifndef RANGE_H
#define RANGE_H

#include <stddef.h>

#define RANGE_MAX 4096

/** struct range - numbers in the order in which they were given */
struct range {
	double *v;
	size_t n;
};

/**
 * range_parse() - parse one number, several with commas between them, or FROM:TO:STEP with TO
 * included; each must be from @min to @max
 * @option: name of the option, for the text of an error
 * Return: OK; the caller frees r->v. CANNOT after it has printed the error.
 */
int range_parse(const char *option, const char *text, double min, double max,
		struct range *r);

/**
 * range_decades() - parse FROM:TO as @n numbers equally spaced on a logarithmic axis; else like
 * range_parse()
 */
int range_decades(const char *option, const char *text, double min, double max, size_t n,
		  struct range *r);

/** real_option() - parse one number from @min to @max. Return: OK or CANNOT */
int real_option(const char *option, const char *text, double min, double max, double *out);

/**
 * word_option() - find @text among @words, which NULL ends
 * Return: its index, or -1 after it has printed the error.
 */
int word_option(const char *option, const char *text, size_t len, const char *const *words);

#endif /* RANGE_H */
