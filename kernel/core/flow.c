// SPDX-License-Identifier: GPL-2.0-only
/* End-to-end sequence; see flow.h. */
#include "flow.h"

_Static_assert(sizeof(struct tn_flow_tx) == 8 && sizeof(struct tn_flow_rx) == 8,
	       "each node has TN_FLOWS of each");
_Static_assert(TN_FLOW_BUCKETS % 64 == 0, "tn_flows.look has words of 64 bits");

/* binary logarithm of the number of versions after which all flows are examined for old epochs */
#define AGE_STEP	12
/* a flow is marked as old if its epoch is this many versions behind */
#define AGE_OLD		0x2000u
/* a 16-bit difference of this much or more means that the first epoch is earlier */
#define BEFORE		0x8000u
/* an epoch further ahead of this NIC's version than this is doubtful (flow.h, Trust) */
#define EPOCH_AHEAD	64u
/* position in tn_flow_rx.flags of the number of the commit during which a doubt began */
#define DOUBT_SHIFT	5
/* this number is 1 to DOUBTS, counted modulo DOUBTS; 0: there is no doubt */
#define DOUBTS		7
/* a number further ahead than this counts as behind (flow.h) */
#define AHEAD_MAX	(1u << 26)
/* ranks of the trees of a heap, which has 2^32 packets at most */
#define RANKS		32u

void tn_flows_init(struct tn_flows *f, struct tn_flow_tx *tx, struct tn_flow_rx *rx,
		   u32 nodes)
{
	memset(f, 0, sizeof(*f));
	f->tx = tx;
	f->rx = rx;
	f->nodes = nodes;
	f->since = ~0ull;
}

static u32 flow_index(u32 node, unsigned int service, unsigned int vc)
{
	tn_assert(service < TN_FLOW_SERVICES && vc < TN_FLOW_VCS);
	return node * TN_FLOWS + service * TN_FLOW_VCS + vc;
}

void tn_flow_stamp(struct tn_flows *f, struct tn_pkt *pkt, unsigned int vc)
{
	struct tn_flow_tx *tx;

	pkt->tail.epoch = 0;
	pkt->tail.eseq = 0;
	if (vc >= TN_FLOW_VCS)
		return;
	tn_assert(pkt->hdr.dst < f->nodes);
	tx = &f->tx[flow_index(pkt->hdr.dst, pkt->tail.vb, vc)];
	pkt->tail.epoch = tx->epoch;
	pkt->tail.eseq = tx->next++;
}

void tn_flow_stamped(struct tn_flows *f, const struct tn_pkt *pkt, unsigned int vc, u32 n)
{
	struct tn_flow_tx *tx = &f->tx[flow_index(pkt->hdr.dst, pkt->tail.vb, vc)];

	tn_assert(pkt->hdr.dst < f->nodes);
	tn_assert(tx->epoch == pkt->tail.epoch && tx->next == pkt->tail.eseq + 1);
	tx->next += n;
}

void tn_flow_begin(struct tn_flows *f, u32 dst, u64 version)
{
	unsigned int i;

	tn_assert(dst < f->nodes);
	for (i = 0; i < TN_FLOWS; i++) {
		struct tn_flow_tx *tx = &f->tx[dst * TN_FLOWS + i];

		/*
		 * two numberings of one epoch would look the same, so each version begins at most
		 * one
		 */
		if (tx->epoch == (u16)version)
			continue;
		tx->epoch = (u16)version;
		tx->next = 0;
	}
}

/* Return: true if the epoch of the flow is so old at @version that it cannot be compared. */
static bool is_old_at(const struct tn_flow_rx *rx, u64 version)
{
	u16 behind = (u16)((u16)version - rx->epoch);

	/*
	 * A difference of BEFORE or more means that the source already has a later table than this
	 * NIC.
	 */
	return behind >= AGE_OLD && behind < BEFORE;
}

void tn_flows_age(struct tn_flows *f, u32 first, u32 n, u64 version)
{
	u32 i;

	tn_assert(first <= f->nodes && n <= f->nodes - first);
	if (f->aged >> AGE_STEP == version >> AGE_STEP)
		return;
	for (i = first * TN_FLOWS; i < (first + n) * TN_FLOWS; i++) {
		if (is_old_at(&f->rx[i], version))
			f->rx[i].flags |= TN_FLOW_OLD;
	}
	if (first + n == f->nodes)
		f->aged = version;
}

void tn_flows_commit(struct tn_flows *f, u64 version)
{
	f->version = (u16)version;
	f->commits++;
}

static struct tn_flow_rx *rx_of(struct tn_flows *f, const struct tn_pkt *pkt)
{
	tn_assert(pkt->hdr.src < f->nodes);
	return &f->rx[flow_index(pkt->hdr.src, pkt->tail.vb, pkt->hdr.vc)];
}

