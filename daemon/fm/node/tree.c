// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the distribution tree
 *
 * Every node first joins at the root: it sends HELLO, and gets a WELCOME with the address of a
 * parent. Then it sends HELLO to the parent, and leaves the root when the parent has sent WELCOME.
 * So the root serves only its own children and the nodes that are just joining. To these guests the
 * root sends a step only when it repeats it, because normally their parents send it. A node that
 * loses its parent goes back to the root, after a random delay; its own children stay with it. If
 * the parent that the root named does not take the node, the node reports this to the root
 * (@stray), and stays a child of the root.
 *
 * Each start of a root begins a new epoch, later than all that nodes know of. A node that obeys a
 * root in a new epoch drops its children, so that all nodes come to the root and report their rows
 * to it. Orders of roots of former epochs are not obeyed, even if they are still under way.
 *
 * A connection delivers in order or breaks. Messages that must survive a break are repeated: HELLO
 * until WELCOME; a row until a table comes that was made from it; children are announced again on
 * each new connection upward; steps are repeated by the node that waits for the reports (member.c,
 * recovery.c).
 *
 * Two first roots may have the same epoch, and a node that the Inits of both reach may change from
 * one to the other before its NIC obeys either. So the parent that one root names may follow the
 * other root by the time a child connects. It refuses a child whose NIC obeys another root than its
 * own, and a node leaves a parent that welcomes it in the name of another root; its root then names
 * another parent.
 *
 * The root never makes a cycle of parents, but a peer that lies can, and messages would be passed
 * up in it without end. So a node with a new connection upward sends its row there. If that row
 * comes back from a child, there is a cycle, and the node drops that child.
 *
 * A manager that hangs keeps its connections. It is found by its silence: by its children after one
 * and a half keep-alives, because no other node can inform them that the root hangs; by its parent
 * after four keep-alives. A parent that waits for its report in a recovery finds it sooner, because
 * a manager that lives answers a repeated step at once. A manager that answers and does not report
 * is reported by its parent (member.c). A node without a way to the root informs its children, so
 * that each node knows if its table is out of date.
 *
 * A host without power closes no connection either. The root finds it by its cables, and sends DROP
 * to the nodes that are connected to it (root/vanish.c). If only its own children have lost a cable
 * to it, they find it themselves: each node that passes a row up pings its parent.
 *
 * Tests: tests/unit/test_fm_tree.c, test_fm_silence.c and test_fm_parent_messages.c,
 * tests/sim/test_liar.c.
 */
#include <string.h>

#include "daemon/fm/node/tree.h"
#include "daemon/fm/node/called.h"
#include "daemon/fm/node/children.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/follow.h"
#include "daemon/fm/node/grower.h"
#include "daemon/fm/node/handover.h"
#include "daemon/fm/node/keep.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/member.h"
#include "daemon/fm/node/nic_actions.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/reports.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/node/task.h"
#include "daemon/fm/node/try.h"
#include "daemon/fm/node/uplink.h"
#include "lib/deps/invariant.h"

const struct fm_up fm_up_parent = { .send = fm_uplink_send, .hello = fm_child_ask };

void fm_tree_up(struct fm *fm, int id)
{
	struct fm_conn *c = fm_conn_find(fm, id);

	if (!c) {
		if (!fm_conn_add(fm, id, FM_CONN_STRANGER))
			fm->ops.close(fm->io, id);
		return;
	}
	if (c->role == FM_CONN_NOTICE || c->role == FM_CONN_PROBE || c->role == FM_CONN_CALL) {
		fm->up->reached(fm, c);
		return;
	}
	if (c->role == FM_CONN_TRY && !fm_try_reached(fm, c))
		return;
	if (!fm_conn_upward(c))
		return;
	c->ready = true;
	c->received = fm->now;
	if (c->role == FM_CONN_ROOT)
		fm_follow_reached(fm);
	fm_uplink_reached(fm, c);
	fm_conn_look(fm, c);
}

/*
 * Called when the parent is lost: the one that the root named last, or (@confirmed) the one that
 * had accepted this node.
 */
