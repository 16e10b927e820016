/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The history: events on the disk, by which an incident can be examined afterwards. No function
 * waits for the disk: one thread writes, another one searches.
 */
#ifndef HISTORY_H
#define HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "daemon/history_file.h"

#define HISTORY_TEXT_MAX 320	/* bytes of a reason, with NUL */
#define HISTORY_BYTES_MIN (1u << 20)
#define HISTORY_BYTES_MAX (1ull << 30)
#define HISTORY_WORDS 4
#define HISTORY_WORD_MAX 80
#define HISTORY_AFTER_MAX 64

struct history;
struct history_job;
struct loop;

/**
 * struct history_config
 * @dir: state directory, in which each NIC has a directory with its files
 * @log: number of this run of the manager
 * @bytes: most bytes of all files together
 */
struct history_config {
	const char *dir;
	const char *fabric;
	uint64_t guid;
	uint64_t log;
	uint64_t bytes;
};

/**
 * struct history_ops - callback to the owner
 * @error: called in the loop when the error @why has changed; "": there is no error
 */
struct history_ops {
	void (*error)(void *arg, const char *why);
};

/**
 * struct history_stats - state of the history
 * @loaded: the files from before this start have been read
 * @events, @bytes: number and size of the events that are kept
 * @since: time of the oldest event, ms since 1970; 0: there is none
 * @dropped: events that could not be kept, since the start
 * @damaged: lines that were found damaged, since the start
 */
struct history_stats {
	bool loaded;
	uint64_t events, bytes, bytes_max, dropped, damaged;
	int64_t since;
};

/** history_new() - open the history of a NIC. Return: NULL if out of memory or threads */
struct history *history_new(struct loop *loop, const struct history_config *config,
			    const struct history_ops *ops, void *arg);
/**
 * history_free() - close the history; waits at most a second for the disk
 * Searches that have not ended end as lost. @h may be NULL.
 */
void history_free(struct history *h);
/**
 * history_add() - queue a copy of @r for writing; does not wait
 * Return: false if the queue is full.
 */
bool history_add(struct history *h, const struct history_record *r);
/** history_room() - Return: true if the queue has room for many more lines */
bool history_room(struct history *h);
/**
 * history_has() - Return: true if the history contains that event, or a later event of the same log
 */
bool history_has(struct history *h, uint64_t log, uint64_t seq);
/**
 * history_have() - list the last number of each log, as "LOG=SEQ,LOG=SEQ"
 * Return: a text to be freed by the caller; NULL if the history is not read yet, or out of memory.
 */
char *history_have(struct history *h);
void history_stats(struct history *h, struct history_stats *out);

/**
 * struct history_filter - which events are wanted
 * @from, @to: ms since 1970, both included
 * @level: events of this level or a more severe one
 * @kind: kinds as history_kind() makes them, with commas between them; "": all
 * @word, @words: events whose JSON contains at least one of these texts; @words 0: all events. A
 *	text that begins or ends with a digit is not found within a longer number, or list of
 *	numbers
 * @whose: letters of history_record.whose; "": all
 * @have: text made by history_have(): only events with greater numbers than this text has for their
 *	logs; NULL: all events
 * @last: only this many of the newest events; 0: the oldest events after @after, as many as there
 *	is room for
 * @after: position where an earlier search ended; "": the beginning
 * @room: most bytes of events in the answer
 */
struct history_filter {
	int64_t from, to;
	enum fm_level level;
	char kind[4 * SVC_KIND_MAX];
	char word[HISTORY_WORDS][HISTORY_WORD_MAX];
	unsigned int words;
	char whose[4];
	char *have;
	uint32_t last;
	char after[HISTORY_AFTER_MAX];
	size_t room;
};

/** history_wants() - Return: true if @r fits @f; @whose, @have, @last and @after are not checked */
bool history_wants(const struct history_filter *f, const struct history_record *r);

/**
 * struct history_found - the result of a search
 * @events: JSON array; NULL: no memory
 * @after: position where a further search goes on
 * @more: the search found more events than there was room or time for
 * @lost: nothing was searched: @after was of another run of the manager, or is not kept any more,
 *	or the history was closed
 * @loading: the files from before this start are still being read
 * @unread: errno of a file that could not be read; 0: all could be read
 */
struct history_found {
	char *events;
	char after[HISTORY_AFTER_MAX];
	bool more;
	bool lost;
	bool loading;
	int unread;
};

/**
 * history_ask() - start a search; @done is called later, in the loop
 * @f: copied; the search takes over @f->have
 * Return: a handle for history_forget(); NULL if there is no memory, or too many searches at once.
 */
struct history_job *history_ask(struct history *h, const struct history_filter *f,
				void (*done)(void *arg, const struct history_found *found),
				void *arg);
/** history_forget() - end a search without calling @done */
void history_forget(struct history_job *job);

#endif /* HISTORY_H */