/* Return: true if @epoch is further ahead of this NIC's version than an honest source should be. */
static bool is_doubtful(const struct tn_flows *f, u16 epoch)
{
	u16 ahead = (u16)(epoch - f->version);

	return ahead > EPOCH_AHEAD && ahead < BEFORE;
}

/* Return: the number with which a doubt that begins now is stored in tn_flow_rx.flags. */
static u8 present_doubt(const struct tn_flows *f)
{
	return (u8)(f->commits % DOUBTS + 1);
}

/*
 * Return: true if the epoch of the flow was forged: it was doubtful when it arrived, this NIC has
 * committed a table since, and the epoch is still doubtful.
 */
static bool is_refuted(const struct tn_flows *f, const struct tn_flow_rx *rx)
{
	u8 doubt = rx->flags >> DOUBT_SHIFT;

	return doubt && doubt != present_doubt(f) && is_doubtful(f, rx->epoch);
}

/* Return: true if @epoch belongs to an earlier numbering of the flow than the present one. */
static bool is_late(const struct tn_flows *f, const struct tn_flow_rx *rx, u16 epoch)
{
	return (rx->flags & (TN_FLOW_KNOWN | TN_FLOW_OLD)) == TN_FLOW_KNOWN &&
	       (u16)(epoch - rx->epoch) >= BEFORE &&
	       !(f->commits && is_old_at(rx, f->version)) && !is_refuted(f, rx);
}

/*
 * Return: 0 if @eseq is the expected number of the flow, a positive value if it is ahead of that, a
 * negative one if it is behind.
 */
static int how_far_ahead(const struct tn_flow_rx *rx, u32 eseq)
{
	u32 by = eseq - rx->expected;

	if (rx->flags & TN_FLOW_FRESH)
		return eseq != 0;
	return by > AHEAD_MAX ? -1 : by != 0;
}

/* Gives up the missing packets before @eseq and counts them as lost. */
static void skip_missing(struct tn_flows *f, struct tn_flow_rx *rx, u32 eseq)
{
	if ((rx->flags & (TN_FLOW_FRESH | TN_FLOW_FIRST)) != (TN_FLOW_FRESH | TN_FLOW_FIRST))
		f->lost += eseq - rx->expected;
	rx->expected = eseq;
	rx->flags &= (u8)~TN_FLOW_FRESH;
	tn_assert(!how_far_ahead(rx, eseq));
}

static bool same_flow(const struct tn_pkt *a, const struct tn_pkt *b)
{
	return a->hdr.src == b->hdr.src && a->hdr.vc == b->hdr.vc && a->tail.vb == b->tail.vb;
}

static unsigned int bucket_of(const struct tn_pkt *pkt)
{
	unsigned int of_service = pkt->tail.vb * (TN_FLOW_BUCKETS / TN_FLOW_SERVICES);

	return (pkt->hdr.src * TN_FLOW_VCS + pkt->hdr.vc + of_service) % TN_FLOW_BUCKETS;
}

/*
 * Called when a waiting packet of the flow of @of may have become the next one: marks its bucket
 * for tn_flow_next().
 */
static void mark_flow(struct tn_flows *f, const struct tn_pkt *of)
{
	unsigned int b = bucket_of(of);

	f->look[b / 64] |= 1ull << b % 64;
}

enum tn_flow_turn tn_flow_turn(struct tn_flows *f, const struct tn_pkt *pkt)
{
	struct tn_flow_rx *rx = rx_of(f, pkt);
	bool may_jump = f->licensed && rx->licence != f->licence;
	int turn;

	if (is_late(f, rx, pkt->tail.epoch))
		return TN_FLOW_LATE;
	if (!(rx->flags & TN_FLOW_KNOWN) || rx->epoch != pkt->tail.epoch) {
		rx->flags = (u8)((rx->flags & TN_FLOW_WAITING) | TN_FLOW_FRESH | TN_FLOW_KNOWN |
				 (rx->flags & TN_FLOW_KNOWN ? 0 : TN_FLOW_FIRST));
		if (is_doubtful(f, pkt->tail.epoch))
			rx->flags |= (u8)(present_doubt(f) << DOUBT_SHIFT);
		rx->epoch = pkt->tail.epoch;
		rx->expected = 0;
	}
	turn = how_far_ahead(rx, pkt->tail.eseq);
	if (turn > 0 && may_jump) {
		skip_missing(f, rx, pkt->tail.eseq);
		mark_flow(f, pkt);
		turn = 0;
	}
	rx->licence = f->licence;
	if (!turn)
		return TN_FLOW_NOW;
	return turn > 0 ? TN_FLOW_EARLY : TN_FLOW_BEHIND;
}

