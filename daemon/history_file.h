/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Format of the files of the history: a first line with the format and the owner, then a line with
 * a check sum for each event. Threads and limits of size are in other files.
 */
#ifndef HISTORY_FILE_H
#define HISTORY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "daemon/fm/fm.h"
#include "daemon/svc_msg.h"

#define HISTORY_LINE_MAX 4096	/* most bytes of a line, with its newline */
#define HISTORY_HEAD_MAX 160	/* most bytes of the first line */

/* Values of history_record.whose, the origin of an event. */
#define HISTORY_LED 'r'		/* event of the fabric: this node was root, or there was no root */
#define HISTORY_PULLED 'p'	/* event of the fabric, copied from the root */
#define HISTORY_OWN 'l'		/* event of this node, which reports it to the root if it is a
				 * warning */

/**
 * struct history_record - an event
 * @log, @seq: identity: @log is a run of a manager, in which events have ascending numbers @seq
 * @time: time of day, ms since 1970
 * @json: the rest of the event in the JSON of the control socket: an object without seq, time, log,
 *	level and kind, of @len bytes without a newline
 * @whole: @json contains these members, too, because an earlier release has written the line
 */
struct history_record {
	char whose;
	uint64_t log, seq;
	int64_t time;
	enum fm_level level;
	char kind[SVC_KIND_MAX];
	const char *json;
	size_t len;
	bool whole;
};

/* most bytes of history_json(), with NUL */
#define HISTORY_JSON_MAX (HISTORY_LINE_MAX + 160)

/** history_json() - write the whole event as JSON. Return: its length */
size_t history_json(const struct history_record *r, char to[HISTORY_JSON_MAX]);

/**
 * history_kind() - convert @kind to the form used in lines, which has no spaces, quotes and
 * backslashes
 * Return: @to
 */
char *history_kind(char to[SVC_KIND_MAX], const char *kind);
/**
 * history_line() - make the line of @r, with its newline
 * Return: the line, to be freed by the caller; NULL if there is no memory, or it would be too long.
 */
char *history_line(const struct history_record *r, size_t *len);
/** history_line_read() - parse a line without its newline. Return: 0; -EBADMSG if it is damaged */
int history_line_read(const char *line, size_t len, struct history_record *out);

/** history_head() - make the first line of a file, with its newline. Return: its length */
size_t history_head(char line[HISTORY_HEAD_MAX], const char *fabric, uint64_t guid);
/**
 * history_head_check() - check the first line in the first @len bytes of a file
 * @former: set to true if it is of an earlier format: it can be read, and not be continued
 * @why: after -EBADMSG, set to what is wrong
 * Return: bytes of the first line; 0 if the file ends within it, because of a crash; -EBADMSG if it
 * is not a file of this history.
 */
ssize_t history_head_check(const char *data, size_t len, const char *fabric, uint64_t guid,
			   bool *former, char *why, size_t room);

/**
 * struct history_walk - state of reading a file
 * @each: called with each record, and the position of the line after it; false ends the reading
 * @damaged: lines that were skipped
 * @end: position after the last complete line
 */
struct history_walk {
	bool (*each)(void *arg, const struct history_record *r, uint64_t next);
	void *arg;
	uint64_t damaged;
	uint64_t end;
};

/** history_walk() - read the lines between two positions. Return: 0 or a negative errno */
int history_walk(int fd, uint64_t from, uint64_t to, struct history_walk *walk);

#endif /* HISTORY_FILE_H */
