/* SPDX-License-Identifier: GPL-2.0-only */
/* A few packets over a line that loses some of them, drawn as a message chart. */
#ifndef RETRY_PLAY_H
#define RETRY_PLAY_H

#include "retry_wire.h"
#include "tools/fabricctl/command.h"

/**
 * struct play - a protocol, and the frames that it loses
 * @name: "fig3" to "fig8", the figures of the paper ("Comparison of ACK/NAK and HIPPI link retry",
 *	section 4), or the script itself
 * @about: for a figure, a text that describes it
 * @protocol: enum torus_retry
 * @window: packets in the RETRY buffer, unless an option sets it; 0: as many as the sequence
 *	numbers allow. In fig6 the window makes the sender wait for an answer, because the timer
 *	runs from the last packet that was sent
 * @script: faults of frames, such as "lose 2, damage 2, lose answer 0, lose back 1"
 */
struct play {
	const char *name, *about;
	unsigned int protocol;
	unsigned int coalesce;
	uint64_t units;
	unsigned int window;
	bool two_way, in_sequence;
	const char *script;
};

/** play_figure() - Return: the figure of that name, or NULL */
const struct play *play_figure(const char *name);

/** play_check() - check the steps of @play; prints the error. Return: OK or CANNOT */
int play_check(const struct play *play);

/**
 * play_run() - run @play; the other parameters are in @plan: sizes, line, window, timer
 * Prints the chart, or with ctl->json its events, and with ctl->svg draws it into that file. Prints
 * errors in the script.
 * Return: OK, CANNOT, or PROBLEM if the run no longer made progress.
 */
int play_run(const struct ctl *ctl, const struct play *play, struct wire_plan *plan);

#endif /* RETRY_PLAY_H */
