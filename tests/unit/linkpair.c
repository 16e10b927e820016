// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include "tests/unit/linkpair.h"

static struct rnd *rnd_of(struct end *e)
{
	return &e->pair->r;
}

const char *pair_text(const struct pair *p)
{
	static char text[200];
	const struct end *a = &p->end[0], *b = &p->end[1];

	snprintf(text, sizeof(text),
		 "t=%.3f ms: states %u %u, fails %u %u (reasons %u %u), sent %u %u, got %u %u",
		 (double)(p->now - p->begun) / 1e6, a->link.state, b->link.state, a->fails,
		 b->fails, a->reason, b->reason, a->sent[0], b->sent[0], a->got[0], b->got[0]);
	return text;
}

/* --- packets ---------------------------------------------------------------- */

static u8 pattern(u32 id, unsigned int vc, unsigned int i)
{
	return (u8)(id * 7 + vc * 31 + i);
}

static struct tn_pkt *make(struct end *e, unsigned int vc)
{
	struct rnd *r = rnd_of(e);
	unsigned int len = rnd_below(r, 16) ? rnd_below(r, 5)
					  : rnd_below(r, e->params.payload_max / TN_FLIT + 1);
	unsigned int pad;
	struct tn_pkt *pkt = memory_new(&e->mem, len);

	if (!pkt)
		return NULL;
	pad = len ? rnd_below(r, TN_FLIT) : 0;
	pkt->hdr = (struct tn_hdr) { .type = rnd_below(r, 8) ? TN_DATA : TN_UNREACH,
				     .vc = (u8)vc, .len = (u16)len, .dst = e->sent[vc] & 0xffffff,
				     .colour = (u8)rnd_below(r, 4), .dir = (u16)rnd_below(r, 4096),
				     .src = 77, .first = TN_NO_STEP, .last = 3 };
	pkt->tail = (struct tn_tail) { .eseq = e->sent[vc], .flags = (u8)pad, .epoch = 9 };
	for (unsigned int i = 0; i < len * TN_FLIT; i++)
		pkt->payload[i] = pattern(e->sent[vc], vc, i);
	/* Some packets have no ECRC, like those of the NIC itself: the link adds it. */
	if (rnd_below(r, 2))
		pkt->unsummed = TN_UNSUMMED;
	else
		pkt->tail.ecrc = tn_ecrc(pkt->payload, &pkt->hdr, &pkt->tail);
	pkt->in_port = TN_PORT_HOST;
	e->sent[vc]++;
	return pkt;
}

static void check_content(struct end *e, const struct tn_pkt *pkt)
{
	u32 id = pkt->tail.eseq;

	expect(rnd_of(e), pkt->hdr.src == 77 && pkt->hdr.last == 3 &&
	       pkt->hdr.first == TN_NO_STEP && pkt->tail.epoch == 9 &&
	       pkt->hdr.dst == (id & 0xffffff), "packet %u", id);
	for (unsigned int i = 0; i < pkt->hdr.len * TN_FLIT; i++)
		expect(rnd_of(e), pkt->payload[i] == pattern(id, pkt->hdr.vc, i),
		       "packet %u, byte %u", id, i);
}

/* --- what the link asks ----------------------------------------------------- */

static void accept_one(struct end *e, struct tn_pkt *pkt)
{
	unsigned int vc = pkt->in_vc;

	expect(rnd_of(e), vc < TORUS_VCS && vc == pkt->hdr.vc, "VC %u", vc);
	if (!e->pair->forged) {
		expect(rnd_of(e), pkt->tail.eseq == e->got[vc], "VC %u: got %u, next is %u; %s",
		       vc, pkt->tail.eseq, e->got[vc], pair_text(e->pair));
		check_content(e, pkt);
	}
	e->got[vc]++;
	e->pair->delivered++;
	tn_queue_push(&e->input[vc], pkt);
	expect(rnd_of(e), e->input[vc].count <= e->params.slots, "VC %u overruns", vc);
}