static void parent_lost(struct fm *fm, bool confirmed)
{
	struct fm_conn *c = fm_conn_of_role(fm, FM_CONN_ROOT);

	if (!confirmed) {
		fm_uplink_stray(fm, true);
	} else {
		fm_log(fm, FM_WARNING, "tree", "this node has lost its parent");
	}
	if (c && c->ready)
		fm_uplink_hello(fm, c);
	else if (!c)
		fm_uplink_retry(fm, 0);
}

static void conn_lost(struct fm *fm, struct fm_conn *c)
{
	struct fm_conn was = *c;

	invariant(!c->confirmed || fm_conn_upward(c));
	invariant(!c->guest || c->role == FM_CONN_CHILD);
	fm_reports_forget(fm, c);
	fm_conn_forget(fm, c);
	if (was.confirmed && !fm_uplink_conn(fm))
		fm_uplink_adrift(fm, true);
	switch (was.role) {
	case FM_CONN_ROOT:
		if (!was.ready)
			fm_follow_unreached(fm);
		if (!was.confirmed)
			fm_follow_back(fm);
		if (!fm_conn_of_role(fm, FM_CONN_PARENT))
			fm_uplink_retry(fm, 0);
		break;
	case FM_CONN_PARENT:
		parent_lost(fm, was.confirmed);
		break;
	case FM_CONN_CHILD:
		fm_child_gone(fm, &was);
		break;
	case FM_CONN_TRY:
		fm_try_failed(fm, was.ready);
		break;
	}
}

static void end_conn(struct fm *fm, struct fm_conn *c)
{
	fm->ops.close(fm->io, c->id);
	conn_lost(fm, c);
}

void fm_tree_lose(struct fm *fm, uint64_t guid)
{
	struct fm_conn *c = fm_conn_of_child(fm, guid, NULL);

	if (c)
		end_conn(fm, c);
}

/* Closes the connections to a node without power, which cannot close them itself. */
static void take_drop(struct fm *fm, const struct fm_drop *d)
{
	struct fm_conn *c = fm_conn_of_role(fm, FM_CONN_PARENT);

	if (d->term != fm->term)
		return;
	fm_tree_lose(fm, d->guid);
	if (!c || !fm_uplink_is_parent(fm, d->address))
		return;
	end_conn(fm, c);
	fm_uplink_hurry(fm);
}

void fm_tree_down(struct fm *fm, int id)
{
	struct fm_conn *c = fm_conn_find(fm, id);

	if (c)
		conn_lost(fm, c);
}

/*
 * Called when the connection upward is new, here or at a node above. Messages on the former one may
 * be lost, so this node and all nodes below send them again.
 */
static void upstream_new(struct fm *fm)
{
	fm_children_announce(fm);
	fm_uplink_row_again(fm);
	fm_member_check(fm, true);
	fm_keep_send(fm);
}

/*
 * Return: true if the NIC may be ordered to obey the root: its epoch is later than that of the root
 * that the NIC obeys, or it is the same root. An epoch far above the known ones is a mistake or a
 * lie, and is reported as a problem: a NIC that obeyed it would refuse all other roots.
 */
static bool check_epoch(struct fm *fm, const struct fm_welcome *w)
{
	uint64_t known = later(fm_nic_latest(fm), fm->kept.term), obeys;
	uint64_t guid = fm_nic_root(fm, &obeys);
	bool same = w->term == obeys && w->root_guid == guid;
	char root[FM_WHO_MAX], obeyed[FM_WHO_MAX];

	if (same || (w->term > obeys &&
		     (!known || w->term <= known + FM_EPOCH_STEP))) {
		fm_problem_clear(fm, "root", 1);
		return true;
	}
	fm_problem_set(fm, "root", 1,
		       "root %s is of epoch %llu; the NIC obeys %s of %llu, and later ones up to "
		       "%llu",
		       fm_table_name(fm, w->root_guid, root), (unsigned long long)w->term,
		       fm_table_name(fm, guid, obeyed), (unsigned long long)obeys,
		       (unsigned long long)known + FM_EPOCH_STEP);
	return false;
}

/* Joins the root in epoch @term: ends everything that belongs to a former epoch. */
static void enter_term(struct fm *fm, uint64_t term)
{
	if (fm->term == term)
		return;
	fm->term = term;
	fm_task_stop(fm);
	fm_children_drop(fm);
}