/* --- waiting packets ------------------------------------------------------- */

/*
 * Return: the link to the first waiting packet of the flow of @of, or, if none waits, to the end of
 * the bucket's chain, where one is to be inserted.
 */
static struct tn_pkt **first_of(struct tn_flows *f, const struct tn_pkt *of)
{
	struct tn_pkt **p = &f->wait[bucket_of(of)];

	while (*p && !same_flow(*p, of))
		p = &(*p)->next;
	return p;
}

/*
 * Return: true if @a precedes @b by how_far_ahead(). The heap stays valid while the flow
 * progresses: progress does not change the order of packets that are ahead, nor does it put one of
 * these before a packet that is not ahead.
 */
static bool comes_before(const struct tn_flow_rx *rx, const struct tn_pkt *a,
			 const struct tn_pkt *b)
{
	if (rx->flags & TN_FLOW_FRESH)
		return a->tail.eseq < b->tail.eseq;
	return (s32)(a->tail.eseq - rx->expected) < (s32)(b->tail.eseq - rx->expected);
}

/* Joins two trees of 2^rank packets of one flow. Return: the packet at the top, the first. */
static struct tn_pkt *link_trees(const struct tn_flow_rx *rx, struct tn_pkt *a, struct tn_pkt *b)
{
	struct tn_pkt *low = a, *high = b;

	tn_assert(a != b && a->rank == b->rank);
	tn_assert(same_flow(a, b));
	tn_assert(!a->next && !b->next);
	if (comes_before(rx, b, a)) {
		low = b;
		high = a;
	}
	tn_assert(!comes_before(rx, high, low));
	high->next = low->child;
	low->child = high;
	low->rank++;
	return low;
}

static struct tn_pkt *pop_chain(struct tn_pkt **chain)
{
	struct tn_pkt *p = *chain;

	if (!p)
		return NULL;
	*chain = p->next;
	p->next = NULL;
	return p;
}

/* Inserts @pkt in the heap of a flow. Return: the first packet, the new @top. */
static struct tn_pkt *insert_packet(const struct tn_flow_rx *rx, struct tn_pkt *top,
				    struct tn_pkt *pkt)
{
	struct tn_pkt *tree = pkt, *trees;

	pkt->child = NULL;
	pkt->next = NULL;
	pkt->rank = 0;
	if (!top)
		return pkt;
	tn_assert(!top->next);
	trees = top->child;
	if (comes_before(rx, pkt, top)) {
		tree = top;
		top = pkt;
		tree->child = NULL;
		tree->rank = 0;
	}
	while (trees && trees->rank == tree->rank)
		tree = link_trees(rx, tree, pop_chain(&trees));
	tree->next = trees;
	top->child = tree;
	return top;
}

static void add_tree(const struct tn_flow_rx *rx, struct tn_pkt **of_rank, struct tn_pkt *tree)
{
	struct tn_pkt *same;

	while ((same = of_rank[tree->rank])) {
		of_rank[tree->rank] = NULL;
		tree = link_trees(rx, tree, same);
		tn_assert(tree->rank < RANKS);
	}
	of_rank[tree->rank] = tree;
}

/* Makes a heap of @trees, those of a heap whose top was removed. Return: its top, or NULL. */
static struct tn_pkt *join_trees(const struct tn_flow_rx *rx, struct tn_pkt *trees)
{
	struct tn_pkt *of_rank[RANKS] = { NULL }, *top = trees, *tree;
	unsigned int i;

	if (!top)
		return NULL;
	for (tree = top->next; tree; tree = tree->next) {
		if (comes_before(rx, tree, top))
			top = tree;
	}
	while ((tree = pop_chain(&trees))) {
		if (tree != top)
			add_tree(rx, of_rank, tree);
	}
	while ((tree = pop_chain(&top->child)))
		add_tree(rx, of_rank, tree);
	for (i = RANKS; i--;) {
		if (!of_rank[i])
			continue;
		of_rank[i]->next = top->child;
		top->child = of_rank[i];
	}
	return top;
}

bool tn_flow_done(struct tn_flows *f, const struct tn_pkt *pkt)
{
	struct tn_flow_rx *rx = rx_of(f, pkt);

	tn_assert(rx->flags & TN_FLOW_KNOWN);
	tn_assert(rx->epoch == pkt->tail.epoch);
	tn_assert(!how_far_ahead(rx, pkt->tail.eseq));
	rx->expected = pkt->tail.eseq + 1;
	rx->flags &= (u8)~TN_FLOW_FRESH;
	if (!(rx->flags & TN_FLOW_WAITING))
		return false;
	mark_flow(f, pkt);
	return true;
}