static void on_accept(void *ctx, struct tn_link *l, struct tn_queue *got)
{
	struct tn_pkt *pkt;

	(void)l;
	while ((pkt = tn_queue_pop(got)))
		accept_one(ctx, pkt);
}

static void on_acked(void *ctx, struct tn_queue *done)
{
	struct end *e = ctx;
	struct tn_pkt *pkt;

	while ((pkt = tn_queue_pop(done)))
		memory_put(&e->mem, pkt);
}

static void on_failed(void *ctx, struct tn_link *l, struct tn_queue *retry, u64 now)
{
	(void)now;
	struct end *e = ctx;
	struct tn_queue old = e->backlog;
	struct tn_pkt *pkt;

	e->fails++;
	e->reason = l->reason;
	expect(rnd_of(e), !e->unresolved, "all was settled before");
	e->lost_session = l->session;
	e->backlog = (struct tn_queue) { 0 };
	while ((pkt = tn_queue_pop(retry))) {
		if (pkt->hdr.type != TN_DATA && pkt->hdr.type != TN_UNREACH) {
			memory_put(&e->mem, pkt);
			continue;
		}
		e->unresolved++;
		tn_queue_push(&e->backlog, pkt);
	}
	while ((pkt = tn_queue_pop(&old)))
		tn_queue_push(&e->backlog, pkt);
}

static void on_changed(void *ctx, struct tn_link *l, u8 old_state)
{
	struct end *e = ctx;

	expect(rnd_of(e), l->state < TORUS_LINK_STATES &&
	       (old_state != l->state || l->state == TORUS_LINK_UP ||
		l->reason == TORUS_REASON_MISMATCH || l->reason == TORUS_REASON_BUBBLE), "state");
	e->thins += old_state == l->state;
	e->thin = l->train.serdes && tn_train_margin(&l->train) < l->train.params.margin_train;
	expect(rnd_of(e), l->state != TORUS_LINK_UP || !e->unresolved,
	       "up before the last session is settled; %s", pair_text(e->pair));
}

static void on_peer_seq(void *ctx, struct tn_link *l, bool none, u16 seq)
{
	struct end *e = ctx;

	expect(rnd_of(e), l->session, "told of a session before the first");
	expect(rnd_of(e), !e->unresolved || l->session == e->lost_session, "session");
	for (; e->unresolved; e->unresolved--) {
		if (none || !tn_seq_before(e->backlog.head->hdr.tseq, seq))
			break;
		memory_put(&e->mem, tn_queue_pop(&e->backlog));
	}
	e->unresolved = 0;
}

static const struct tn_link_ops link_ops = {
	.accept = on_accept,
	.acked = on_acked,
	.failed = on_failed,
	.changed = on_changed,
	.peer_seq = on_peer_seq,
};

static struct tn_pkt *host_get(void *host, void *owner, const u8 *payload)
{
	(void)payload;
	return memory_get(&((struct end *)host)->mem, owner);
}

static struct tn_pkt *host_new(void *host, unsigned int nflits)
{
	return memory_new(&((struct end *)host)->mem, nflits);
}

static void host_put(void *host, struct tn_pkt *pkt)
{
	memory_put(&((struct end *)host)->mem, pkt);
}

/*
 * Takes a management packet. They come once and in order, but those in a RETRY buffer are lost with
 * the link.
 */
static bool host_mgmt(void *host, unsigned int port, const u8 *data, unsigned int len)
{
	struct end *e = host;
	u32 id = len < 5 ? 0 : tn_get_le32(data);

	if (e->pair->forged)
		return true;
	expect(rnd_of(e), port == e->link.port && len == 5 + id % 900, "length %u of %u", len, id);
	expect(rnd_of(e), id == e->mgmt_got || (id > e->mgmt_got && e->peer->fails),
	       "management %u after %u", id, e->mgmt_got);
	for (unsigned int i = 4; i < len; i++)
		expect(rnd_of(e), data[i] == (u8)(id + i), "byte %u", i);
	e->mgmt_got = id + 1;
	return true;
}