/*
 * Called when another root has answered, or the followed root has refused this node, and the
 * connection is closed. The followed root then counts as lost, so that this node can follow another
 * candidate. @wait: ns after which the root accepts this node; 0: not known
 */
static void give_up_root(struct fm *fm, uint64_t wait)
{
	fm_follow_refused(fm);
	if (!fm->led.guid)
		fm_follow_shun(fm);
	fm_follow_back(fm);
	fm_uplink_refused(fm, wait);
}

/*
 * Called when another root answers at the address of the followed one (@refusal is NULL), or the
 * node there has refused this one.
 */
static void leave_wrong_root(struct fm *fm, struct fm_conn *c, const struct fm_refuse *refusal)
{
	fm_conn_drop(fm, c);
	if (fm_try_mistaken(fm, refusal))
		fm_uplink_retry(fm, 0);
	else
		give_up_root(fm, refusal ? refusal->wait_ms * MS : 0);
}

/*
 * Return: true if another root than the followed one answers at its address: the host was replaced,
 * or another host got the address. If links lead there, an Init will name that root. If this node
 * waited for the WELCOME of that root, it would not ask to be root, even if no links lead there.
 */
static bool answers_for_another(const struct fm *fm, const struct fm_conn *c, uint64_t guid)
{
	return c->role == FM_CONN_ROOT && !c->confirmed && guid != fm->root_guid;
}

/*
 * Processes CLAIM of a node that wants to be root, and does not welcome this node yet. Without an
 * epoch, the sender only asks which nodes would obey it. With an epoch, it claims to lead: this
 * node orders its NIC to obey the sender, and then sends HELLO again. That HELLO is the promise:
 * from then on this NIC refuses orders of roots of earlier epochs.
 */
static void take_claim(struct fm *fm, struct fm_conn *c, const struct fm_claim *m)
{
	const struct fm_welcome w = { .term = m->epoch, .root_guid = m->guid };

	if (answers_for_another(fm, c, m->guid)) {
		leave_wrong_root(fm, c, NULL);
		return;
	}
	if (m->guid != fm->root_guid || c->role != FM_CONN_ROOT || c->confirmed)
		return;
	fm_try_answered(fm);
	fm->asker = *m;
	fm_follow_counted(fm, m->here);
	fm_conn_pace(fm, c, m->epoch ? 0 : m->again_ms);
	/*
	 * If no Init named the sender, this node knew only its address until now. From now on the
	 * Inits of this node name it.
	 */
	if (fm->root_asks || !m->epoch)
		fm_follow_met(fm);
	if (!m->epoch || !check_epoch(fm, &w))
		return;
	enter_term(fm, m->epoch);
	fm_follow_epoch(fm, m->epoch);
	if (!fm_nic_obeys(fm))
		fm_nic_obey_soon(fm);
	fm_uplink_hello(fm, c);
}

static void take_welcome(struct fm *fm, struct fm_conn *c, const struct fm_welcome *w)
{
	bool first = !c->confirmed;

	if (answers_for_another(fm, c, w->root_guid)) {
		leave_wrong_root(fm, c, NULL);
		return;
	}
	if (c->role == FM_CONN_PARENT && w->root_guid != fm->root_guid) {
		end_conn(fm, c);
		return;
	}
	if (w->root_guid != fm->root_guid || !w->term || !check_epoch(fm, w))
		return;
	c->confirmed = true;
	if (c->role == FM_CONN_ROOT)
		fm_try_answered(fm);
	if (!w->adrift) {
		fm_follow_led(fm, w->term);
		fm_uplink_adrift(fm, false);
	} else if (c->role == FM_CONN_ROOT) {
		fm->asker = (struct fm_claim) {
			.epoch = w->term, .guid = w->root_guid, .here = w->here, .need = w->need,
		};
		fm_follow_met(fm);
	}
	fm_uplink_welcomed(fm, c->role == FM_CONN_ROOT);
	fm_problem_clear(fm, "refused", 0);
	if (c->role == FM_CONN_PARENT) {
		fm_uplink_stray(fm, false);
		c = fm_conn_of_role(fm, FM_CONN_ROOT);
		if (c && w->term == fm->term)
			fm_conn_drop(fm, c);
		upstream_new(fm);
		return;
	}
	enter_term(fm, w->term);
	if (w->parent[0])
		fm_uplink_parent(fm, w->parent);
	else
		fm_uplink_stray(fm, false);
	if (first)
		upstream_new(fm);
}

