/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a partition grows from node 0, gets its numbers and ends (daemon/fm/grow), while a cable is cut,
 * a node dies or a member ends it, at any step. Messages of a cable stay in order and are not lost but
 * with it: daemon/fm/grow/edge.c makes up for other losses. So they have the new nodes alone instead of
 * sums. The two ends of a cable notice at different times that it was cut. A member that has joined
 * answers its parent by the next message to it, or by ACK at any time before.
 *
 * Asserted:
 *   - no member is told of more nodes than it asked for;
 *   - when nothing moves any more, each node runs or is free, and of two former members that a cable
 *     joins both run, or none does;
 *   - without faults TOTAL nodes run, or none if there are fewer.
 *
 * tests/spin/test_growth.sh runs it, and then with one rule broken at a time (BREAK_*), which spin must
 * notice:
 *
 *	BREAK_DELTA	COMPLETE has the whole subtree, as in the paper
 *	BREAK_ASKED	a member that another member asks shares the nodes and answers its own parent, as
 *			in the paper
 *	BREAK_START	a member that has a number bears the loss of a cable
 *	BREAK_TREE	RELEASE goes along the tree alone
 */
#ifndef N
#define N 4
#endif
#ifndef TOTAL
#define TOTAL 4
#endif
#ifndef FAULTS
#define FAULTS 0	/* cables that are cut and nodes that die */
#endif
#ifndef STOPS
#define STOPS 0		/* how often a member ends it */
#endif
#ifndef CHORD
#define CHORD 0		/* 1: a cable from 0 to 2, besides those of a ring */
#endif

#define FREE 0
#define GROWS 1
#define NUMBERED 2
#define RUNS 3
#define RELEASES 4
#define DEAD 5

mtype = { PROPAGATE, REFUSE, DEAD_END, COMPLETE, NUMBER, READY, START, RELEASE, RELEASED, ACK };

#define BIT(i) (1 << (i))
#define ON(set, i) (((set) >> (i)) & 1)
#define E(a, b) ((a) * N + (b))
#define MEMBER(a) (stage[a] == GROWS || stage[a] == NUMBERED || stage[a] == RUNS)

chan wire[N * N] = [8] of { mtype, byte, byte, byte };	/* kind, nodes, life of both ends */
byte stage[N], up[N], added[N], waits[N], life[N];
byte open[N], owed[N], ready[N];	/* sets of neighbours */
bool answer[N];				/* the parent of this member has not been answered yet */
byte cable[N], lost[N];		/* neighbours by cables that work, and that were cut unnoticed */
byte asked[N * N], below[N * N], knows[N * N];
byte joined, faults, stops;

byte i, links, rest, part;	/* of one step */
bool busy;
#define CLEAR i = 0; links = 0; rest = 0; part = 0; busy = false

inline say(a, b, kind, n) {
	if
	:: ON(cable[a], b) ->
		assert(len(wire[E(a, b)]) < 8);
		answer[a] = answer[a] && b != up[a];
		wire[E(a, b)]!kind, n, (MEMBER(a) -> life[a] : 0), knows[E(a, b)]
	:: else
	fi
}

inline forget(a) {
	stage[a] = FREE;
	life[a]++
}

/* All neighbours but @knowing are told. */
inline release(a, knowing) {
	stage[a] = RELEASES;
	open[a] = 0; added[a] = 0; waits[a] = 0; ready[a] = 0; answer[a] = false;
	owed[a] = (cable[a] | lost[a]) & ~BIT(knowing);
#ifdef BREAK_TREE
	i = 0;
	do
	:: i < N ->
		if
		:: i != up[a] && !below[E(a, i)] && !asked[E(a, i)] -> owed[a] = owed[a] & ~BIT(i)
		:: else
		fi;
		i++
	:: else -> break
	od;
#endif
	i = 0;
	do
	:: i < N ->
		asked[E(a, i)] = 0; below[E(a, i)] = 0; knows[E(a, i)] = 0;
		if
		:: ON(owed[a], i) -> say(a, i, RELEASE, 0)
		:: else
		fi;
		i++
	:: else -> break
	od;
	if
	:: !owed[a] -> forget(a)
	:: else
	fi
}

inline confirm(a, b) {
	owed[a] = owed[a] & ~BIT(b);
	if
	:: !owed[a] -> forget(a)
	:: else
	fi
}

inline tell_children(a, kind) {
	i = 0;
	do
	:: i < N ->
		if
		:: below[E(a, i)] -> say(a, i, kind, 0)
		:: else
		fi;
		i++
	:: else -> break
	od
}

/* All of the subtree have numbers, if no child is without. */
inline check_ready(a) {
	i = 0; busy = false;
	do
	:: i < N -> busy = busy || (below[E(a, i)] && !ON(ready[a], i)); i++
	:: else -> break
	od;
	if
	:: busy
	:: !busy && up[a] != N -> say(a, up[a], READY, 0)
	:: !busy && up[a] == N -> stage[a] = RUNS; tell_children(a, START)
	fi
}

inline number(a) {
	stage[a] = NUMBERED;
	tell_children(a, NUMBER);
	check_ready(a)
}

