// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: actions at the NIC
 *
 * An action is begun through struct fm_ops and ends later, with fm_done(): a NIC may be slow, or
 * fail, and meanwhile the machine goes on with messages and timers. The host does the actions in
 * the order in which they were begun, and reports the end of each once.
 *
 * Only one action with a tag is under way at any time. So the statements about the order of a
 * node's actions in recovery.c, table.c and rows.c hold as if each action were done at once. The
 * tests are those of tests/unit/test_fm_task.c.
 *
 *  1. Rows are on hold and the version is in force before counters are read for the report of it:
 *     the count begins when the end of rows_write is known
 *     (actions_of_step_follow_each_other_before_report()).
 *  2. Counters that are reported for a step were read after the step arrived, so all nodes have
 *     answered one count before any of them reads the next. A count that was begun for an older
 *     step (@old) is not reported; another one is begun
 *     (later_count_is_read_after_it_was_asked_for()).
 *  3. Packets are resolved before the count that follows: park_resolve has no tag, because nothing
 *     waits for its end, but the host keeps the order. Packets that it failed to resolve are in
 *     that count, and the root asks for it again.
 *  4. Holds are lifted only while the version that RESUME named is in force: no rows are written
 *     until release has ended, and none are released until rows_write has ended
 *     (failed_release_is_tried_again()).
 *  5. A newer step does not wait for an older one to be done, only for the one action that is under
 *     way (task.c). That action still changes the NIC, so the machine notes its result, but does
 *     not report it (newer_table_replaces_older_after_present_action(),
 *     failure_of_older_step_is_no_failure_of_present()).
 *  6. An action that failed may have been done or not: a time-out does not show which. So nothing
 *     is reported that depends on it, and it is tried again when the root asks for the step again.
 *     All actions may be done twice (repeated_step_is_answered_and_begins_nothing_twice()). See
 *     rows.c for how rows are written when the NIC's present rows are not known
 *     (hello_reports_version_of_failed_write()).
 *  7. Before the first action by order of a root, the NIC is ordered to obey that root (task.c). It
 *     remembers that while this manager starts again, and from then on refuses orders of roots of
 *     earlier epochs, and of another root of the same epoch (kernel/req/fence.c;
 *     nic_obeys_root_before_place_and_rows() of tests/unit/test_fm_obey.c).
 *  8. A NIC that failed or timed out at that order may obey the root nevertheless, and then refuses
 *     other roots of that epoch and earlier ones. HELLO reports this to other roots, which ask all
 *     nodes again in a later epoch (root/epoch.c). Such an order does not count as a promise
 *     (hello_names_both_roots_after_timeout_of_nic() of test_fm_obey.c).
 */
#include <errno.h>
#include <stdlib.h>

#include "daemon/fm/node/nic_actions.h"
#include "daemon/fm/node/machine.h"
#include "lib/deps/invariant.h"

/**
 * struct fm_nic - the action under way, and the root that the NIC obeys
 * @tag: tag of the last action
 * @act: enum fm_act: the action under way
 * @begun: when the last action was begun
 * @took: how long the action before it took, or that one itself, if none is under way
 * @old: that action was begun for a step that is no longer the present one
 * @hello: a HELLO waits for counters
 * @root_epoch, @root_guid: the root that the NIC obeys; 0: none
 * @maybe_epoch, @maybe_guid: another root that the NIC may obey instead, because its last order to
 *	obey failed or timed out; epoch 0: none. GUID 0: one of several roots of that epoch
 * @ordered: this manager has ordered the NIC to obey @root_guid; false: the NIC obeyed that root
 *	already when the manager started
 * @obey: the NIC must be ordered to obey the joined root as soon as no action is under way
 * @asked_epoch, @asked_guid: the root of the last such order
 */
struct fm_nic {
	uint32_t tag;
	uint8_t act;
	uint64_t begun, took;
	bool old;
	bool hello;
	uint64_t root_epoch, root_guid;
	uint64_t maybe_epoch, maybe_guid;
	bool ordered;
	bool obey;
	uint64_t asked_epoch, asked_guid;
};

bool fm_nic_new(struct fm *fm, uint64_t root_epoch, uint64_t root_guid)
{
	fm->nic = calloc(1, sizeof(*fm->nic));
	if (!fm->nic)
		return false;
	fm->nic->root_epoch = root_epoch;
	fm->nic->root_guid = root_guid;
	return true;
}