static u32 host_random(void *host)
{
	return (u32)rnd64(rnd_of(host));
}

/* --- life ------------------------------------------------------------------- */

static void link_start(struct end *e)
{
	struct tn_link *l = &e->link;

	memset(l, 0, sizeof(*l));
	l->ops = &link_ops;
	l->ctx = e;
	l->host_ops = &e->host_ops;
	l->host = e;
	l->params = &e->params;
	l->guid = 100 + (u64)(e - e->pair->end);
	l->epoch = (u32)rnd64(rnd_of(e));
	l->port = (u8)(3 + (e - e->pair->end));
	tn_link_init(l, e->pair->now);
	if (e->modelled)
		tn_link_serdes(l, &e->serdes.serdes);
}

void pair_start(struct pair *p, uint64_t seed)
{
	static const u32 sizes[] = { TN_PAYLOAD_MIN, 4096, 4096, TN_PAYLOAD_MAX };
	u32 payload_max;

	memset(p, 0, sizeof(*p));
	p->r = rnd_new(seed);
	p->cuts = rnd_new(~seed);
	payload_max = sizes[rnd_below(&p->cuts, 4)];
	p->begun = p->now = 1 + rnd_below(&p->r, 1000000000);
	for (int i = 0; i < 2; i++) {
		struct end *e = &p->end[i];

		e->pair = p;
		e->peer = &p->end[!i];
		e->mem.r = &p->r;
		e->out = (struct lane) { .r = &p->r, .latency = 2 * PAIR_TICK, .late_by = 1 };
		e->host_ops = (struct tn_ops) {
			.pkt_get = host_get, .pkt_new = host_new, .pkt_put = host_put,
			.mgmt = host_mgmt, .random = host_random,
		};
		e->drain = 2;
		e->load = 2;
		tn_params_default(&e->params);
		e->params.payload_max = payload_max;
		link_start(e);
	}
}

static void faults(struct rnd *r, struct lane *l)
{
	static const unsigned int odds[] = { 0, 0, 3, 10, 30, 100, 1000 };

	l->lose = odds[rnd_below(r, 7)];
	l->damage = odds[rnd_below(r, 7)];
	l->twice = odds[rnd_below(r, 7)];
	l->late = odds[rnd_below(r, 7)];
	l->late_by = 1 + rnd_below(r, 20 * PAIR_TICK);
	l->latency = rnd_below(r, 10 * PAIR_TICK);
}

/* Lets both ends ask for the same retry protocol, or one leave it to the other. */
static void vary_protocol(struct end *e)
{
	struct pair *p = e->pair;
	unsigned int ask = e == p->end ? rnd_below(&p->r, TORUS_RETRIES)
				       : rnd_below(&p->r, 2) * p->end[0].link.retry_wanted;

	tn_link_retry(&e->link, ask, p->now);
}

void end_vary(struct end *e)
{
	static const unsigned int refuse[] = { 0, 0, 0, 50, 1000 };
	struct rnd *r = &e->pair->r, *cuts = &e->pair->cuts;

	e->params.slots = 4 + rnd_below(r, rnd_below(r, 2) ? 8 : 300);
	e->params.retry_packets = 1 + rnd_below(r, rnd_below(r, 2) ? 16 : 1024);
	e->params.frame_max = tn_packet_max(&e->params) +
			      rnd_below(r, 65535 - tn_packet_max(&e->params));
	e->link.large_max = rnd_below(cuts, 2) * (1 + rnd_below(cuts, 8));
	e->link.small_max = rnd_below(cuts, 2) * (TN_PAYLOAD_MIN + rnd_below(cuts, 16 * TN_PAYLOAD_MIN));
	e->drain = 1 + rnd_below(r, 8);
	e->load = 1 + rnd_below(r, 6);
	e->mgmt = rnd_below(r, 2) ? 50 : 0;
	e->mem.refuse = refuse[rnd_below(r, 5)];
	faults(r, &e->out);
	vary_protocol(e);
}

