// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: when a node asks to be root
 *
 * A candidate without a root asks to be root (root/claim.c). First it waits for a short time, in
 * which the root may come back. Candidates ask one after the other, ordered by priority, and those
 * with the default priority by node id. A candidate that follows another asking node waits until
 * that node has had ample time to become root. After each attempt without success a candidate waits
 * twice as long (@tries).
 *
 * Shortly after a node lost its root, it asks its neighbours which root they follow; while a root
 * led this node, it did not need to know. It repeats this as long as no root leads it. If no
 * candidate has asked to be root for NO_ASKER, the node reports a problem. A node that has asked
 * without success because too few nodes answered reports that as a problem, until a root leads it
 * or it leads.
 *
 * Tests: tests/unit/test_fm_candidate.c, tests/sim/test_candidates.c.
 */
#include <stdlib.h>

#include "daemon/fm/node/candidate.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/random.h"
#include "lib/deps/invariant.h"

#define CANDIDATES 8		/* nodes 0 to 7 are candidates by default */
#define TRIES_MAX 5		/* how often the wait is doubled at most */
#define BACKS_MAX 6
#define NO_ASKER (30000 * MS)	/* after this long without a root, and without a node that
				 * asks to be root, a problem is reported */
#define NO_ASKER_KEY 3000	/* key of this problem of kind "root"; bootstrap.c uses lower
				 * keys */
#define TOO_FEW_KEY 3001	/* key of the problem that too few nodes answer this node's
				 * request to be root */
#define UNFIT 20		/* a former root whose NIC has failed does not ask to be root again
				 * during this multiple of fm_config.member_max */
#define FOLLOW_WAIT 10		/* an asking node that other nodes follow has to become root within
				 * this multiple of fm_config.takeover */
#define ANSWER_WAIT 5		/* a node waits for the first answer of a root to its HELLO for this
				 * multiple of fm_config.resend */
#define MEMORY_WAIT 10		/* in units of fm_config.resend: how long a node without memory
				 * waits before it tries again */
#define LOOKS 4			/* takeover / LOOKS is the interval in which a node checks
				 * whether its root answers */

/**
 * struct fm_candidate - when this node asks to be root
 * @at: when this node asks to be root, if no root leads it by then; NEVER: it does not
 * @around: when it asks its neighbours which root they follow; NEVER: it does not
 * @asked: while this node was led, a neighbour's Init named an asking node
 * @called: the root has handed over to this node; @relieves: it did so because its own NIC fails
 * @unfit: this node does not ask before this time, because its NIC failed while it was root; 0: it
 *	may ask
 * @tries: how often it has asked without success since a root led it, at most TRIES_MAX
 * @backs: how often an asking node that it followed was lost or gave up, at most BACKS_MAX
 */
struct fm_candidate {
	uint64_t at, around, unfit;
	bool asked, called, relieves;
	unsigned int tries, backs;
};

bool fm_candidate_new(struct fm *fm)
{
	fm->candidate = calloc(1, sizeof(*fm->candidate));
	return fm->candidate;
}

void fm_candidate_free(struct fm *fm)
{
	free(fm->candidate);
}

/* Return: the priority that this node has by its configuration. */
static unsigned int configured_priority(const struct fm *fm)
{
	if (!fm->cfg.takeover)
		return 0;
	return fm->cfg.priority == FM_PRIORITY_AUTO && fm->bootstrap ? FM_PRIORITY_MAX :
								    fm->cfg.priority;
}

unsigned int fm_candidate_stated(const struct fm *fm)
{
	return fm->now < fm->candidate->unfit ? 0 : configured_priority(fm);
}

void fm_candidate_unfit(struct fm *fm)
{
	fm->candidate->unfit = fm->now + UNFIT * fm->cfg.member_max;
}

void fm_candidate_fit(struct fm *fm)
{
	fm->candidate->unfit = 0;
}

unsigned int fm_candidate_priority(unsigned int stated, uint32_t node)
{
	if (stated != FM_PRIORITY_AUTO)
		return stated;
	return node < CANDIDATES ? FM_PRIORITY_DEFAULT : 0;
}

static unsigned int priority_now(const struct fm *fm)
{
	return fm_candidate_priority(configured_priority(fm),
				     fm->placed ? fm->node : TORUS_NO_NODE);
}

/*
 * Return: the delay of this candidate, after the time in which no candidate asks, until it asks.
 * First come the candidates with a priority above the default, then those with the default, by
 * their ids, then those with a priority below it. The delays of neighbouring priorities differ by
 * less than the times at which nodes notice the loss of the root; otherwise the last candidate
 * would wait for seconds.
 */