void fm_nic_free(struct fm *fm)
{
	free(fm->nic);
}

uint64_t fm_nic_takes(const struct fm *fm)
{
	const struct fm_nic *nic = fm->nic;

	return nic->act == FM_ACT_NONE ? nic->took : later(nic->took, fm->now - nic->begun);
}

bool fm_nic_idle(const struct fm *fm)
{
	return fm->nic->act == FM_ACT_NONE;
}

void fm_nic_step(struct fm *fm)
{
	fm->nic->old = true;
}

bool fm_nic_at_hand(const struct fm *fm)
{
	return !fm->nic->old;
}

uint32_t fm_nic_begin(struct fm *fm, enum fm_act act)
{
	struct fm_nic *nic = fm->nic;

	invariant(nic->act == FM_ACT_NONE && act != FM_ACT_NONE);
	nic->act = (uint8_t)act;
	nic->old = false;
	nic->begun = fm->now;
	return ++nic->tag;
}

enum fm_act fm_nic_end(struct fm *fm, uint32_t tag)
{
	struct fm_nic *nic = fm->nic;
	enum fm_act act = nic->act;

	if (tag != nic->tag || act == FM_ACT_NONE)
		return FM_ACT_NONE;
	nic->act = FM_ACT_NONE;
	nic->took = fm->now - nic->begun;
	if (act == FM_ACT_COUNT)
		nic->hello = false;	/* HELLO can use the result of any count */
	return act;
}

bool fm_nic_obeys(const struct fm *fm)
{
	return fm->nic->ordered && fm->nic->root_epoch == fm->term &&
	       fm->nic->root_guid == fm->root_guid;
}

void fm_nic_obey(struct fm *fm)
{
	struct fm_nic *nic = fm->nic;

	nic->obey = false;
	nic->asked_epoch = fm->term;
	nic->asked_guid = fm->root_guid;
	fm->ops.root_set(fm->io, fm_nic_begin(fm, FM_ACT_OBEY), nic->asked_epoch, nic->asked_guid);
}

void fm_nic_obeyed(struct fm *fm, int err)
{
	struct fm_nic *nic = fm->nic;

	invariant(nic->asked_epoch);
	if (!err) {
		nic->root_epoch = nic->asked_epoch;
		nic->root_guid = nic->asked_guid;
		nic->maybe_epoch = nic->maybe_guid = 0;
		nic->ordered = true;
	} else if (err == -ESTALE || nic->asked_epoch < nic->maybe_epoch) {
		return;
	} else if (nic->asked_epoch == nic->maybe_epoch && nic->asked_guid != nic->maybe_guid) {
		nic->maybe_guid = 0;
	} else {
		nic->maybe_epoch = nic->asked_epoch;
		nic->maybe_guid = nic->asked_guid;
	}
}

uint64_t fm_nic_root(const struct fm *fm, uint64_t *epoch)
{
	*epoch = fm->nic->root_epoch;
	return fm->nic->root_guid;
}

void fm_nic_fill(const struct fm *fm, struct fm_hello *h)
{
	const struct fm_nic *nic = fm->nic;

	h->root_epoch = nic->root_epoch;
	h->root_guid = nic->root_guid;
	h->maybe_epoch = nic->maybe_epoch;
	h->maybe_guid = nic->maybe_guid;
}

uint64_t fm_nic_latest(const struct fm *fm)
{
	return later(fm->nic->root_epoch, fm->nic->maybe_epoch);
}

void fm_nic_obey_soon(struct fm *fm)
{
	fm->nic->obey = true;
	if (!fm_nic_idle(fm))
		return;
	fm_nic_obey(fm);
	fm->nic->old = true;	/* the action under way belongs to no step now */
}

void fm_nic_count(struct fm *fm, bool lost)
{
	fm->ops.count(fm->io, fm_nic_begin(fm, FM_ACT_COUNT), lost);
}

void fm_nic_hello(struct fm *fm)
{
	fm->nic->hello = true;
	if (!fm_nic_idle(fm))
		return;
	fm_nic_count(fm, false);
	fm->nic->old = true;	/* the action under way belongs to no step now */
}

void fm_nic_next(struct fm *fm)
{
	if (fm->nic->obey)
		fm_nic_obey_soon(fm);
	else if (fm->nic->hello)
		fm_nic_hello(fm);
}