static void drop(struct end *e, struct tn_queue *q)
{
	struct tn_pkt *pkt;

	while ((pkt = tn_queue_pop(q)))
		memory_put(&e->mem, pkt);
}

static void end_empty(struct end *e)
{
	drop(e, &e->link.retry.tx.sent);
	drop(e, &e->backlog);
	for (int vc = 0; vc < TORUS_VCS; vc++)
		drop(e, &e->input[vc]);
	e->unresolved = 0;
	lane_clear(&e->out);
}

/* Restarts the process of a NIC, which forgets everything. */
void end_restart(struct end *e)
{
	end_empty(e);
	expect(rnd_of(e), !e->mem.live, "%u packets leaked", e->mem.live);
	memset(e->sent, 0, sizeof(e->sent));
	memset(e->got, 0, sizeof(e->got));
	e->mgmt_sent = e->mgmt_got = 0;
	link_start(e);
	tn_link_carrier(&e->link, true, e->pair->now);
}

void pair_end(struct pair *p)
{
	for (int i = 0; i < 2; i++) {
		end_empty(&p->end[i]);
		expect(&p->r, !p->end[i].mem.live, "end %d: %u packets leaked", i,
		       p->end[i].mem.live);
	}
}

void end_cable(struct end *e, const struct tn_cable *cable)
{
	if (!e->modelled) {
		tn_serdes_model_init(&e->serdes);
		tn_link_serdes(&e->link, &e->serdes.serdes);
	}
	e->modelled = true;
	tn_serdes_model_lay(&e->serdes, cable, e->pair->now);
	tn_link_cable(&e->link, e->pair->now);
}

void pair_carrier(struct pair *p, bool up)
{
	for (int i = 0; i < 2; i++) {
		p->end[i].out.cut = !up;
		lane_clear(&p->end[i].out);
		tn_link_carrier(&p->end[i].link, up, p->now);
	}
}

/* --- the model's books ------------------------------------------------------ */

/* Counts the packets in the RETRY buffer of @e that the peer has not accepted. */
static void under_way(const struct end *e, unsigned int *data, unsigned int *crp)
{
	const struct tn_pkt *pkt;

	for (pkt = e->link.retry.tx.sent.head; pkt; pkt = pkt->next) {
		if (tn_seq_before(pkt->hdr.tseq, e->peer->link.retry.rx.expected))
			continue;
		if (pkt->hdr.type == TN_DATA || pkt->hdr.type == TN_UNREACH)
			data[pkt->hdr.vc]++;
		if (pkt->vccr_set)
			crp[pkt->hdr.crp_vc] += pkt->hdr.crp;
	}
}

/*
 * Credits are conserved: each buffer that the sender counts as taken is on the way to the peer, in
 * its buffers, owed by it, or in a report on the way back, and in no other place.
 */
static void check_credits(struct pair *p)
{
	unsigned int data[2][TORUS_VCS] = { 0 }, crp[2][TORUS_VCS] = { 0 };

	for (int i = 0; i < 2; i++)
		under_way(&p->end[i], data[i], crp[i]);
	for (int i = 0; i < 2; i++) {
		struct end *e = &p->end[i];
		const struct tn_credit *c = &e->link.credit, *o = &e->peer->link.credit;

		for (int vc = 0; vc < TORUS_VCS; vc++) {
			expect(&p->r, e->peer->input[vc].count == o->used[vc], "VC %d", vc);
			expect(&p->r, c->ct[vc] == data[i][vc] + o->used[vc] + o->owed[vc] +
			       crp[!i][vc],
			       "end %d, VC %d: CT %u, under way %u, used %u, owed %u, reported %u; %s",
			       i, vc, c->ct[vc], data[i][vc], o->used[vc], o->owed[vc],
			       crp[!i][vc], pair_text(p));
		}
	}
}