inline find_busy(a) {
	i = 0; busy = false;
	do
	:: i < N -> busy = busy || asked[E(a, i)]; i++
	:: else -> break
	od
}

inline report(a) {
	if
	:: added[a] && up[a] != N ->
#ifdef BREAK_DELTA
		i = 0; rest = 1;
		do
		:: i < N -> rest = rest + below[E(a, i)]; i++
		:: else -> break
		od;
		say(a, up[a], COMPLETE, rest)
#else
		say(a, up[a], COMPLETE, added[a])
#endif
	:: else
	fi;
	added[a] = 0
}

/* Without an open port: @n wait, or go back. */
inline give_back(a, n) {
	find_busy(a);
	if
	:: busy -> waits[a] = n
	:: !busy && up[a] == N -> release(a, N)
	:: !busy && up[a] != N -> report(a); say(a, up[a], DEAD_END, n)
	fi
}

inline share(a, n) {
	waits[a] = 0;
	i = 0; links = 0;
	do
	:: i < N -> links = links + ON(open[a], i); i++
	:: else -> break
	od;
	if
	:: !links -> give_back(a, n)
	:: else ->
		rest = (n) % links;
		i = 0;
		do
		:: i < N ->
			if
			:: ON(open[a], i) ->
				part = (n) / links + (rest > 0);
				rest = (rest > 0 -> rest - 1 : 0);
				asked[E(a, i)] = asked[E(a, i)] + part;
				if
				:: part -> say(a, i, PROPAGATE, part)
				:: else
				fi
			:: else
			fi;
			i++
		:: else -> break
		od
	fi
}

inline settle(a) {
	find_busy(a);
	if
	:: busy
	:: !busy && waits[a] -> take = waits[a]; share(a, take)
	:: !busy && !waits[a] && up[a] == N -> number(a)
	:: !busy && !waits[a] && up[a] != N -> report(a)
	fi
}

inline join(a, b, n, l) {
	stage[a] = GROWS;
	joined = joined | BIT(a);
	up[a] = b;
	open[a] = (cable[a] | lost[a]) & ~BIT(b);
	added[a] = (b != N);
	if
	:: b != N -> knows[E(a, b)] = l; answer[a] = true
	:: else
	fi;
	if
	:: n > 1 -> take = n - 1; share(a, take)
	:: else -> settle(a)
	fi
}

/* Nodes that @b did not find come back to @a. */
inline take_back(a, b, n) {
	assert(asked[E(a, b)] >= n);
	asked[E(a, b)] = asked[E(a, b)] - n;
	open[a] = open[a] & ~BIT(b);
	take = waits[a] + n;
	share(a, take)
}

inline hear_member(a, b, kind, n, l, to) {
	if
	:: kind == RELEASE -> say(a, b, RELEASED, 0); release(a, b)
	:: kind == RELEASED
	:: kind != RELEASE && kind != RELEASED &&
	   ((to && to != life[a]) || (knows[E(a, b)] && l && l != knows[E(a, b)])) -> release(a, N)
	:: else ->
		knows[E(a, b)] = (l -> l : knows[E(a, b)]);
		if
#ifdef BREAK_ASKED
		:: kind == PROPAGATE -> take = waits[a] + n; share(a, take)
#else
		:: kind == PROPAGATE && b == up[a] -> take = waits[a] + n; share(a, take)
		:: kind == PROPAGATE && b != up[a] ->
			open[a] = open[a] & ~BIT(b);
			say(a, b, REFUSE, n)
#endif
		:: kind == REFUSE || kind == DEAD_END -> take_back(a, b, n)
		:: kind == COMPLETE ->
			assert(asked[E(a, b)] >= n);
			asked[E(a, b)] = asked[E(a, b)] - n;
			below[E(a, b)] = below[E(a, b)] + n;
			added[a] = added[a] + (up[a] == N -> 0 : n);
			settle(a)
		:: kind == NUMBER -> number(a)
		:: kind == READY -> ready[a] = ready[a] | BIT(b); check_ready(a)
		:: kind == START -> stage[a] = RUNS; tell_children(a, START)
		:: kind == ACK
		fi
	fi
}

inline hear(a, b, kind, n, l, to) {
	if
	:: stage[a] == DEAD
	:: MEMBER(a) -> hear_member(a, b, kind, n, l, to)
	:: stage[a] == RELEASES && kind == RELEASE -> say(a, b, RELEASED, 0); confirm(a, b)
	:: stage[a] == RELEASES && kind == RELEASED -> confirm(a, b)
	:: !MEMBER(a) && stage[a] != DEAD && kind == ACK
	:: stage[a] == RELEASES && kind != RELEASE && kind != RELEASED && kind != ACK ->
		say(a, b, RELEASE, 0)
	:: stage[a] == FREE && kind == RELEASED
	:: stage[a] == FREE && kind == RELEASE -> say(a, b, RELEASED, 0)
	:: stage[a] == FREE && kind == PROPAGATE && !to -> join(a, b, n, l)
	:: stage[a] == FREE && kind != RELEASE && kind != RELEASED && kind != ACK &&
	   (kind != PROPAGATE || to) -> say(a, b, RELEASE, 0)
	fi
}

