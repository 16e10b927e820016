/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events kept on the disk, so that an incident can be told afterwards. Nothing here waits for the
 * disk: a thread writes, another one searches.
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
 * @dir: state directory; the files are in a directory in it, one for each NIC
 * @log: of this run of the manager
 * @bytes: so many are kept at most
 */
struct history_config {
	const char *dir;
	const char *fabric;
	uint64_t guid;
	uint64_t log;
	uint64_t bytes;
};

/** struct history_ops - @told: what is wrong with the history, "": nothing any more; in the loop */
struct history_ops {
	void (*told)(void *arg, const char *why);
};

/**
 * struct history_stats - what there is
 * @loaded: what was kept before this start has been read
 * @events, @bytes: kept; @since: time of the oldest in ms since 1970, 0: there is none
 * @dropped: could not be kept, since the start
 * @damaged: lines that were found damaged, since the start
 */
struct history_stats {
	bool loaded;
	uint64_t events, bytes, bytes_max, dropped, damaged;
	int64_t since;
};

/** history_new() - begin to keep. Return: NULL if out of memory or threads */
struct history *history_new(struct loop *loop, const struct history_config *config,
			    const struct history_ops *ops, void *arg);
/**
 * history_free() - waits at most a second for the disk; searches that wait end as lost. @h may be
 * NULL
 */
void history_free(struct history *h);
/**
 * history_add() - keep @r, of which everything is copied; does not wait
 * Return: false: there is no room for it until something was written.
 */
bool history_add(struct history *h, const struct history_record *r);
/** history_room() - the writer keeps up: there is room for many more */
bool history_room(struct history *h);
/** history_has() - that event, or a later one of the same log, was added */
bool history_has(struct history *h, uint64_t log, uint64_t seq);
/**
 * history_have() - the last number of each log in it, as "LOG=SEQ,LOG=SEQ"
 * Return: to be freed by the caller; NULL: not known yet, or no memory.
 */
char *history_have(struct history *h);
void history_stats(struct history *h, struct history_stats *out);

/**
 * struct history_filter - which events are wanted
 * @from, @to: ms since 1970, both included
 * @level: those that are as bad, or worse
 * @kind: kinds as history_kind() makes them, with commas between them; "": all
 * @word: if @words: events that have at least one of these texts in their JSON. A text that
 *	begins or ends with a digit is not found within a longer number, or list of numbers
 * @whose: letters of history_record.whose; "": all
 * @have: only events that these logs (as history_have() tells them) do not have; NULL: all
 * @last: only so many, the last ones; 0: the first ones after @after that there is room for
 * @after: where an earlier search ended; "": at the beginning
 * @room: bytes
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

/** history_wants() - but for @whose, @have, @last and @after */
bool history_wants(const struct history_filter *f, const struct history_record *r);

/**
 * struct history_found - the end of a search
 * @events: JSON array; NULL: no memory
 * @after: where to go on
 * @more: there was no room, or no time, for all of them
 * @lost: @after was of another run of the manager, or is not kept any more, or the history was
 *	closed: nothing was searched
 * @loading: what was kept before this start is still being read
 * @unread: errno of a file that could not be read; 0: all could
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
 * history_ask() - search; @done is called later, in the loop
 * @f: copied; @f->have is taken over
 * Return: for history_forget(); NULL: no memory, or too many searches at once.
 */
struct history_job *history_ask(struct history *h, const struct history_filter *f,
				void (*done)(void *arg, const struct history_found *found),
				void *arg);
/** history_forget() - @done must not follow */
void history_forget(struct history_job *job);

#endif /* HISTORY_H */
