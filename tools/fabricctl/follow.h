/* SPDX-License-Identifier: GPL-2.0-only */
/* Remembers which events a command that follows them has shown, so that it shows each once. */
#ifndef FOLLOW_H
#define FOLLOW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define FOLLOW_LOGS 256

/**
 * struct follow - the last event that was shown of each run of a manager, a log
 * @n, @log: those logs
 * @last: time of the last event that was shown, s since 1970
 * @since: earlier events of further logs are not new
 */
struct follow {
	unsigned int n;
	struct {
		char log[20];
		uint64_t seq;
	} log[FOLLOW_LOGS];
	double last, since;
};

/** follow_take() - note that an event is shown. Return: false: it has been shown, or was before */
bool follow_take(struct follow *f, const json_t *event);
/**
 * follow_again() - the position in the history is lost: another manager answers, or the same anew
 * Return: from when on events are to be asked for, ms since 1970.
 */
int64_t follow_again(struct follow *f);
/**
 * follow_is_same_run() - find if a manager is the one that was followed, and was not started again
 * @events: those that it has in memory
 * @seq, @time: of the last event that was shown
 */
bool follow_is_same_run(const json_t *events, uint64_t seq, double time);

#endif /* FOLLOW_H */