/* @a notices that the cable to @b is lost. */
inline notice(a, b) {
	lost[a] = lost[a] & ~BIT(b);
	if
	:: stage[a] == RELEASES && ON(owed[a], b) -> confirm(a, b)
#ifdef BREAK_START
	:: stage[a] == GROWS && (b == up[a] || below[E(a, b)] || asked[E(a, b)]) -> release(a, N)
#else
	:: (stage[a] == GROWS || stage[a] == NUMBERED) &&
	   (b == up[a] || below[E(a, b)] || asked[E(a, b)]) -> release(a, N)
#endif
	:: else -> open[a] = open[a] & ~BIT(b)
	fi
}

inline drain(e) {
	do
	:: len(wire[e]) > 0 -> wire[e]?kind, n, l, to
	:: else -> break
	od
}

inline cut(a, b) {
	cable[a] = cable[a] & ~BIT(b);
	cable[b] = cable[b] & ~BIT(a);
	lost[a] = lost[a] | BIT(b);
	lost[b] = lost[b] | BIT(a);
	drain(E(a, b));
	drain(E(b, a))
}

/* The cable between @a and @b, messages from @b to @a, and what happens to @a. */
proctype Way(byte a; byte b) {
	mtype kind;
	byte n, l, to, take;

end:	do
	:: d_step { nempty(wire[E(b, a)]) -> wire[E(b, a)]?kind, n, l, to;
		hear(a, b, kind, n, l, to); CLEAR; kind = 0; n = 0; l = 0; to = 0; take = 0 }
	:: d_step { ON(lost[a], b) -> notice(a, b); CLEAR; take = 0 }
	:: d_step { answer[a] && up[a] == b -> answer[a] = false; say(a, b, ACK, 0) }
#if FAULTS
	:: d_step { a < b && faults < FAULTS && ON(cable[a], b) -> faults++; cut(a, b);
		CLEAR; kind = 0; n = 0; l = 0; to = 0 }
#endif
	od
}

#define QUIET (!lost[0] && !lost[1] && !lost[2] && !lost[3] && empty(wire[1]) && empty(wire[4]) && \
	empty(wire[6]) && empty(wire[9]) && empty(wire[11]) && empty(wire[14]) && empty(wire[3]) && \
	empty(wire[12]) && empty(wire[2]) && empty(wire[8]))

#define RIGHT(a, b) assert(!ON(cable[a], b) || !ON(joined, a) || !ON(joined, b) || \
	(stage[a] == RUNS) == (stage[b] == RUNS))
#define RUN(a) (stage[a] == RUNS)

inline judge() {
	i = 0;
	do
	:: i < N -> assert(stage[i] == FREE || stage[i] == RUNS || stage[i] == DEAD); i++
	:: else -> break
	od;
	RIGHT(0, 1); RIGHT(1, 2); RIGHT(2, 3); RIGHT(3, 0); RIGHT(0, 2);
	if
	:: !faults && !stops -> assert(RUN(0) + RUN(1) + RUN(2) + RUN(3) == (TOTAL > N -> 0 : TOTAL))
	:: else
	fi;
	CLEAR
}

init {
	mtype kind;
	byte n, l, to, take;

	d_step {
		cable[0] = BIT(1) | BIT(3) | CHORD * BIT(2);
		cable[1] = BIT(0) | BIT(2);
		cable[2] = BIT(1) | BIT(3) | CHORD * BIT(0);
		cable[3] = BIT(2) | BIT(0);
		life[0] = 1; life[1] = 1; life[2] = 1; life[3] = 1;
		join(0, N, TOTAL, 0);
		CLEAR; take = 0
	}
	atomic {
		run Way(0, 1); run Way(1, 0); run Way(1, 2); run Way(2, 1);
		run Way(2, 3); run Way(3, 2); run Way(3, 0); run Way(0, 3);
#if CHORD
		run Way(0, 2); run Way(2, 0);
#endif
	}
	do
	:: d_step { QUIET -> judge() }; break
#if FAULTS
	:: d_step { faults < FAULTS && stage[1] != DEAD -> faults++; stage[1] = DEAD;
		cut(1, 0); cut(1, 2); lost[1] = 0; CLEAR; kind = 0; n = 0; l = 0; to = 0 }
	:: d_step { faults < FAULTS && stage[0] != DEAD -> faults++; stage[0] = DEAD;
		cut(0, 1); cut(0, 3); cut(0, 2); lost[0] = 0; lost[2] = lost[2] & ~(1 - CHORD);
		CLEAR; kind = 0; n = 0; l = 0; to = 0 }
#endif
#if STOPS
	:: d_step { stops < STOPS && MEMBER(0) -> stops++; release(0, N); CLEAR }
	:: d_step { stops < STOPS && MEMBER(1) -> stops++; release(1, N); CLEAR }
	:: d_step { stops < STOPS && MEMBER(2) -> stops++; release(2, N); CLEAR }
	:: d_step { stops < STOPS && MEMBER(3) -> stops++; release(3, N); CLEAR }
#endif
	od
}
