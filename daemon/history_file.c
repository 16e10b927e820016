// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: a file of the history
 *
 * The first line of a file describes it:
 *
 *	torus-history FORMAT FABRIC GUID CRC
 *
 * and each further line is an event:
 *
 *	CRC WHOSE LOG SEQ TIME LEVEL KIND JSON
 *
 * CRC is CRC-32C in hexadecimal, over the rest of the line, LOG a number in eleven digits of base
 * 64, TIME milliseconds since 1970. JSON is the event without these fields, so that each value is
 * stored once; history_json() joins them. After a crash the last line may be incomplete. A damaged
 * line is skipped; the next one begins after a newline, which no line contains. So one can read a
 * file with less(1), or with cut -d' ' -f8- and jq(1), without a manager.
 *
 * In format 1, LOG has sixteen hexadecimal digits, and JSON is the whole event. Such files are
 * read, but new events are written to another file.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "daemon/history_file.h"
#include "daemon/log.h"
#include "lib/deps/tn_deps.h"

#define FORMAT 2u
#define LOG_DIGITS 11
#define MAGIC "torus-history"
#define CRC_DIGITS 8
#define WALK_BYTES 65536u

char *history_kind(char to[SVC_KIND_MAX], const char *kind)
{
	snprintf(to, SVC_KIND_MAX, "%s", *kind ? kind : "-");
	for (char *p = to; *p; p++)
		if (*p <= ' ' || *p > '~' || *p == '"' || *p == '\\')
			*p = '_';
	return to;
}

static void put_crc(char *line, size_t len)
{
	char crc[CRC_DIGITS + 1];

	snprintf(crc, sizeof(crc), "%08" PRIx32,
		 tn_crc32c(0, line + CRC_DIGITS, len - CRC_DIGITS));
	memcpy(line, crc, CRC_DIGITS);
}

static const char digits64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static char *write_log(uint64_t log, char to[LOG_DIGITS + 1])
{
	for (int i = LOG_DIGITS - 1; i >= 0; i--, log >>= 6)
		to[i] = digits64[log & 63];
	to[LOG_DIGITS] = '\0';
	return to;
}

char *history_line(const struct history_record *r, size_t *len)
{
	char kind[SVC_KIND_MAX], log[LOG_DIGITS + 1], *line, *fit;
	int n;

	if (r->len >= HISTORY_LINE_MAX || memchr(r->json, '\n', r->len))
		return NULL;
	line = malloc(HISTORY_LINE_MAX);
	if (!line)
		return NULL;
	n = snprintf(line, HISTORY_LINE_MAX,
		     "%08x %c %s %" PRIu64 " %" PRId64 " %u %s %.*s",
		     0, r->whose, write_log(r->log, log), r->seq, r->time, (unsigned int)r->level,
		     history_kind(kind, r->kind), (int)r->len, r->json);
	if (n >= HISTORY_LINE_MAX - 1) {
		free(line);
		return NULL;
	}
	put_crc(line, (size_t)n);
	line[n] = '\n';
	*len = (size_t)n + 1;
	fit = realloc(line, *len);
	return fit ? fit : line;
}

size_t history_json(const struct history_record *r, char to[HISTORY_JSON_MAX])
{
	bool empty = r->len <= strlen("{}");
	int n = 0;

	if (!r->whole)
		n = snprintf(to, HISTORY_JSON_MAX,
			     "{\"seq\":%" PRIu64 ",\"time\":%" PRId64 ".%03d,\"log\":"
			     "\"%016" PRIx64 "\",\"level\":\"%s\",\"kind\":\"%s\"%s", r->seq,
			     r->time / 1000, (int)(r->time % 1000), r->log,
			     log_level_name(r->level), r->kind, empty ? "}" : ",");
	if (r->whole || !empty)
		n += snprintf(to + n, HISTORY_JSON_MAX - (size_t)n, "%.*s",
			      (int)(r->len - !r->whole), r->json + !r->whole);
	return (size_t)n;
}

/* --- a line read ----------------------------------------------------------------------- */

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * Reads a number in @base and the space after it. Return: the text after the space; NULL if there
 * is no such number.
 */
static const char *read_number(const char *p, const char *end, unsigned int base, uint64_t *out)
{
	const char *from = p;
	int d;

	*out = 0;
	for (; p < end && (d = hex_value(*p)) >= 0 && d < (int)base; p++)
		*out = *out * base + (unsigned int)d;
	return p > from && p < end && *p == ' ' ? p + 1 : NULL;
}

/*
 * Reads the number of a log and the space after it; in format 1 the number is hexadecimal, and has
 * more digits. Return: the text after the space; NULL if there is no such number.
 */
static const char *read_log(const char *p, const char *end, uint64_t *out, bool *former)
{
	const char *digit;

	*former = end - p <= LOG_DIGITS || p[LOG_DIGITS] != ' ';
	if (*former)
		return read_number(p, end, 16, out);
	*out = 0;
	for (int i = 0; i < LOG_DIGITS; i++) {
		digit = p[i] ? strchr(digits64, p[i]) : NULL;
		if (!digit)
			return NULL;
		*out = *out << 6 | (uint64_t)(digit - digits64);
	}
	return p + LOG_DIGITS + 1;
}

