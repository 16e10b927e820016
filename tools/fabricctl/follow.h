/* SPDX-License-Identifier: GPL-2.0-only */
/* Remembers which events a command has shown, so that it shows each event once. */
#ifndef FOLLOW_H
#define FOLLOW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define FOLLOW_LOGS 256

/**
 * struct follow - for each run of a manager (log), the last event that was shown
 * @n, @log: those logs
 * @last: time of the last event that was shown, s since 1970
 * @since: in logs that were not seen before, earlier events than this are not new
 */
struct follow {
	unsigned int n;
	struct {
		char log[20];
		uint64_t seq;
	} log[FOLLOW_LOGS];
	double last, since;
};

/**
 * follow_take() - remember that an event is shown. Return: false if it was shown already, or is too
 * old
 */
bool follow_take(struct follow *f, const json_t *event);
/**
 * follow_again() - called if the position in the history is lost, because another manager answers,
 * or the same manager was restarted
 * Return: time from which on events have to be requested, ms since 1970.
 */
int64_t follow_again(struct follow *f);
/**
 * follow_is_same_run() - Return: true if the manager is the same as before, and was not restarted
 * @events: events that the manager has in memory
 * @seq, @time: number and time of the last event that was shown
 */
bool follow_is_same_run(const json_t *events, uint64_t seq, double time);

#endif /* FOLLOW_H */
