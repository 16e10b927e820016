/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Configuration files, "key = value" in sections, read with inih. Each line that is malformed, is
 * too long or contains a NUL byte is reported once, with its number; the other lines are still
 * read.
 */
#ifndef UTIL_INIFILE_H
#define UTIL_INIFILE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct inifile - a file that is being read
 * @key: called for each key; reports errors by inifile_refuse()
 * @complain: called for an error in line @line, or in the file if @line is 0
 * @arg: argument of both
 * @forms: forms of allowed lines, for the text of an error
 * @line: number of the present line, from 1
 * @refused: an error was reported
 * The other members are private to inifile.c.
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

/** inifile_refuse() - report an error in line @line or, if that is 0, in the file */
void inifile_refuse(struct inifile *file, unsigned int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** inifile_parse() - read @len bytes of @text */
void inifile_parse(struct inifile *file, const char *text, size_t len);

/**
 * inifile_load() - read the file at @path, of at most @max bytes
 * Return: 0, also if there were errors in lines; -EFBIG or another negative errno if the
 * file cannot be read, which is also reported.
 */
int inifile_load(struct inifile *file, const char *path, size_t max);

#endif /* UTIL_INIFILE_H */
