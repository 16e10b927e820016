/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One link of the NIC core with Angara's retry and credits, both directions, on
 * a wire that loses and damages. What is modelled is kernel/core/retry.c,
 * retry_angara.c, credit.c and the parts of link.c and link_rx.c between them; the names are
 * theirs. Numbers are smaller: SEQ for 4096, WIN for the RETRY buffer, SLOTS for
 * the packet buffers of one VC, N0 and N1 packets from either end, at most HITS hits.
 *
 * Spin looks at every interleaving of both ends, every choice of what is hit, and
 * every moment at which a buffer is freed. Asserted:
 *   - DATA arrives once and in order (no loss, no duplicate, no reorder);
 *   - a buffer is there for each (credits are never promised twice), and no
 *     report returns more than was taken;
 *   - at every step every buffer is in exactly one place: free at the sender,
 *     taken by a packet not accepted yet, occupied, owed, or in a report not
 *     accepted yet (credits are conserved across replays);
 *   - no honest acknowledgement is for something that was never sent;
 *   - it ends: the timers fire at most once for each hit and each end more, and
 *     when nothing moves any more, everything has arrived and is acknowledged.
 *
 * tests/spin/test_link.sh runs it, and then with one rule broken at a time
 * (BREAK_*), which spin must notice.
 */
#ifndef SEQ
#define SEQ 4
#endif
#ifndef WIN
#define WIN 2
#endif
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef N0
#define N0 3
#endif
#ifndef N1
#define N1 1
#endif
#ifndef HITS
#define HITS 2
#endif
#define CAP 2
#define WANTED(x) (x == 0 -> N0 : N1)

#define TSEQ_OF(b, i) ((b + i) % SEQ)

mtype = { DATA, CREDIT, IDLE };

/* A frame: header fields and, for the checks, the number of the packet in it. */
typedef Frame {
	mtype type;
	byte tseq, rseq, crp, id;
	bit e, gen, ge, damaged
};

typedef Slot {
	mtype type;
	byte id, crp;
	bit vccr_set
};

typedef End {
	/* sender: RETRY buffer s[0..n-1], oldest first */
	Slot s[WIN];
	byte base, n, next, high;
	byte pushed, acked;
	bit gen;
	/* receiver */
	byte expected, got;
	bit ignoring, e_gen, gen_seen, ack_now;
	/* credits */
	byte ct, used, owed
};

End end[2];
chan wire[2] = [CAP] of { Frame };	/* wire[i]: from end i */
byte hits, timeouts;
bit over;

/* Nothing is under way and nobody has anything to do: only timers are left. */
#define AT_REST(x) (end[x].next == end[x].n && !end[x].ack_now && !end[x].used && \
	!(end[x].owed && end[x].n < WIN) && \
	(end[x].pushed == WANTED(x) || end[x].n == WIN || end[x].ct == SLOTS))
#define QUIET (empty(wire[0]) && empty(wire[1]) && AT_REST(0) && AT_REST(1))

inline push(i, what, number, report, fixed) {
	end[i].s[end[i].n].type = what;
	end[i].s[end[i].n].id = number;
	end[i].s[end[i].n].crp = report;
	end[i].s[end[i].n].vccr_set = fixed;
	end[i].n++
}

/* The wire takes a frame, damages it, or loses it. */
inline put(i) {
	f.rseq = end[i].expected;
	f.e = end[i].ignoring;
	f.ge = end[i].e_gen;
	f.gen = end[i].gen;
	f.damaged = 0;
	if
	:: wire[i]!f
	:: hits < HITS -> hits++; f.damaged = 1; wire[i]!f
	:: hits < HITS -> hits++
	fi
}

inline send_next(i) {
	k = end[i].next;
	if
	:: !end[i].s[k].vccr_set ->
		end[i].s[k].crp = end[i].owed;
		end[i].owed = 0;
		end[i].s[k].vccr_set = 1
	:: else
	fi;
#ifdef BREAK_CRP_ANEW
	/* a replay reports what is owed now */
	if
	:: k < end[i].high && end[i].owed ->
		end[i].s[k].crp = end[i].owed;
		end[i].owed = 0
	:: else
	fi;
#endif
	f.type = end[i].s[k].type;
	f.tseq = TSEQ_OF(end[i].base, k);
	f.crp = end[i].s[k].crp;
	f.id = end[i].s[k].id;
	put(i);
	end[i].ack_now = 0;
	end[i].next++;
	if
	:: end[i].next > end[i].high -> end[i].high = end[i].next
	:: else
	fi
}

inline send_idle(i) {
	f.type = IDLE;
	f.tseq = TSEQ_OF(end[i].base, end[i].next);
	f.crp = 0; f.id = 0;
	put(i);
	end[i].ack_now = 0
}

inline go_back(i) {
	if
	:: end[i].n ->
		end[i].next = 0;
		end[i].gen = 1 - end[i].gen
	:: else
	fi
}

/* Release the oldest @count. */
inline release(i, count) {
	do
	:: count > 0 ->
		k = 0;
		do
		:: k + 1 < end[i].n ->
			end[i].s[k].type = end[i].s[k + 1].type;
			end[i].s[k].id = end[i].s[k + 1].id;
			end[i].s[k].crp = end[i].s[k + 1].crp;
			end[i].s[k].vccr_set = end[i].s[k + 1].vccr_set;
			k++
		:: else -> break
		od;
		end[i].n--;
		end[i].s[end[i].n].type = 0;
		end[i].s[end[i].n].id = 0;
		end[i].s[end[i].n].crp = 0;
		end[i].s[end[i].n].vccr_set = 0;
		end[i].base = (end[i].base + 1) % SEQ;
		end[i].high--;
		end[i].next = (end[i].next -> end[i].next - 1 : 0);
		end[i].acked++;
		count--
	:: else -> break
	od
}

