// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: lag
 *
 * A manager that gets too little processor time handles messages late. It must not take its own
 * delay for the silence of others: it would leave a parent or a root that lives, and join again,
 * which costs all nodes more processor time than before. In a fabric whose managers share
 * processors (a lab), or at a root that has too many messages, this would never end.
 *
 * So each manager measures by how much its timer is late. Messages are handled as late as that. An
 * answer from another node may have to wait four times: the connection, the question, the answer,
 * and what it leads to. All waits for others are so much longer while this manager is late. It
 * halves its measure once in a keep-alive. Lifeguard has the same idea for memberlist, by HashiCorp
 * (A. Dadgar, J. Phillips, J. Currey: Lifeguard: Local health awareness for more accurate failure
 * detection, 2018).
 *
 * A manager that was stopped for longer, as by a debugger, is not late: what it knows is old. Others
 * have left it meanwhile, and it does not wait for them. It is stopped once, and on time afterwards.
 * One that gets too little time may be late by as much, but it was late before, or is so again the
 * next time.
 */
#include "daemon/fm/node/lag.h"
#include "daemon/fm/node/machine.h"

#define LATE_MAX (2 * SEC)
#define ON_TIME 8	/* so many in resend: an ordinary delay of timers */
#define PASSES 4

/* Return: true if it is @late because it was stopped, and not because it gets too little time. */
static bool was_stopped(struct fm *fm, uint64_t late)
{
	bool before = fm->stopped;

	fm->stopped = late > LATE_MAX && late > 2 * fm->lag;
	return fm->stopped && !before;
}

bool fm_lag_note(struct fm *fm)
{
	uint64_t late = fm->now > fm->alarm ? fm->now - fm->alarm : 0;
	uint64_t least = fm->cfg.resend / ON_TIME;

	fm->alarm = NEVER;
	if (late < least || was_stopped(fm, late))
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