bool pair_both(const struct pair *p, unsigned int state)
{
	return p->end[0].link.state == state && p->end[1].link.state == state;
}

static void check(struct pair *p)
{
	if (!p->forged && pair_both(p, TORUS_LINK_UP) &&
	    p->end[0].link.seed == p->end[1].link.seed)
		check_credits(p);
	for (int i = 0; i < 2; i++) {
		const struct tn_link *l = &p->end[i].link;

		expect(&p->r, l->retry.tx.sent.count <= l->params->retry_packets + TN_LINK_CTL_SLACK,
		       "RETRY buffer of %u", l->retry.tx.sent.count);
		expect(&p->r, l->carrier || l->state == TORUS_LINK_DOWN ||
		       l->state == TORUS_LINK_FAULTY, "state %u without carrier", l->state);
	}
}

/* --- time ------------------------------------------------------------------- */

static void consume(struct end *e)
{
	for (unsigned int vc = 0; vc < TORUS_VCS; vc++) {
		while (e->input[vc].head && rnd_one_in(rnd_of(e), e->drain)) {
			memory_put(&e->mem, tn_queue_pop(&e->input[vc]));
			tn_link_freed(&e->link, vc, false, e->pair->now);
		}
	}
}

static void produce(struct end *e)
{
	struct tn_link *l = &e->link;
	struct tn_pkt *pkt;

	while (!e->unresolved && e->backlog.head &&
	       tn_link_may(l, e->backlog.head->hdr.vc, rnd_below(rnd_of(e), 2)))
		tn_link_push(l, tn_queue_pop(&e->backlog), e->pair->now);
	if (e->backlog.head)
		return;
	for (unsigned int vc = 0; vc < TORUS_VCS; vc++) {
		while (rnd_one_in(rnd_of(e), e->load) && tn_link_may(l, vc, 0) &&
		       (!e->pair->limit || e->sent[vc] < e->pair->limit)) {
			pkt = make(e, vc);
			if (!pkt)
				return;
			tn_link_push(l, pkt, e->pair->now);
			if (e->load == 1 && rnd_one_in(rnd_of(e), 16))
				break;
		}
	}
}

static void manage(struct end *e)
{
	u8 data[TORUS_MGMT_MAX];
	unsigned int len = 5 + e->mgmt_sent % 900;

	if (!rnd_one_in(rnd_of(e), e->mgmt))
		return;
	tn_put_le32(data, e->mgmt_sent);
	for (unsigned int i = 4; i < len; i++)
		data[i] = (u8)(e->mgmt_sent + i);
	if (!tn_link_mgmt(&e->link, data, len, e->pair->now))
		e->mgmt_sent++;
}

/* Flips bits of a frame that the receiver decides wrongly, if its line is modelled. */
static void hurt(struct end *e, struct frame *f)
{
	struct tn_fault *errors = NULL;

	if (e->modelled)
		errors = tn_serdes_errors(&e->serdes.serdes, (u32)f->len, e->pair->now);
	if (errors)
		tn_fault_corrupt(errors, f->data, (u32)f->len);
}

static void receive(struct end *e)
{
	struct tn_seg seg[FRAME_PIECES];
	struct frame *f;

	while ((f = lane_get(&e->peer->out, e->pair->now))) {
		hurt(e, f);
		if (e->link.carrier)
			tn_link_rx(&e->link, seg, frame_pieces(&e->pair->cuts, f, seg), f,
				   e->pair->now);
		frame_put(f);
	}
}

/* Counts a large payload, whose size must be one on which the host can rely. */
static bool counted(const struct tn_link *l, const struct tn_frame *f)
{
	u32 large = 0, small = 0;

	for (u32 i = 0; i < f->nsegs; i++) {
		if (f->seg[i].len >= TN_FRAME_LARGE)
			large++;
		else
			small += f->seg[i].len;
	}
	return large == f->large && small == f->small &&
	       (!l->large_max || large <= l->large_max) &&
	       (!l->small_max || small <= l->small_max);
}

