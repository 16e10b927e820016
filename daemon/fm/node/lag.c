// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: lag
 *
 * A manager that gets too little processor time handles messages late. It must not mistake its own
 * delay for the silence of others. If it did, it would leave a parent or a root that lives, and
 * join again, which costs all nodes still more processor time. Where many managers share processors
 * (a lab), or where a root has too many messages, this would never end.
 *
 * So each manager measures its lag: how late its timer is handled. It assumes that messages are
 * handled equally late. An exchange with another node is delayed up to four times: by the
 * connection, the question, the answer, and the reaction to it. So all waits for other nodes are
 * extended by four times the lag (fm_lag_answer()). The measured lag halves once in each
 * keep-alive. Lifeguard does the same for HashiCorp's memberlist (A. Dadgar, J. Phillips,
 * J. Currey: Lifeguard: Local health awareness for more accurate failure detection, 2018).
 *
 * A process that was stopped, for example by a debugger, has no lag, though its timer is very late:
 * its state is out of date, other nodes have left it meanwhile, and it must not wait for them. The
 * two cases differ before and after: a stopped process is late once and on time again afterwards,
 * while a process that lacks processor time was late before, or is late again the next time.
 *
 * But in both cases the whole machine may have been stopped, and with it other managers and NICs
 * that it runs. Then links were lost to NICs that live, and their managers come back one after the
 * other. So a manager that was stopped for STOOD or longer calls no node dead or lost for four
 * times as long, at most for member_max (fm_lag_doubts()). By then those that live have joined
 * again, and a root that was elected meanwhile is known by its Inits. A false "dead" would cost the
 * packets to that node; the wait costs time only, on a machine that has lost as much already.
 *
 * Tests: tests/unit/test_lag.c, tests/sim/test_scarce.c and test_pause.c.
 */
#include "daemon/fm/node/lag.h"
#include "daemon/fm/node/machine.h"

#define LATE_MAX (2 * SEC)
#define ON_TIME 8	/* a timer that is late by less than resend / ON_TIME is normal */
#define PASSES 4	/* number of delays in one exchange of messages: see above */
#define STOOD 5		/* in units of fm_config.resend: a manager whose timer is so late was
			 * stopped: see above */

/*
 * Notes that the timer is handled @late ns too late. Return: true if the process was stopped for
 * this time; false if it only gets too little processor time.
 */
static bool note_stop(struct fm *fm, uint64_t late)
{
	bool before = fm->stopped;

	fm->stopped = late > LATE_MAX && late > 2 * fm->lag;
	return fm->stopped && !before;
}

static uint64_t alarm_lateness(const struct fm *fm)
{
	return fm->now > fm->alarm ? fm->now - fm->alarm : 0;
}

void fm_lag_event(struct fm *fm)
{
	uint64_t late = alarm_lateness(fm);

	if (late >= STOOD * fm->cfg.resend)
		fm->doubts = later(fm->doubts,
				   fm->now + earlier(PASSES * late, fm->cfg.member_max));
}

uint64_t fm_lag_doubts(const struct fm *fm)
{
	return fm->doubts;
}

bool fm_lag_note(struct fm *fm)
{
	uint64_t late = alarm_lateness(fm);
	uint64_t least = fm->cfg.resend / ON_TIME;
	bool stopped = note_stop(fm, late);

	fm->alarm = NEVER;
	if (late < least || stopped)
		late = 0;
	if (late >= fm->lag) {
		fm->lag = late;
		fm->lag_at = fm->now;
		return false;
	}
	if (fm->now < fm->lag_at + fm->cfg.keepalive)
		return false;
	fm->lag = fm->lag / 2 < least ? 0 : fm->lag / 2;
	fm->lag_at = fm->now;
	return true;
}

uint64_t fm_lag_late(const struct fm *fm)
{
	return fm->lag;
}

uint64_t fm_lag_answer(const struct fm *fm)
{
	return PASSES * fm->lag;
}