/* RSEQ and E of an intact header. */
inline hear(i) {
	c = (f.rseq + SEQ - end[i].base) % SEQ;
	assert(c <= end[i].high);
	release(i, c);
	if
	:: f.type == IDLE && f.tseq == end[i].expected -> end[i].ignoring = 0
	:: else
	fi;
#ifndef BREAK_IDLE_SILENT
	if
	:: f.e && !end[i].n -> end[i].ack_now = 1
	:: else
	fi;
#endif
	if
	:: f.e && end[i].n && f.ge == end[i].gen -> go_back(i)
	:: else
	fi
}

inline wrong(i, which) {
	if
	:: !end[i].ignoring || end[i].e_gen != which ->
		end[i].ignoring = 1;
		end[i].e_gen = which;
		end[i].ack_now = 1
	:: else
	fi
}

inline accept(i) {
	end[i].expected = (end[i].expected + 1) % SEQ;
	end[i].gen_seen = f.gen;
	end[i].ignoring = 0;
	end[i].ack_now = 1;
	assert(f.crp <= end[i].ct);
	end[i].ct = end[i].ct - f.crp;
	if
	:: f.type == DATA ->
		assert(f.id == end[i].got);
		assert(end[i].used < SLOTS);
		end[i].got++;
		end[i].used++
	:: else
	fi
}

#define AHEAD(i) ((f.tseq + SEQ - end[i].expected) % SEQ)
#ifdef BREAK_ACCEPT_AHEAD
#define TAKEN(i) (AHEAD(i) < 2)
#else
#define TAKEN(i) (f.tseq == end[i].expected)
#endif

inline receive(i) {
	wire[1 - i]?f;
	if
	:: f.damaged -> wrong(i, end[i].gen_seen)
	:: else ->
		hear(i);
		if
		:: f.type == IDLE
		:: f.type != IDLE && TAKEN(i) -> accept(i)
		:: f.type != IDLE && !TAKEN(i) && AHEAD(i) < SEQ / 2 -> wrong(i, f.gen)
		:: f.type != IDLE && !TAKEN(i) && AHEAD(i) >= SEQ / 2 ->
			end[i].ack_now = 1		/* behind */
		fi
	fi;
	f.type = 0; f.tseq = 0; f.rseq = 0; f.crp = 0; f.id = 0;
	f.e = 0; f.gen = 0; f.ge = 0; f.damaged = 0
}

/*
 * Buffers of the peer, seen from both sides: what @who counts as taken is what it
 * sent and has not been accepted, what is occupied, what is owed, and what is in
 * reports that it has not accepted. The last accepted packets may still wait in
 * the RETRY buffer for their acknowledgement: those before CTRP do not count.
 */
inline conserved(who, peer) {
	c = 0;
	k = 0;
	do
	:: k < end[who].n ->
		if
		:: end[who].s[k].type == DATA &&
		   k >= (end[peer].expected + SEQ - end[who].base) % SEQ -> c++
		:: else
		fi;
		k++
	:: else -> break
	od;
	k = 0;
	do
	:: k < end[peer].n ->
		if
		:: k >= (end[who].expected + SEQ - end[peer].base) % SEQ ->
			c = c + end[peer].s[k].crp
		:: else
		fi;
		k++
	:: else -> break
	od;
	assert(end[who].ct == c + end[peer].used + end[peer].owed)
}

proctype side(byte i) {
	Frame f;
	byte k, c, o;

	o = 1 - i;
	do
	:: over -> break
	:: !over -> atomic {
		if
		:: nempty(wire[1 - i]) -> receive(i)
		/* A packet for the peer, if it has a buffer. */
		:: end[i].pushed < WANTED(i) && end[i].n < WIN && end[i].ct < SLOTS ->
			push(i, DATA, end[i].pushed, 0, 0);
			end[i].pushed++;
			end[i].ct++
		/* The host takes a packet. */
		:: end[i].used -> end[i].used--; end[i].owed++
		/* No data to take the report along. */
		:: end[i].owed && end[i].n < WIN && end[i].next == end[i].n ->
			push(i, CREDIT, 0, end[i].owed, 1);
			end[i].owed = 0
		:: end[i].next < end[i].n && nfull(wire[i]) -> send_next(i)
		:: end[i].ack_now && end[i].next == end[i].n && nfull(wire[i]) -> send_idle(i)
#ifndef BREAK_NO_TIMER
		/* replay_timeout, and the reminder of an E. */
		:: QUIET && (end[i].n || end[i].ignoring) ->
			timeouts++;
			assert(timeouts <= 2 * (HITS + 1));
			go_back(i);
			if
			:: end[i].ignoring -> end[i].e_gen = 1 - end[i].e_gen; end[i].ack_now = 1
			:: else
			fi
#endif
		:: QUIET && !end[0].n && !end[1].n && !end[0].ignoring && !end[1].ignoring ->
			assert(end[0].got == N1 && end[1].got == N0);
			assert(!end[0].ct && !end[1].ct && !end[0].used && !end[1].used);
			assert(!end[0].owed && !end[1].owed);
			over = 1
		fi;
		conserved(i, o);
		conserved(o, i);
		k = 0; c = 0
	   }
	od
}

init {
	atomic { run side(0); run side(1) }
}
