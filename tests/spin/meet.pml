/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Roots that lead parts of one fabric meet, in epochs of one number: do they end up with one root,
 * without further claims? N nodes; who leads and who follows whom at the beginning is any way, and any
 * CUTS pairs of nodes do not reach each other over the service network. What is modelled is which root a
 * node leaves for which (daemon/fm/node/follow.c, try.c), to which one a node that asks, claims or leads
 * gives way (fm_claim_yields() in daemon/fm/root/claim.c), and what a root does with a HELLO (epoch.c).
 * No step has a time. What is simpler than the code, in a way that allows more:
 *
 *  - Each node learns of each root that leads, at any time, and may act on that when it is old news.
 *  - A HELLO arrives at any time later, and contains what was true when it was sent.
 *  - Each claim is won, also by a root that leads no other node: that is so after parts were separated.
 *    Whether a claim has enough promises is takeover.pml's matter.
 *
 * Nodes do not give up here, that is, follow another root because they have lost theirs for GIVE_UP:
 * that is no answer to anything, and happens seconds later.
 *
 * Asserted: no epoch is E or later; as the HELLOs that a root refuses all cost an epoch, this means that
 * there are few of them. And when nothing moves any more, all nodes that reach the latest root follow it.
 *
 * tests/spin/test_meet.sh runs it, and then with one rule broken at a time. Each of these lets two roots
 * claim in turn without end, also if all nodes reach each other:
 *
 *	BREAK_LOST	a node that has lost its root follows any root of the same number
 *	BREAK_ASKS	a node that asks gives way to any root of the same number
 *	BREAK_CLAIMS	a node that claims gives way to any root of the same number
 *	BREAK_ALONE	a root that leads no other node gives way to one that does, in the same number
 */
#ifndef N
#define N 4
#endif
#ifndef CUTS
#define CUTS 0		/* pairs of nodes that do not reach each other, at most */
#endif
#ifndef E
#define E 14
#endif

#define NONE N
#define BIT(n) (1 << (n))

#define FOLLOWS 0
#define ASKS 1
#define CLAIMS 2
#define LEADS 3

typedef Node {
	byte stage;
	byte follows;		/* the root that leads it; NONE */
	byte tries;		/* the root to which its HELLO is under way; NONE */
	byte epoch, root;	/* that its NIC obeys, or at a root will obey */
	byte high;		/* the latest epoch that it knows while it asks */
	byte said, whom;	/* the epoch and root in its HELLO */
	byte cut		/* nodes that it does not reach */
};

Node node[N];
byte cuts;
bool begun;

#define IS_LATER(e, r, than, s) ((e) > (than) || ((e) == (than) && (r) > (s)))
#define REACHES(x, s) (!((node[x].cut >> (s)) & 1))

/* The root s is later than the one that x obeys, or the other way round. */
#define IS_FOR(x, s) IS_LATER(node[s].epoch, s, node[x].epoch, node[x].root)
#define OBEYS_LATER(x, s) IS_LATER(node[x].epoch, node[x].root, node[s].epoch, s)

#ifdef BREAK_LOST
#define RETURNS(x, s) (node[s].epoch >= node[x].epoch)
#else
#define RETURNS(x, s) (!OBEYS_LATER(x, s))
#endif

#ifdef BREAK_ASKS
#define ENDS_ASKING(x, s) (node[s].epoch >= node[x].high)
#else
#define ENDS_ASKING(x, s) (node[s].epoch >= node[x].high && !OBEYS_LATER(x, s))
#endif

#ifdef BREAK_CLAIMS
#define ENDS_CLAIM(x, s) (node[s].epoch >= node[x].epoch)
#else
#define ENDS_CLAIM(x, s) IS_FOR(x, s)
#endif

#ifdef BREAK_ALONE
#if N > 3
#define ALONE(r) (node[0].follows != r && node[1].follows != r && node[2].follows != r && node[3].follows != r)
#else
#define ALONE(r) (node[0].follows != r && node[1].follows != r && node[2].follows != r)
#endif
#define YIELDS(x, s) (IS_FOR(x, s) || (ALONE(x) && !ALONE(s) && node[s].epoch == node[x].epoch))
#else
#define YIELDS(x, s) IS_FOR(x, s)
#endif

/* x would leave its root, or give way, for s. */
#define WANTS(x, s) (node[x].follows != s && \
	(node[x].stage == LEADS -> YIELDS(x, s) : \
	(node[x].stage == CLAIMS -> ENDS_CLAIM(x, s) : \
	(node[x].stage == ASKS -> ENDS_ASKING(x, s) : \
	(node[x].follows != NONE -> IS_FOR(x, s) : RETURNS(x, s))))))