static void take_refusal(struct fm *fm, struct fm_conn *c, const struct fm_refuse *m)
{
	if (c->role == FM_CONN_PARENT) {
		end_conn(fm, c);
		return;
	}
	fm_problem_set(fm, "refused", 0, "the root refuses this node: %s", m->text);
	leave_wrong_root(fm, c, m);
}

/*
 * Processes PONG of the parent, or of the root, which contains whether the sender has a way to the
 * root. A root that answers that it is adrift (without such a way) does not lead yet
 * (root/claim.c), but is not lost.
 */
static void take_pong(struct fm *fm, const struct fm_conn *c, bool adrift)
{
	if (adrift && c->role == FM_CONN_ROOT && fm->cut_off) {
		fm_follow_met(fm);
		return;
	}
	if (!adrift)
		fm_follow_led(fm, fm->term);
	fm_uplink_adrift(fm, adrift);
}

/*
 * Sends the present or the kept table of this node to a node that wants to be root and has
 * requested it.
 */
static void send_former(struct fm *fm, const struct fm_conn *c, const struct fm_fetch *f)
{
	struct fm_msg msg;

	if (c->role != FM_CONN_ROOT && c->role != FM_CONN_TRY)
		return;
	if (!f->former) {
		if (fm_keep_whole(fm, &msg))
			fm_conn_send(fm, c, &msg);
	} else if (fm->table.version && fm_table_whole(fm, &msg)) {
		msg.table.former = true;
		msg.table.maker = fm->table.root_guid;
		fm_conn_send(fm, c, &msg);
		fm_table_whole_end(fm, &msg);
	}
}

/* Processes a message on a connection upward, which this node has opened. */
static void from_above(struct fm *fm, struct fm_conn *c, const struct fm_msg *msg)
{
	switch (msg->type) {
	case FM_MSG_WELCOME:
		take_welcome(fm, c, &msg->welcome);
		break;
	case FM_MSG_REFUSE:
		take_refusal(fm, c, &msg->refuse);
		break;
	case FM_MSG_CLAIM:
		take_claim(fm, c, &msg->claim);
		break;
	case FM_MSG_PONG:
		if (c == fm_uplink_conn(fm))
			take_pong(fm, c, msg->pong.adrift);
		break;
	case FM_MSG_TABLE:
		if (c->confirmed)
			fm_member_table(fm, &msg->table);
		break;
	case FM_MSG_STEP:
		if (c->confirmed)
			fm_member_step(fm, &msg->step);
		break;
	case FM_MSG_DROP:
		if (c->confirmed)
			take_drop(fm, &msg->drop);
		break;
	case FM_MSG_FETCH:
		send_former(fm, c, &msg->fetch);
		break;
	case FM_MSG_LEAD:
		if (c->confirmed && msg->lead.term == fm->term)
			fm_handover(fm, &msg->lead);
		break;
	case FM_MSG_GROW:
		if (c->confirmed && msg->grow.term == fm->term)
			fm_grower_order(fm, &msg->grow);
		break;
	}
}

/* Processes a message of a root that this node asks before it leaves its own: see try.c. */
static void from_tried(struct fm *fm, struct fm_conn *c, const struct fm_msg *msg)
{
	if (msg->type == FM_MSG_FETCH)
		send_former(fm, c, &msg->fetch);
	else if (fm_try_answer(fm, c, msg))
		from_above(fm, c, msg);
}

/*
 * Return: true if this node itself sent the message, which has come back: a notice about a child is
 * sent by its parent.
 */
static bool is_ours(const struct fm *fm, const struct fm_msg *msg)
{
	switch (msg->type) {
	case FM_MSG_ROW:
		return msg->row.guid == fm->guid;
	case FM_MSG_FAILED:
		return (msg->failed.by ? msg->failed.by : msg->failed.guid) == fm->guid;
	case FM_MSG_LEAD:
		return msg->lead.guid == fm->guid;
	case FM_MSG_KEPT:
		return msg->kept.guid == fm->guid;
	case FM_MSG_GROWN:
		return msg->grown.guid == fm->guid;
	}
	return msg->left.parent == fm->guid;
}