void tn_flow_wait(struct tn_flows *f, struct tn_pkt *pkt, u64 now)
{
	struct tn_flow_rx *rx = rx_of(f, pkt);
	struct tn_pkt **p = first_of(f, pkt), *first = *p, *after = NULL;

	tn_assert(rx->epoch == pkt->tail.epoch);
	tn_assert(!first == !(rx->flags & TN_FLOW_WAITING));
	rx->flags |= TN_FLOW_WAITING;
	if (!f->waiting++)
		f->since = now;
	f->wait_bytes += pkt->held;
	if (first) {
		after = first->next;
		first->next = NULL;
	}
	*p = insert_packet(rx, first, pkt);
	(*p)->next = after;
	mark_flow(f, pkt);
}

/*
 * Return: true if the waiting packet @pkt can be taken out: its number is not ahead of the expected
 * one, or it belongs to an older epoch.
 */
static bool is_due(struct tn_flows *f, const struct tn_pkt *pkt)
{
	const struct tn_flow_rx *rx = rx_of(f, pkt);

	return rx->epoch != pkt->tail.epoch || how_far_ahead(rx, pkt->tail.eseq) <= 0;
}

static struct tn_pkt *next_in(struct tn_flows *f, unsigned int bucket)
{
	struct tn_pkt *pkt;

	for (pkt = f->wait[bucket]; pkt; pkt = pkt->next) {
		if (is_due(f, pkt))
			return pkt;
	}
	f->look[bucket / 64] &= ~(1ull << bucket % 64);
	return NULL;
}

struct tn_pkt *tn_flow_next(struct tn_flows *f)
{
	struct tn_pkt *pkt = NULL;
	unsigned int b;

	for (b = 0; b < TN_FLOW_BUCKETS && !pkt; b++) {
		if (!f->look[b / 64])
			b |= 63;
		else if (f->look[b / 64] >> b % 64 & 1)
			pkt = next_in(f, b);
	}
	return pkt;
}

void tn_flow_unwait(struct tn_flows *f, struct tn_pkt *pkt)
{
	struct tn_pkt **p = first_of(f, pkt), *after = pkt->next, *rest;
	struct tn_flow_rx *rx = rx_of(f, pkt);

	tn_assert(*p == pkt);	/* the packet at the top of its flow's heap */
	tn_assert(rx->flags & TN_FLOW_WAITING);
	tn_assert(f->waiting);
	tn_assert(f->wait_bytes >= pkt->held);
	rest = join_trees(rx, pkt->child);
	if (rest)
		rest->next = after;
	else
		rx->flags &= (u8)~TN_FLOW_WAITING;
	*p = rest ? rest : after;
	pkt->child = NULL;
	pkt->next = NULL;
	f->wait_bytes -= pkt->held;
	if (!--f->waiting)
		f->since = ~0ull;
	tn_assert(f->waiting || !f->wait_bytes);
}

void tn_flows_empty(struct tn_flows *f, struct tn_queue *out)
{
	unsigned int b;

	for (b = 0; b < TN_FLOW_BUCKETS; b++) {
		while (f->wait[b]) {
			struct tn_pkt *pkt = f->wait[b];

			tn_flow_unwait(f, pkt);
			tn_queue_push(out, pkt);
		}
	}
	tn_assert(!f->waiting);
}

bool tn_flow_overdue(struct tn_flows *f, const struct tn_pkt *pkt)
{
	const struct tn_flow_rx *rx = rx_of(f, pkt);

	return (rx->flags & TN_FLOW_WAITING) && rx->epoch != pkt->tail.epoch &&
	       !is_late(f, rx, pkt->tail.epoch);
}

/*
 * Gives up the missing packets before @first, the first waiting packet of its flow, and counts them
 * as lost.
 */
static void close_gap_before(struct tn_flows *f, const struct tn_pkt *first)
{
	if (is_due(f, first))
		return;
	skip_missing(f, rx_of(f, first), first->tail.eseq);
	mark_flow(f, first);
}

void tn_flow_close_gap(struct tn_flows *f, const struct tn_pkt *of)
{
	const struct tn_pkt *first = *first_of(f, of);

	if (first)
		close_gap_before(f, first);
}

void tn_flow_close_gaps(struct tn_flows *f)
{
	const struct tn_pkt *pkt;
	unsigned int b;

	for (b = 0; b < TN_FLOW_BUCKETS; b++) {
		for (pkt = f->wait[b]; pkt; pkt = pkt->next)
			close_gap_before(f, pkt);
	}
}

void tn_flow_license(struct tn_flows *f)
{
	f->licence++;
	f->licensed = true;
}
