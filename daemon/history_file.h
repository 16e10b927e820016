/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of the history: a first line that says what it is, then a line for each event, with a
 * check sum. Here are lines and files alone: no threads, and no limits.
 */
#ifndef HISTORY_FILE_H
#define HISTORY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "daemon/fm/fm.h"
#include "daemon/svc_msg.h"

#define HISTORY_LINE_MAX 4096	/* bytes of a line, with its newline */
#define HISTORY_HEAD_MAX 160	/* ... of the first line */

/* Whose event it is: struct history_record.whose. */
#define HISTORY_LED 'r'		/* of the fabric: this node led, or there was no root */
#define HISTORY_PULLED 'p'	/* of the fabric: as the root had it */
#define HISTORY_OWN 'l'		/* of this node; the root heard of it if it was a warning */

/**
 * struct history_record - an event
 * @log, @seq: which: @log is of one run of a manager, in which events have ascending numbers
 * @time: of day, ms since 1970
 * @json: the event as the control socket tells it, @len bytes; no newline in it
 */
struct history_record {
	char whose;
	uint64_t log, seq;
	int64_t time;
	enum fm_level level;
	char kind[SVC_KIND_MAX];
	const char *json;
	size_t len;
};

/** history_kind() - @kind as lines have it, without spaces. Return: @to */
char *history_kind(char to[SVC_KIND_MAX], const char *kind);
/**
 * history_line() - the line of @r, with its newline
 * Return: to be freed by the caller; NULL: no memory, or it would be too long.
 */
char *history_line(const struct history_record *r, size_t *len);
/** history_line_read() - a line without its newline. Return: 0, or -EBADMSG: it is damaged */
int history_line_read(const char *line, size_t len, struct history_record *out);

/** history_head() - the first line of a file, with its newline. Return: its bytes */
size_t history_head(char line[HISTORY_HEAD_MAX], const char *fabric, uint64_t guid);
/**
 * history_head_check() - the beginning of a file, @len bytes of it
 * @why: set to what is wrong, after -EBADMSG
 * Return: bytes of the first line; 0: the file was cut off within it, as a crash does; -EBADMSG: it
 * is another file.
 */
ssize_t history_head_check(const char *data, size_t len, const char *fabric, uint64_t guid,
			   char *why, size_t room);

/**
 * struct history_walk - a file being read
 * @each: gets the records, and where the line after each begins; false: no more are wanted
 * @damaged: lines that were left out
 * @end: where the last whole line ends
 */
struct history_walk {
	bool (*each)(void *arg, const struct history_record *r, uint64_t next);
	void *arg;
	uint64_t damaged;
	uint64_t end;
};

/** history_walk() - lines from @from on up to @to. Return: 0 or a negative errno */
int history_walk(int fd, uint64_t from, uint64_t to, struct history_walk *walk);

#endif /* HISTORY_FILE_H */