static void from_child(struct fm *fm, struct fm_conn *c, const struct fm_msg *msg)
{
	switch (msg->type) {
	case FM_MSG_PING:
		fm_uplink_pong(fm, c);
		break;
	case FM_MSG_FETCH:
		fm_member_child(fm, c, 0);
		break;
	case FM_MSG_PONG:
		if (msg->pong.waits)
			c->busy = fm->now;
		break;
	case FM_MSG_REPORT:
		fm_member_report(fm, c, &msg->report);
		break;
	case FM_MSG_ROW:
	case FM_MSG_LEFT:
	case FM_MSG_ADOPTED:
	case FM_MSG_FAILED:
	case FM_MSG_LEAD:
	case FM_MSG_KEPT:
	case FM_MSG_GROWN:
		if (!fm->is_root && is_ours(fm, msg)) {
			end_conn(fm, c);
		} else {
			fm->up->send(fm, msg);
			if (msg->type == FM_MSG_ROW)
				fm_uplink_ask(fm);
			else if (msg->type == FM_MSG_FAILED)
				fm_member_excuse(fm, &msg->failed);
		}
		break;
	}
}

/* Processes DROP on a connection that the root has opened only for this. */
static void from_root(struct fm *fm, struct fm_conn *c, const struct fm_drop *d)
{
	end_conn(fm, c);
	take_drop(fm, d);
}

static bool is_accepted(const struct fm_conn *c)
{
	return c->role == FM_CONN_STRANGER || c->role == FM_CONN_CHILD;
}

void fm_tree_msg(struct fm *fm, int id, const struct fm_msg *msg)
{
	struct fm_conn *c = fm_conn_find(fm, id);

	if (!c)
		return;
	c->received = fm->now;
	c->answered = true;
	c->urgent = c->greeted = 0;
	if (c->hellos)
		fm_conn_hurry(fm, c);
	c->hellos = 0;
	if (fm_conn_upward(c))
		from_above(fm, c, msg);
	else if (c->role == FM_CONN_TRY)
		from_tried(fm, c, msg);
	else if (c->role == FM_CONN_STRANGER && msg->type == FM_MSG_DROP)
		from_root(fm, c, &msg->drop);
	else if (c->role == FM_CONN_STRANGER && msg->type == FM_MSG_CLAIM)
		fm_called(fm, c, &msg->claim);
	else if (c->role == FM_CONN_CALL && msg->type == FM_MSG_CLAIM)
		fm_called_back(fm, c, &msg->claim);
	else if (is_accepted(c) && msg->type == FM_MSG_HELLO)
		fm_child_hello(fm, c, &msg->hello);
	else if (is_accepted(c) && msg->type == FM_MSG_TABLE && fm->is_root)
		fm->up->send(fm, msg);
	else if (c->role == FM_CONN_CHILD)
		from_child(fm, c, msg);
	fm_conn_look(fm, fm_conn_find(fm, id));
}

/* Does what is due on a connection. Return: true if the connection is gone. */
static bool conn_due(struct fm *fm, struct fm_conn *c)
{
	struct fm_msg ping = { .type = FM_MSG_PING };

	if (fm_conn_expiry(fm, c) > fm->now)
		return false;
	if (!c->ready || fm->now >= fm_conn_lost_at(fm, c)) {
		end_conn(fm, c);
		return true;
	}
	if (!c->confirmed) {
		fm_uplink_hello(fm, c);
	} else {
		c->asked = fm->now;
		fm_conn_send(fm, c, &ping);
		if (c == fm_uplink_conn(fm))
			fm_keep_send(fm);
		/* A HELLO still waits because the counters could not be read: read them again. */
		if (c->hello)
			fm_nic_hello(fm);
	}
	return false;
}

static void conns_due(struct fm *fm)
{
	for (unsigned int i = 0; i < fm_conns_count(fm);)
		if (!conn_due(fm, fm_conn_no(fm, i)))
			i++;
	fm_conns_look(fm);
}

void fm_tree_due(struct fm *fm)
{
	if (fm->now >= fm_conns_expiry(fm))
		conns_due(fm);
	fm_uplink_due(fm);
}

uint64_t fm_tree_expiry(const struct fm *fm)
{
	return earlier(fm_conns_expiry(fm), fm_uplink_expiry(fm));
}
