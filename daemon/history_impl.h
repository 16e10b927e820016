/* SPDX-License-Identifier: GPL-2.0-only */
/* State that history.c, history_write.c and history_search.c share. */
#ifndef HISTORY_IMPL_H
#define HISTORY_IMPL_H

#include <pthread.h>
#include "daemon/history.h"

#define HISTORY_PATH_MAX 512

/** struct history_item - a line that is not on the disk yet */
struct history_item {
	struct history_item *next;
	char *line;
	size_t len;
	int64_t time;
};

/**
 * struct history_segment - a file, whose first @bytes are complete lines with times from @min to
 * @max
 */
struct history_segment {
	uint32_t n;
	uint32_t count;
	uint64_t bytes;
	int64_t min, max;
};

/** struct history_log - the last number of a log, and the segment that contains it */
struct history_log {
	uint64_t log, seq;
	uint32_t segment;
};

struct history_writer;

#define HISTORY_SLOW (5 * SEC)		/* a read or write that takes longer is reported as a
					 * problem */

/**
 * struct history
 * @log: number of the log of this run of the manager
 * @armed: the timer is set
 * @lock: protects all members from @users on
 * @users: users of the memory: the loop, and each thread
 * @given, @done: how many lines have entered and left the queue
 * @first, @last, @queued, @queued_bytes: the queue; the writer removes lines from its front after
 *	it has written them
 * @since: when the writer began its present read or write; 0: it is idle
 * @why: text of the present error; "": there is no error
 */
struct history {
	char dir[HISTORY_PATH_MAX - 32];
	char fabric[TORUS_NAME_MAX + 1];
	uint64_t guid, log, bytes_max, segment_max;
	struct loop_fd *watch;
	struct loop_timer *timer;
	bool armed;
	const struct history_ops *ops;
	void *arg;
	int event;
	pthread_t writer, searcher;
	struct history_writer *w;
	char reported[HISTORY_TEXT_MAX];

	pthread_mutex_t lock;
	pthread_cond_t wake, written, asked;
	unsigned int users;
	bool loaded, stop;
	uint64_t given, done;
	struct history_item *first, *last;
	uint32_t queued;
	size_t queued_bytes;
	uint64_t since;
	struct history_segment *seg;
	uint32_t nseg;
	struct history_log *logs;
	uint32_t nlogs;
	uint64_t events, bytes, dropped, damaged;
	char why[HISTORY_TEXT_MAX];
	struct history_job *jobs;
};

/** history_path() - make the path of file @n. Return: @to */
const char *history_path(const struct history *h, uint32_t n, char to[HISTORY_PATH_MAX]);
/** history_writer_new() - allocate the state of the writer. Return: NULL if out of memory */
struct history_writer *history_writer_new(void);
/** history_write_thread() - body of the thread that writes */
void *history_write_thread(void *arg);
/* The lock must be held by the callers of the three functions below. */
/** history_find_log() - Return: the state of a log; NULL if no event of this log is known */
struct history_log *history_find_log(struct history *h, uint64_t log);
/**
 * history_note_log() - remember that an event of a log is in a file, or will be in it
 * There are few logs: one for each start of a manager that led.
 */
void history_note_log(struct history *h, uint64_t log, uint64_t seq, uint32_t segment);
/** history_last_number() - Return: the number of the last file; 0 if there is no file */
uint32_t history_last_number(const struct history *h);
/** history_wake_loop() - wake the loop; called by a thread after changing what the loop reads */
void history_wake_loop(struct history *h);
/** history_search_thread() - body of the thread that searches */
void *history_search_thread(void *arg);
/** history_search_done() - in the loop: call @done of the searches that have ended */
void history_search_done(struct history *h);
/** history_search_drop() - in the loop, when the history is closed: end all searches as lost */
void history_search_drop(struct history *h);
/** history_put() - drop a reference to the memory; the last user frees it */
void history_put(struct history *h);

#endif /* HISTORY_IMPL_H */