static const char *read_kind(const char *p, const char *end, char kind[SVC_KIND_MAX])
{
	const char *space = memchr(p, ' ', (size_t)(end - p));
	size_t n = space ? (size_t)(space - p) : 0;

	if (!n || n >= SVC_KIND_MAX)
		return NULL;
	memcpy(kind, p, n);
	kind[n] = '\0';
	return space + 1;
}

int history_line_read(const char *line, size_t len, struct history_record *out)
{
	const char *p = line + CRC_DIGITS + 3, *end = line + len;
	uint64_t crc, time, level;

	if (len < CRC_DIGITS + 4 || read_number(line, end, 16, &crc) != line + CRC_DIGITS + 1 ||
	    crc != tn_crc32c(0, line + CRC_DIGITS, len - CRC_DIGITS))
		return -EBADMSG;
	out->whose = p[-2];
	p = read_log(p, end, &out->log, &out->whole);
	p = p ? read_number(p, end, 10, &out->seq) : NULL;
	p = p ? read_number(p, end, 10, &time) : NULL;
	p = p ? read_number(p, end, 10, &level) : NULL;
	p = p ? read_kind(p, end, out->kind) : NULL;
	if (!p || level > FM_DEBUG)
		return -EBADMSG;
	out->time = (int64_t)time;
	out->level = (enum fm_level)level;
	out->json = p;
	out->len = (size_t)(end - p);
	return 0;
}

/* --- the first line -------------------------------------------------------------------- */

static size_t write_head(char line[HISTORY_HEAD_MAX], unsigned int format, const char *fabric,
			 uint64_t guid)
{
	int n = snprintf(line, HISTORY_HEAD_MAX, MAGIC " %u %s %016" PRIx64 " ", format, fabric,
			 guid);

	n += snprintf(line + n, HISTORY_HEAD_MAX - (size_t)n, "%08" PRIx32 "\n",
		      tn_crc32c(0, line, (size_t)n));
	return (size_t)n;
}

size_t history_head(char line[HISTORY_HEAD_MAX], const char *fabric, uint64_t guid)
{
	return write_head(line, FORMAT, fabric, guid);
}

ssize_t history_head_check(const char *data, size_t len, const char *fabric, uint64_t guid,
			   bool *former, char *why, size_t room)
{
	char due[HISTORY_HEAD_MAX], text[HISTORY_HEAD_MAX], has[TORUS_NAME_MAX + 1];
	unsigned int format;
	uint64_t of;

	for (format = FORMAT; format; format--) {
		size_t n = write_head(due, format, fabric, guid);

		*former = format < FORMAT;
		if (!memcmp(data, due, len < n ? len : n))
			return len >= n ? (ssize_t)n : 0;
	}
	snprintf(text, sizeof(text), "%.*s", (int)(len < sizeof(text) ? len : sizeof(text) - 1),
		 data);
	if (sscanf(text, MAGIC " %u", &format) != 1)
		snprintf(why, room, "it is not a history file");
	else if (format > FORMAT)
		snprintf(why, room, "it has format %u, of a later fabricd; this one knows %u",
			 format, FORMAT);
	else if (sscanf(text, MAGIC " %u %63s %" SCNx64, &format, has, &of) != 3 ||
		 (!strcmp(has, fabric) && of == guid))
		snprintf(why, room, "its first line is damaged");
	else if (strcmp(has, fabric))
		snprintf(why, room, "it is of fabric '%s', and this is '%s'", has, fabric);
	else
		snprintf(why, room, "it is of NIC %016" PRIx64, of);
	return -EBADMSG;
}

/* --- a file ---------------------------------------------------------------------------- */

/*
 * Reads the complete lines in @n bytes. Return: the length of these lines; sets @more to false if
 * the walk is to end.
 */
static size_t walk_lines(const char *data, size_t n, uint64_t at, struct history_walk *w,
			 bool *more)
{
	struct history_record r;
	const char *nl;
	size_t done = 0;

	while ((nl = memchr(data + done, '\n', n - done))) {
		const char *line = data + done;

		done = (size_t)(nl - data) + 1;
		w->end = at + done;
		if (history_line_read(line, (size_t)(nl - line), &r)) {
			w->damaged++;
		} else if (!w->each(w->arg, &r, at + done)) {
			*more = false;
			break;
		}
	}
	return done;
}

int history_walk(int fd, uint64_t from, uint64_t to, struct history_walk *w)
{
	char *data = malloc(WALK_BYTES);
	size_t have = 0, done;
	bool more = true;
	int err = 0;

	if (!data)
		return -ENOMEM;
	w->end = from;
	while (more && from + have < to) {
		size_t want = to - from - have < WALK_BYTES - have ? to - from - have :
								    WALK_BYTES - have;
		ssize_t n = pread(fd, data + have, want, (off_t)(from + have));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			err = n ? -errno : 0;
			break;
		}
		have += (size_t)n;
		done = walk_lines(data, have, from, w, &more);
		if (!done && have == WALK_BYTES) {	/* lines are shorter than this, so this
							 * line is damaged */
			w->damaged++;
			done = have;
		}
		have -= done;
		memmove(data, data + done, have);
		from += done;
	}
	free(data);
	return err;
}