static void transmit(struct end *e)
{
	struct tn_frame f;
	int n = 0;

	while (!e->tx_off && tn_link_wants(&e->link) && n++ < 8) {
		u32 bytes = tn_link_tx(&e->link, &f, e->pair->now);

		if (!bytes)
			break;
		expect(rnd_of(e), bytes <= e->params.frame_max && bytes == f.bytes, "%u bytes",
		       bytes);
		expect(rnd_of(e), counted(&e->link, &f), "%u large, %u bytes small", f.large, f.small);
		lane_put(&e->out, &f, e->pair->now);
	}
}

void pair_step(struct pair *p)
{
	for (int i = 0; i < 2; i++) {
		struct end *e = &p->end[i];
		bool due = false;

		receive(e);
		consume(e);
		produce(e);
		manage(e);
		if (tn_link_expiry(&e->link) <= p->now) {
			tn_link_poll(&e->link, p->now);
			due = true;
		}
		transmit(e);
		expect(&p->r, !due || e->tx_off || tn_link_wants(&e->link) ||
		       tn_link_expiry(&e->link) > p->now,
		       "a timer that is not put off; %s", pair_text(p));
	}
	check(p);
	p->now += PAIR_TICK;
}

static bool busy(const struct pair *p)
{
	for (int i = 0; i < 2; i++) {
		const struct end *e = &p->end[i];

		if (e->backlog.head || e->load || e->mgmt || tn_link_wants(&e->link))
			return true;
		for (int vc = 0; vc < TORUS_VCS; vc++) {
			if (e->input[vc].head)
				return true;
		}
	}
	return false;
}

/* Skips the time in which nothing can happen. */
static void leap(struct pair *p, u64 until)
{
	u64 next = until;

	if (busy(p))
		return;
	for (int i = 0; i < 2; i++) {
		u64 a = tn_link_expiry(&p->end[i].link), b = lane_next(&p->end[i].out);

		next = a < next ? a : next;
		next = b < next ? b : next;
	}
	if (next > p->now)
		p->now = next;
}

void pair_run(struct pair *p, u64 ns)
{
	u64 until = p->now + ns;

	while (p->now < until) {
		pair_step(p);
		leap(p, until);
	}
}

u64 pair_up(struct pair *p, u64 limit)
{
	u64 from = p->now;

	while (!pair_both(p, TORUS_LINK_UP) ||
	       p->end[0].link.seed != p->end[1].link.seed) {
		pair_step(p);
		leap(p, from + limit);
		expect(&p->r, p->now < from + limit, "not up; %s", pair_text(p));
	}
	return p->now - from;
}

static bool settled(const struct pair *p)
{
	for (int i = 0; i < 2; i++) {
		const struct end *e = &p->end[i];

		if (e->backlog.head || e->link.retry.tx.sent.head || tn_credit_owed(&e->link.credit))
			return false;
		for (int vc = 0; vc < TORUS_VCS; vc++) {
			if (e->sent[vc] != e->peer->got[vc] || e->link.credit.ct[vc])
				return false;
		}
	}
	return true;
}

void pair_settle(struct pair *p, u64 limit)
{
	u64 from = p->now;

	for (int i = 0; i < 2; i++) {
		struct end *e = &p->end[i];

		e->load = e->mgmt = 0;
		e->drain = 1;
		e->mem.refuse = 0;
		e->tx_off = false;
		e->out.lose = e->out.damage = e->out.twice = e->out.late = 0;
		e->out.filter = NULL;
	}
	while (!pair_both(p, TORUS_LINK_UP) || !settled(p)) {
		pair_step(p);
		leap(p, from + limit);
		expect(&p->r, p->now < from + limit, "not settled; %s", pair_text(p));
	}
}
