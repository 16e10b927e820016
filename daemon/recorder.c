// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "daemon/log.h"

/**
 * struct recorder - a recording that is being written
 * @tap: must be the first member, because the functions in @ops get its address as their @io
 */
struct recorder {
	struct record_tap tap;
	FILE *file;
	const char *path;
};

static void end_recording(struct recorder *rec, const char *why)
{
	log_error("record", "%s: %s: the recording ends here", rec->path, why);
	fclose(rec->file);
	rec->file = NULL;
}

/*
 * Writes @j as one line, and drops the reference. The kernel gets each line at once, so that a
 * crash of this process loses no line.
 */
static void write_record(struct recorder *rec, json_t *j)
{
	if (!rec->file)
		;
	else if (!j)
		end_recording(rec, "out of memory");
	else if (json_dumpf(j, rec->file, JSON_COMPACT) || putc('\n', rec->file) == EOF ||
		 fflush(rec->file))
		end_recording(rec, strerror(errno));
	json_decref(j);
}

static int record_action(struct record_tap *tap, json_t *action)
{
	write_record((struct recorder *)tap, action);
	return 0;
}

struct recorder *recorder_open(const char *path)
{
	struct recorder *rec = calloc(1, sizeof(*rec));
	int fd;

	if (!rec)
		return NULL;
	rec->tap.action = record_action;
	rec->path = path;
	/* Messages contain names and addresses of nodes, so other users may not read them. */
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	rec->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (rec->file)
		return rec;
	if (fd >= 0)
		close(fd);
	free(rec);
	return NULL;
}

void recorder_close(struct recorder *rec)
{
	if (rec && rec->file)
		fclose(rec->file);
	free(rec);
}

const struct fm_ops *recorder_tap(struct recorder *rec, const struct fm_ops *ops, void **io)
{
	if (!rec)
		return ops;
	rec->tap.ops = ops;
	rec->tap.io = *io;
	*io = rec;
	return &record_ops;
}

void recorder_event(struct recorder *rec, const struct record_event *e)
{
	if (rec)
		write_record(rec, record_event_json(e));
}