static uint64_t turn_delay(struct fm *fm)
{
	uint64_t first = FM_PRIORITY_MAX - priority_now(fm),
		 second = fm->placed ? fm->node % CANDIDATES : 0;
	uint64_t slot = fm->cfg.takeover / 4, some = fm_random(fm);

	if (priority_now(fm) < FM_PRIORITY_DEFAULT)
		return first * MS + CANDIDATES * slot + second * MS / 8 + some % (MS / 16);
	if (priority_now(fm) > FM_PRIORITY_DEFAULT)
		return first * MS / 2 + second * MS / 16 + some % (MS / 32);
	return first * MS / 2 + second * slot + some % (slot / 2 + 1);
}

void fm_candidate_adrift(struct fm *fm)
{
	struct fm_candidate *c = fm->candidate;

	c->at = c->around = NEVER;
	c->called = false;
	if (!fm->cut_off || fm->root_asks)
		fm_problem_clear(fm, "root", NO_ASKER_KEY);
	if (!fm->cut_off) {
		fm_problem_clear(fm, "root", TOO_FEW_KEY);
		c->tries = c->backs = 0;
		return;
	}
	if (!fm->cfg.takeover || fm->is_root)
		return;
	if (!fm->root_asks && fm->led.guid)
		c->around = fm->now + (c->asked ? 0 : fm->cfg.takeover / 2 << c->backs);
	else if (fm->root_asks)
		c->around = fm->now + FOLLOW_WAIT * fm->cfg.takeover;
	c->asked = false;
	if (!priority_now(fm) || (!fm->placed && !fm->bootstrap))
		return;
	c->at = later(fm->now, c->unfit) + fm_candidate_wait(fm) + turn_delay(fm);
	if (fm->root_asks)
		c->at += FOLLOW_WAIT * fm->cfg.takeover;
}

void fm_candidate_called(struct fm *fm, bool relieves)
{
	fm->candidate->at = fm->now;
	fm->candidate->called = true;
	fm->candidate->relieves = relieves;
}

bool fm_candidate_take_call(struct fm *fm, bool *relieves)
{
	struct fm_candidate *c = fm->candidate;
	bool called = c->called;

	*relieves = called && c->relieves;
	c->called = false;
	return called;
}

void fm_candidate_asked(struct fm *fm)
{
	fm->candidate->asked = true;
}

void fm_candidate_back(struct fm *fm)
{
	if (fm->candidate->backs < BACKS_MAX)
		fm->candidate->backs++;
}

void fm_candidate_too_few(struct fm *fm, uint32_t here, uint32_t need)
{
	if (here < need)
		fm_problem_set(fm, "root", TOO_FEW_KEY,
			       "no root: this node asked to be root, and only %u of the %u nodes "
			       "that it needs answered: start the managers of the others, or "
			       "switch off those that are gone",
			       here, need);
}

uint64_t fm_candidate_wait(const struct fm *fm)
{
	return fm->cfg.takeover << fm->candidate->tries;
}

void fm_candidate_memory(struct fm *fm)
{
	fm_log(fm, FM_ERROR, "root", "no memory to ask to be root; it is tried again soon");
	fm->candidate->at = fm->now + MEMORY_WAIT * fm->cfg.resend;
}

/*
 * Return: true if this node has sent HELLO to a root and waits for the answer, or waits for the
 * counters of its NIC, which the HELLO contains; with slow NICs both take a while. An open
 * connection alone proves nothing: a host accepts connections even for a manager that hangs.
 */
static bool is_joining(const struct fm *fm)
{
	const struct fm_conn *c = fm_conn_of_role(fm, FM_CONN_ROOT);

	return c && c->ready &&
	       (c->hello || fm->now < c->received + ANSWER_WAIT * fm->cfg.resend + 2 * c->pace);
}

/* Reports a problem if no candidate has asked to be root for NO_ASKER. */
static void check_no_asker(struct fm *fm)
{
	if (!fm->have_root || fm->root_asks || fm->is_root || !fm->cut_off ||
	    fm->now < fm->cut_off + NO_ASKER)
		return;
	fm_problem_set(fm, "root", NO_ASKER_KEY,
		       "no root, and no node asks to be root: start the manager of a "
		       "candidate (root_priority is not 0)");
}

bool fm_candidate_due(struct fm *fm)
{
	struct fm_candidate *c = fm->candidate;

	if (fm->now >= c->around) {
		check_no_asker(fm);
		c->around = fm->cut_off ? fm->now + FOLLOW_WAIT * fm->cfg.takeover : NEVER;
		fm_ports_ask(fm);
	}
	if (fm->now < c->at)
		return false;
	if (!c->called && is_joining(fm)) {
		c->at = fm->now + fm->cfg.takeover / LOOKS;
		return false;
	}
	c->at = NEVER;
	invariant(c->tries <= TRIES_MAX && c->backs <= BACKS_MAX);
	if (c->tries < TRIES_MAX)
		c->tries++;
	return fm->cut_off && !fm->is_root;
}

uint64_t fm_candidate_expiry(const struct fm *fm)
{
	return earlier(fm->candidate->at, fm->candidate->around);
}