#define TRIES(x, s) (begun && x != s && node[x].tries == NONE && node[s].stage == LEADS && REACHES(x, s) && \
	WANTS(x, s))

/* x sends HELLO to s. */
inline send(x, s) {
	node[x].tries = s;
	node[x].said = node[x].epoch;
	node[x].whom = node[x].root
}

/* Those whom r led have lost it. */
inline drop(r) {
	m = 0;
	do
	:: m < N ->
		if
		:: node[m].follows == r -> node[m].follows = NONE
		:: else
		fi;
		m++
	:: else -> break
	od;
	m = 0
}

/* The HELLO of x is at s. */
inline arrive(x, s) {
	node[x].tries = NONE;
	if
	:: node[s].stage == FOLLOWS
	:: node[s].stage == ASKS ->
		if
		:: node[s].high < node[x].said -> node[s].high = node[x].said
		:: else
		fi
	:: node[s].stage >= CLAIMS &&
	   (node[s].epoch < node[x].said || (node[s].epoch == node[x].said && node[x].whom != s)) ->
		node[s].stage = ASKS;
		node[s].high = node[x].said;
		drop(s)
	:: else ->
		if
		:: node[s].stage == LEADS && WANTS(x, s) ->
			if
			:: node[x].stage != FOLLOWS ->
				node[x].stage = FOLLOWS;
				drop(x)
			:: else
			fi;
			node[x].follows = s;
			node[x].epoch = node[s].epoch;
			node[x].root = s;
			node[x].high = 0
		:: else
		fi
	fi
}

proctype member(byte x) {
	byte s = 0, m = 0;
end:	do
	:: atomic { TRIES(x, 0) -> send(x, 0) }
	:: atomic { TRIES(x, 1) -> send(x, 1) }
	:: atomic { TRIES(x, 2) -> send(x, 2) }
#if N > 3
	:: atomic { TRIES(x, 3) -> send(x, 3) }
#endif
	:: atomic {
		begun && node[x].tries != NONE ->
		s = node[x].tries;
		arrive(x, s);
		s = 0
	}
	:: atomic {
		begun && node[x].stage == ASKS ->
		node[x].stage = CLAIMS;
		node[x].epoch = node[x].high + 1;
		assert(node[x].epoch < E);
		node[x].root = x;
		node[x].high = 0
	}
	:: atomic { begun && node[x].stage == CLAIMS -> node[x].stage = LEADS }
	od
}

/* Each node leads or follows any other one; @good: those that are followed lead. */
inline begin() {
	do
	:: x < N ->
		node[x].tries = NONE;
		node[x].epoch = 1;
		if
		:: node[x].stage = LEADS; node[x].follows = NONE; node[x].root = x
		:: node[x].follows = 0
		:: node[x].follows = 1
		:: node[x].follows = 2
#if N > 3
		:: node[x].follows = 3
#endif
		fi;
		x++
	:: else -> break
	od;
	x = 0;
	do
	:: x < N ->
		if
		:: node[x].stage == LEADS
		:: node[x].stage != LEADS ->
			s = node[x].follows;
			good = good && s != x && node[s].stage == LEADS;
			node[x].root = s;
			s = 0
		fi;
		x++
	:: else -> break
	od;
	x = 0
}

/* Cuts CUTS pairs, or fewer. */
inline cut_pairs() {
	do
	:: cuts < CUTS && x < N - 1 -> x++; s = 0
	:: cuts < CUTS && s + 1 < x -> s++
	:: cuts < CUTS && s < x ->
		node[x].cut = node[x].cut | BIT(s);
		node[s].cut = node[s].cut | BIT(x);
		cuts++
	:: break
	od;
	x = 0;
	s = 0
}

init {
	byte x = 0, s = 0, latest = NONE;
	bool good = true;

	atomic {
		begin();
		cut_pairs();
		if
		:: good
		:: !good -> goto done
		fi;
		do
		:: x < N -> run member(x); x++
		:: else -> break
		od;
		x = 0;
		begun = true
	}
	timeout;
	atomic {
		do
		:: x < N ->
			if
			:: node[x].stage == LEADS && (latest == NONE ||
			   IS_LATER(node[x].epoch, x, node[latest].epoch, latest)) -> latest = x
			:: else
			fi;
			x++
		:: else -> break
		od;
		assert(latest != NONE);
		x = 0;
		do
		:: x < N ->
			assert(x == latest || !REACHES(x, latest) || node[x].follows == latest);
			x++
		:: else -> break
		od
	}
done:	skip
}
