/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Configuration files, "key = value" in sections, read with inih: every line that is not
 * understood, is too long or has a NUL byte in it is told with its number, once, and the
 * rest is read all the same.
 */
#ifndef UTIL_INIFILE_H
#define UTIL_INIFILE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct inifile - a file being read
 * @key: takes one key; it refuses by inifile_refuse()
 * @complain: tells a refusal of line @line, or of the file if that is 0
 * @arg: for both
 * @forms: the lines that are allowed, for the text of a refusal
 * @line: number of the line at hand, from 1
 * @refused: something was
 * The rest belongs to inifile.c.
 */
struct inifile {
	void (*key)(struct inifile *file, const char *section, const char *name, const char *value);
	void (*complain)(void *arg, unsigned int line, const char *text);
	void *arg;
	const char *forms;
	unsigned int line;
	bool refused;

	const char *at, *end;
};

/** inifile_refuse() - tell what is wrong, with line @line or, if that is 0, with the file */
void inifile_refuse(struct inifile *file, unsigned int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** inifile_parse() - read @len bytes of @text */
void inifile_parse(struct inifile *file, const char *text, size_t len);

/**
 * inifile_load() - read the file at @path, of at most @max bytes
 * Return: 0, also if something was refused; -EFBIG or another negative errno if the
 * file cannot be read at all, which has been told as well.
 */
int inifile_load(struct inifile *file, const char *path, size_t max);

#endif /* UTIL_INIFILE_H */
