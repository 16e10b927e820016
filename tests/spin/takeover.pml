/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How another node becomes root while the former one hangs, wakes, or has lost cables, checked at N
 * nodes. What is modelled is daemon/fm/root/claim.c, quorum.c, judge.c, epoch.c, the root's tables
 * (publish.c, recovery.c), what a node does with them (node/member.c, task.c), and the fence of the
 * NIC (kernel/req/fence.c). No step has a time: a manager that hangs, and a message that is late or
 * lost, is a step that comes later or never. What is simpler than the code, in a way that allows more:
 *
 *  - A node claims whenever it likes (stage ASKS binds nobody), and any epoch above its NIC's.
 *  - Versions begin anew in each epoch. Only the order by (epoch, version) counts.
 *  - A root counts nodes of which it has not heard as silent at once.
 *  - Rows say at once which cables are lost. Cables do not come back, but with PARTS.
 *  - A node hears of a claim at any time, by an Init or by a call (root/calls.c). With HUNG, Inits
 *    come only through managers that work, and all other nodes are called.
 *  - When a NIC loses its memory, others know it when its node promises anew, and not before.
 *  - The arbiter grants or refuses as it likes, but each epoch once, and none before one that it
 *    granted.
 *
 * It begins with node 0 as root of epoch 1, and a table in which all are up and which all have taken.
 * Asserted:
 *   - an epoch has one root, and each (epoch, version) one table. With FORGETS another one may lead in an
 *     epoch if all NICs that obeyed the first one there have lost their memory: nothing is left of
 *     its tables but on disks, and what those say of one epoch is told apart by the root (parts.c);
 *   - what a NIC obeys and the (epoch, version) of its rows never fall;
 *   - no two roots put tables in force side by side: if all whom a root needs have taken its
 *     table, and all whom the root of a later epoch needs have taken one of that, then one of
 *     those who promised to obey the latter had the former table, or a later one, and said so; or
 *     no cable joins them. A table is not in force any more where a NIC has lost its memory;
 *   - with HUNG: when nothing moves any more, one of the others is root and its table is in force;
 *   - with PARTS, where two parts meet that have a root each: when nothing moves any more, one of
 *     these roots leads all nodes, and they have its table. Until then the two tables may be in
 *     force side by side: parts.c treats what the former root of a part decided while the other
 *     one led.
 *
 * With APART, cables are back between the parts of PARTS, each with its root, but no message passes
 * from one part to the other except Inits: nodes of the part of node 0 claim, and node LATER leads
 * the other one. Asserted is the above, with no two roots in one part; and that a node which hears
 * of the root of the other part takes no epoch of it.
 *
 * FORGETS is 1 at most, because no more is promised (fabricd.conf(5)). With FORGETS=2 spin finds, in 86
 * steps: nodes 1 and 2 have taken over from node 0, which hangs. The NICs of both lose their memory, and
 * nothing is left that knows epoch 2. Then node 0 continues, and both obey it in epoch 1, as new NICs
 * would; a table of node 0 and one of the former root are in force side by side. In general the nodes
 * that know of a takeover are a majority, and of an odd number of nodes two majorities share only one. If
 * that one has forgotten, its own node knows it, so that one node may; if all that two majorities share
 * and their substitutes have forgotten, no rule between nodes can know what was. The disks of candidates
 * can, which the model does not have: a table that was kept names its epoch (node/keep.c), and a root asks
 * anew if a node has kept one of an epoch not before its own (root/epoch.c).
 *
 * tests/spin/test_takeover.sh runs it, and then with one rule broken at a time (BREAK_*), which spin
 * must notice. Three of these were found by it:
 *
 *	BREAK_LATEST	rule C asks for a quorum of the latest table only, whether or not a node knows that it
 *			has come into force, and not of those that were still open when it was made
 *	BREAK_RAISE	a root that leads goes on in a later epoch, of which it learns, without rule C
 *	BREAK_LIFE	a root that leads counts a node for tables in which it was before its NIC lost its memory
 */
#ifndef N
#define N 3
#endif
#ifndef E
#define E 3		/* the last epoch */
#endif
#ifndef V
#define V 3		/* the last version of an epoch */
#endif
#ifndef CAND
#define CAND ALL	/* nodes that claim */
#endif
#ifndef CUTS
#define CUTS 0		/* cables that are lost */
#endif
#ifndef FORGETS
#define FORGETS 0	/* how often a NIC loses its memory; each one once at most */
#endif

/* A set of tables: with more than 14 of them a short is too small */
#if E * V > 14
#define TABLES int
#else
#define TABLES short
#endif

#define ALL ((1 << N) - 1)
#define BIT(n) (1 << (n))
#define IN(n, set) (((set) >> (n)) & 1)
#define COUNT(s) (IN(0, s) + IN(1, s) + IN(2, s) + IN(3, s) + IN(4, s))

/* A table by its epoch and version: a number that grows with both; 0: none */
#define TABLE(e, v) (((e) - 1) * V + (v))
#define EPOCH(t) (((t) - 1) / V + 1)
#define VERSION(t) (((t) - 1) % V + 1)
#define MAKER(t) (root_of[EPOCH(t)] - 1)

#define CLAIMS 1
#define LEADS 2

typedef Nic {
	byte epoch, root;	/* what it obeys */
	byte rows		/* the table in force */
};

typedef Node {
	byte epoch, root;	/* that it follows */
	byte table;		/* that its manager has */
	bool sure;		/* it knows that this table has come into force */
	byte order;		/* that the NIC has been told to take, and has not yet */
	byte late		/* an order of a former root that the NIC still does after others */
};

typedef Root {
	byte stage, epoch;
	byte lives;		/* those of whom it hears, or has heard, in their second life */
	byte told;		/* the latest table that one had who promised, ... */
	bool sure;		/* ... and one of them knew that it has come into force */
	byte sures;		/* nodes of @said that knew that */
	byte promised;		/* nodes that have promised to obey it in @epoch, ... */
	byte up;		/* ... of which it has heard, and neither dead nor silent since */
	byte version;
	byte alone;		/* with BREAK_ALONE: no cable led to others when it claimed */
	byte tried;		/* with HUNG: those who were not enough */
	TABLES open;		/* the last table that is in force, or may be, and all since */
	byte said[N]		/* the table that each node had when it promised */
};

Nic nic[N];
Node node[N];
Root root[N];
byte cable[5];			/* nodes to which a cable leads */
byte cuts;

#ifdef ARBITER
byte granted;			/* the latest epoch that the arbiter has granted */
#endif
byte second;			/* NICs that have lost their memory */
byte forgot;

#ifdef HUNG
byte wave[5];			/* nodes to which Inits of each one come */
#define IN_WAVE(c, n) IN(n, wave[c])
#else
#define IN_WAVE(c, n) 1
#endif

#ifdef APART
#define ONE_PART(a, b) (IN(a, PARTS) == IN(b, PARTS))
#define AWAY(c) (IN(c, PARTS) -> ALL & ~PARTS : PARTS)	/* nodes of the other part */
#ifdef BREAK_BESIDE
#define BESIDE(c) 0		/* a claim takes no account of the epoch of a root beside it */
#else
#define BESIDE(c) (cable[c] & AWAY(c) -> nic[LATER].epoch : 0)
#endif
#else
#define ONE_PART(a, b) 1
#define BESIDE(c) 0
#endif

byte ups[E * V + 1];		/* nodes that are up in a table */
byte lives[E * V + 1];		/* ... those in their second life */
TABLES older[E * V + 1];		/* tables that might have been in force when a table was made */
byte took[E * V + 1];		/* NICs that have taken it */
byte root_of[E + 1];		/* + 1; 0: none has led in that epoch */
#if FORGETS
byte obeyed[E + 1];		/* NICs that have obeyed that root, and lost no memory since */
#define REMEMBER(e, who) obeyed[e] = obeyed[e] | (who)
#else
#define REMEMBER(e, who) skip
#endif

/* For the assertions: what those knew who promised; the last table in force, and where. */
byte known[E + 1], last[E + 1], where[E + 1];

byte i, j, tab, set, yes;	/* of one step */
TABLES need;
#define CLEAR i = 0; j = 0; tab = 0; set = 0; yes = 0; need = 0

/* Nodes that are connected, and neither dead nor silent */
#define VOICES(c) (root[c].up & (root[c].promised | BIT(c)))
#ifdef BREAK_LATEST
#define KNOWN(t) BIT(t)
#else
#define KNOWN(t) (BIT(t) | older[t])
#endif
/* The tables of each of which a claim needs a quorum */
#define NEEDED(c) (root[c].sure -> BIT(root[c].told) : KNOWN(root[c].told))
#define NOW(c) TABLE(root[c].epoch, root[c].version)

/* Whose life is the one that @t has */
#ifdef BREAK_LIFE
#define SAME(c, t) (root[c].stage == LEADS -> ALL : ~(root[c].lives ^ lives[t]))
#else
#define SAME(c, t) (~(root[c].lives ^ lives[t]))
#endif

/* More than half of those who are up in @t, or half with who made it. */
#define QUORUM(c, who, t) (t && 2 * COUNT((who) & ups[t] & SAME(c, t)) + IN(MAKER(t), (who) & SAME(c, t)) > COUNT(ups[t]))

#ifdef BREAK_HALF
/* A root that leads is content with half, whoever made the table. */
#define ENOUGH(c, who, t) (QUORUM(c, who, t) || (root[c].stage == LEADS && 2 * COUNT((who) & ups[t]) >= COUNT(ups[t])))
#else
#define ENOUGH(c, who, t) QUORUM(c, who, t)
#endif

#define OUT_OF(s) ((IN(0, s) * cable[0] | IN(1, s) * cable[1] | IN(2, s) * cable[2] | \
	IN(3, s) * cable[3] | IN(4, s) * cable[4]) & ~(s) & ALL)

#ifdef HUNG
/*
 * Managers of HUNG do nothing. The others lose nothing. They claim if they have promised none of the
 * others to obey it, and the greatest goes on in a later epoch if another's claim is in its way.
 */
#define WORKS(n) (!IN(n, HUNG))
#define OTHER(n, c) (n < N && n != c && WORKS(n))
#define GREATER(n, c) (OTHER(n, c) && n > c && root[n % N].stage)
#define BAR(n, c) (OTHER(n, c) && nic[n % N].root != c && nic[n % N].epoch >= root[c].epoch)
#define BARRED(c) ((BAR(0, c) || BAR(1, c) || BAR(2, c) || BAR(3, c) || BAR(4, c)) && \
	!(GREATER(0, c) || GREATER(1, c) || GREATER(2, c) || GREATER(3, c) || GREATER(4, c)))
#define LED(c) (nic[c].root != c && WORKS(nic[c].root) && root[nic[c].root].stage)
#ifdef PARTS
#define IN_WAY(c) (root[c].stage && BARRED(c))	/* a root that leads asks anew, too */
#else
#define IN_WAY(c) (root[c].stage == CLAIMS && BARRED(c))
#endif
#define MAY_CLAIM(c) (WORKS(c) && (IN_WAY(c) || (!root[c].stage && !LED(c))))
#define FAIR 1
#else
#define WORKS(n) 1
#define MAY_CLAIM(c) 1
#define FAIR 0
#endif

/* All that cables join to @from, into set. */
inline reach(from) {
	set = from;
	do
	:: OUT_OF(set) -> set = set | OUT_OF(set)
	:: else -> break
	od
}

/* Is @who a quorum of each of @tables? Into yes */
inline stands(c, who, tables) {
	yes = 1;
	i = 1;
#ifdef BREAK_ALONE
	if
	:: root[c].alone -> i = TABLE(root[c].epoch, 1)
	:: else
	fi;
#endif
	do
	:: i <= E * V && yes ->
		if
		:: IN(i, tables) -> yes = ENOUGH(c, who, i)
		:: else
		fi;
		i++
	:: else -> break
	od
}

inline forget(c) {
	root[c].stage = 0; root[c].epoch = 0; root[c].told = 0;
	root[c].promised = 0; root[c].up = 0; root[c].lives = 0;
	root[c].sure = 0; root[c].sures = 0;
	root[c].version = 0; root[c].open = 0; root[c].tried = 0; root[c].alone = 0;
	for (i : 0 .. N - 1) { root[c].said[i] = 0 }
}

inline obey(n, r) {
	assert(root[r].epoch >= nic[n].epoch);
	nic[n].epoch = root[r].epoch;
	nic[n].root = r;
	if
	:: root[r].stage == LEADS -> REMEMBER(root[r].epoch, BIT(n))
	:: else
	fi;
#ifdef BREAK_ESTALE
	node[n].late = node[n].order;
#endif
	node[n].order = 0	/* the NIC refuses it */
}

inline follow(n, r) {
	node[n].epoch = root[r].epoch;
	node[n].root = r
}

/* It asks for promises in epoch @e. What was promised to it before is void. */
inline claim(c, e) {
	printf("%d claims epoch %d\n", c, e);
	forget(c);
	root[c].stage = CLAIMS;
	root[c].epoch = e;
	root[c].told = node[c].table;
	root[c].sure = node[c].sure;
	root[c].up = BIT(c);
	root[c].lives = second & BIT(c);
	obey(c, c);
	follow(c, c)
}

/* Whether the life of @n in which @c knows it is over */
#define ANOTHER_LIFE(n, c) IN(n, root[c].lives ^ second)

#define FOLLOWS(n, c) (node[n].epoch == root[c].epoch && node[n].root == c)
/*
 * A root without memory does not lead nodes that obey its former life in the same epoch (epoch.c).
 */
#if FORGETS && !defined(BREAK_AGAIN)
#define MAY_OBEY(n, c) (root[c].epoch > nic[n].epoch)
#else
#define MAY_OBEY(n, c) (root[c].epoch > nic[n].epoch || (root[c].epoch == nic[n].epoch && nic[n].root == c))
#endif

/* HELLO again, which is under way until hear(). Who was root, or claimed, gives that up. */
inline promise(n, c) {
	printf("%d promises to obey %d in epoch %d; it has table %d.%d\n", n, c, root[c].epoch,
	       EPOCH(node[n].table), VERSION(node[n].table));
	if
	:: root[n].stage -> forget(n)
	:: else
	fi;
	if
	:: root[c].stage == CLAIMS ->
		root[c].said[n] = node[n].table;
		root[c].sures = (root[c].sures & ~BIT(n)) | (node[n].sure << n)
	:: else
	fi;
#ifdef BREAK_RAISE
	if
	:: root[c].stage == LEADS && node[n].table > known[root[c].epoch] && EPOCH(node[n].table) < root[c].epoch ->
		known[root[c].epoch] = node[n].table
	:: else
	fi
#endif
	if
	:: ANOTHER_LIFE(n, c) -> root[c].up = root[c].up & ~BIT(n)
	:: else
	fi;
	root[c].lives = (root[c].lives & ~BIT(n)) | (second & BIT(n));
	root[c].promised = root[c].promised | BIT(n);
#ifndef BREAK_PROMISE
	obey(n, c);
#endif
	follow(n, c)
}

/* The promise comes, or the node is back. */
inline hear(c, n) {
	printf("%d hears that from %d\n", c, n);
	root[c].up = root[c].up | BIT(n);
	if
	:: root[c].stage == CLAIMS && root[c].said[n] > root[c].told ->
		root[c].told = root[c].said[n];
		root[c].sure = 0
	:: else
	fi;
	if
	:: root[c].stage == CLAIMS && root[c].said[n] == root[c].told && IN(n, root[c].sures) -> root[c].sure = 1
	:: else
	fi;
	root[c].said[n] = 0;
	root[c].sures = root[c].sures & ~BIT(n);
}

#if FORGETS
/* Nobody remembers the root that led in epoch @e, nor its tables. */
inline nothing_left(e) {
	if
	:: root_of[e] && !obeyed[e] ->
		printf("nobody knows that %d led in epoch %d\n", root_of[e] - 1, e);
		for (i : TABLE(e, 1) .. TABLE(e, V)) { ups[i] = 0; lives[i] = 0; older[i] = 0; took[i] = 0 }
		root_of[e] = 0;
		last[e] = 0;
		where[e] = 0
	:: else
	fi
}
#else
#define nothing_left(e) skip
#endif

inline lead(c) {
	printf("%d leads in epoch %d\n", c, root[c].epoch);
	j = root[c].epoch;
	nothing_left(j);
	assert(!root_of[root[c].epoch]);
	root_of[root[c].epoch] = c + 1;
	REMEMBER(root[c].epoch, (root[c].promised & ~(root[c].lives ^ second)) | BIT(c));
	known[root[c].epoch] = root[c].told;
	root[c].open = NEEDED(c);
#ifdef BREAK_ALONE
	root[c].alone = !OUT_OF(root[c].up);
#endif
	root[c].stage = LEADS;
	root[c].told = 0;
	root[c].sure = 0;
	root[c].sures = 0;
	for (i : 0 .. N - 1) { root[c].said[i] = 0 }
}

#ifdef BREAK_RAISE
/* A root goes on in epoch @e, and asks nobody. Nodes join anew, and its tables stay. */
inline raise(c, e) {
	printf("%d, which leads, goes on in epoch %d\n", c, e);
	assert(!root_of[e]);
	root_of[e] = c + 1;
	known[e] = NOW(c);
	for (i : 1 .. V) { ups[TABLE(e, i)] = ups[TABLE(root[c].epoch, i)] }
	root[c].open = root[c].open << ((e - root[c].epoch) * V);
	root[c].epoch = e;
	root[c].promised = 0;
	obey(c, c);
	follow(c, c);
	node[c].table = NOW(c);
	node[c].order = NOW(c)
}
#endif

inline publish(c) {
	root[c].version++;
	tab = NOW(c);
	assert(!ups[tab]);
	ups[tab] = root[c].up;
	lives[tab] = root[c].lives & root[c].up;
	older[tab] = root[c].open;
	root[c].open = root[c].open | BIT(tab);
	printf("%d makes table %d.%d, without nodes %x\n", c, root[c].epoch, root[c].version, ALL & ~root[c].up);
	node[c].table = tab;
	node[c].sure = 0;
	node[c].order = tab
}

/* No later root is beside the one of epoch @i, in one part, that does not know of its last table. */
inline no_other_beside() {
	j = i + 1;
	do
	:: j <= E ->
		if
		:: last[i] && last[j] && last[i] > known[j] && root_of[i] != root_of[j] &&
			ONE_PART(root_of[i] - 1, root_of[j] - 1) ->
			reach(where[i]);
			assert(!(set & where[j]))
		:: else
		fi;
		j++
	:: else -> break
	od
}

/*
 * All whom the root needs have taken its table. It is in force if those are a quorum of each table
 * that is open, for then some of any other quorum have this one; or if no cable leads to others.
 */
inline taken_by_all(c) {
	set = root[c].up & ups[NOW(c)];
	stands(c, set, (root[c].open & ~BIT(NOW(c))));
#ifdef BREAK_TAKEN
	yes = 1;
#endif
	if
	:: yes || !OUT_OF(set) ->
		printf("table %d.%d of %d is in force\n", root[c].epoch, root[c].version, c);
		root[c].open = BIT(NOW(c));
		node[c].sure = 1;
		root[c].alone = 0;
		last[root[c].epoch] = NOW(c);
		where[root[c].epoch] = set;
#if !defined(PARTS) || defined(APART)
		for (i : 1 .. E) { no_other_beside() }
#endif
	:: else -> assert(!FAIR)
	fi
}

/* @n is dead, with all that cables join to it, or silent. */
inline judge(c, n) {
	reach(BIT(n));
	if
	:: IN(c, set) ->
		set = BIT(n);
#ifdef BREAK_S
		yes = 1;
#else
		stands(c, (VOICES(c) & ~BIT(n)), root[c].open);
#endif
	:: else -> yes = 1
	fi;
	if
	:: yes ->
		root[c].up = root[c].up & ~set;
		printf("%d calls %d silent or dead: nodes %x are left\n", c, n, root[c].up)
	:: else
	fi
}

/*
 * The NIC of @n loses its memory, and its manager, too: from then on the node is another one,
 * which has promised nothing and is in no table. A root that knew it before learns of that when it
 * promises anew.
 */
inline lose_memory(n) {
	printf("NIC %d loses its memory\n", n);
	forgot++;
	second = second | BIT(n);
	for (i : 1 .. E) {
		obeyed[i] = obeyed[i] & ~BIT(n);
		where[i] = where[i] & ~BIT(n);
		last[i] = (where[i] -> last[i] : 0)
	}
	nic[n].epoch = 0; nic[n].root = 0; nic[n].rows = 0;
	node[n].epoch = 0; node[n].root = 0; node[n].table = 0; node[n].sure = 0; node[n].order = 0; node[n].late = 0;
	forget(n)
}

#define TAKEN_BY_ALL(c) (root[c].version && last[root[c].epoch] != NOW(c) && \
	!(root[c].up & ups[NOW(c)] & ~took[NOW(c)]))

/* The NIC does an order. The fence refuses it if the NIC obeys a later epoch, or another root in this. */
inline take_rows(n) {
	assert(tab >= nic[n].rows);
	nic[n].epoch = EPOCH(tab);
	nic[n].root = MAKER(tab);
	nic[n].rows = tab;
	took[tab] = took[tab] | BIT(n);
	printf("NIC %d takes table %d.%d\n", n, EPOCH(tab), VERSION(tab))
}

/* The first epoch that it may claim */
#ifdef BREAK_EPOCH
#define FIRST(c) nic[c].epoch
#else
#define FIRST(c) ((nic[c].epoch > BESIDE(c) -> nic[c].epoch : BESIDE(c)) + 1)
#endif

/* A connection that @n opens, for it has heard of the claim, by an Init or by a call */
#define MAY_PROMISE(n, c) (root[c].stage && (!IN(n, root[c].promised) || ANOTHER_LIFE(n, c)) && MAY_OBEY(n, c) && \
	WORKS(n) && WORKS(c) && !STAYS(n) && ONE_PART(n, c))
#ifdef BREAK_MERGE
#define STAYS(n) (root[n].stage == LEADS || LED(n))	/* with a root that leads it, though a later one does, too */
#else
#define STAYS(n) 0
#endif

/* What @c does as root, with @n; what @n does for it */
proctype pair(byte c; byte n) {
end:	do
	:: d_step { MAY_PROMISE(n, c) && IN_WAVE(c, n) -> promise(n, c); CLEAR }
#ifndef BREAK_CALL
	/* No Init comes to @n. It is called. */
	:: d_step { MAY_PROMISE(n, c) && !IN_WAVE(c, n) -> printf("%d calls %d\n", c, n); promise(n, c); CLEAR }
#endif
#ifdef BREAK_ANSWER
	:: d_step { MAY_PROMISE(n, c) -> printf("%d answers a call of %d\n", n, c);
		root[c].promised = root[c].promised | BIT(n); follow(n, c); CLEAR }
#endif
	:: d_step { IN(n, root[c].promised) && !IN(n, root[c].up) && WORKS(c) -> hear(c, n); CLEAR }
	:: d_step { IN(n, root[c].up) && FOLLOWS(n, c) && root[c].version && node[n].table < NOW(c) && WORKS(n) &&
		!ANOTHER_LIFE(n, c) && !IN(n, lives[NOW(c)] ^ second) ->
		printf("%d gets table %d.%d of %d\n", n, root[c].epoch, root[c].version, c);
		node[n].table = NOW(c); node[n].sure = 0; node[n].order = NOW(c); CLEAR }
	/* The step after that in which all have taken the table */
	:: d_step { FOLLOWS(n, c) && root[c].stage == LEADS && root[c].version && node[n].table == NOW(c) && !node[n].sure &&
		last[root[c].epoch] == NOW(c) && WORKS(n) && WORKS(c) -> node[n].sure = 1; CLEAR }
	/* The connection to @n is lost, for long. It is back when hear() comes. */
	:: d_step { root[c].stage == LEADS && IN(n, root[c].up) && !FAIR -> judge(c, n); CLEAR }
	:: d_step { n > c && IN(n, cable[c]) && cuts < CUTS ->
		printf("the cable of %d and %d is lost\n", c, n);
		cuts++; cable[c] = cable[c] & ~BIT(n); cable[n] = cable[n] & ~BIT(c); CLEAR }
	od
}

/* What a claim needs, after stands(). Without a table nobody knows of whom a majority would be. */
#define PROMISED(c) (yes && root[c].told)
#define ALONE(c) (!OUT_OF(root[c].up))
#ifdef ARBITER
#define ASKED 1			/* who may lead only for being alone needs the arbiter's grant */
#else
#define ASKED 0
#endif

proctype single(byte c) {
end:	do
	:: d_step { IN(c, CAND) && FIRST(c) <= E && MAY_CLAIM(c) -> j = FIRST(c); claim(c, j); CLEAR }
	:: d_step { IN(c, CAND) && FIRST(c) < E && MAY_CLAIM(c) && !FAIR -> j = FIRST(c) + 1; claim(c, j); CLEAR }
	:: d_step { root[c].stage == CLAIMS && WORKS(c) && root[c].tried != root[c].up ->
		need = NEEDED(c);
		stands(c, root[c].up, need);
		if
#ifdef BREAK_C
		:: true -> lead(c)
#endif
		:: PROMISED(c) || (ALONE(c) && !ASKED) -> lead(c)
		:: else -> root[c].tried = (FAIR -> root[c].up : 0)
		fi; CLEAR }
#ifdef ARBITER
	/* It compares and swaps; what it grants to one with too few promises changes nothing. */
	:: d_step { root[c].stage == CLAIMS && WORKS(c) && root[c].epoch > granted ->
		granted = root[c].epoch;
		need = NEEDED(c);
		stands(c, root[c].up, need);
		if
#ifdef BREAK_GRANT
		:: true -> lead(c)
#endif
		:: PROMISED(c) || ALONE(c) -> lead(c)
		:: else
		fi; CLEAR }
	/* It refuses. */
	:: d_step { root[c].stage == CLAIMS && !FAIR -> forget(c); CLEAR }
#endif
	:: d_step { root[c].stage == LEADS && root[c].version < V && WORKS(c) &&
		(!root[c].version || root[c].up != ups[NOW(c)] || (root[c].lives & root[c].up) != lives[NOW(c)]) -> publish(c); CLEAR }
	:: d_step { root[c].stage == LEADS && TAKEN_BY_ALL(c) && WORKS(c) -> taken_by_all(c); CLEAR }
	:: d_step { node[c].order -> tab = node[c].order; node[c].order = 0; take_rows(c); CLEAR }
#if FORGETS
	:: d_step { forgot < FORGETS && !IN(c, second) -> lose_memory(c); CLEAR }
#endif
#ifdef BREAK_ESTALE
	:: d_step { node[c].late -> tab = node[c].late; node[c].late = 0; take_rows(c); CLEAR }
#endif
#ifdef BREAK_RAISE
	:: d_step { root[c].stage == LEADS && root[c].version && root[c].epoch < E && nic[c].root == c -> j = root[c].epoch + 1;
		raise(c, j); CLEAR }
	:: d_step { root[c].stage == LEADS && root[c].version && root[c].epoch + 1 < E && nic[c].root == c -> j = root[c].epoch + 2;
		raise(c, j); CLEAR }
#endif
	od
}

#ifdef HUNG
#define RULES(n) (n < N && WORKS(n) && root[n % N].stage == LEADS && root[n % N].version && \
	last[root[n % N].epoch] == NOW(n % N))

#ifdef PARTS
#define ONE(n) (RULES(n) && root[n % N].up == ALL && where[root[n % N].epoch] == ALL)
#endif

/* When nothing moves any more */
proctype watch() {
#ifdef PARTS
	timeout -> assert(ONE(0) || ONE(1) || ONE(2) || ONE(3) || ONE(4));
#endif
	timeout -> assert(RULES(0) || RULES(1) || RULES(2) || RULES(3) || RULES(4))
}
#endif

init {
	byte a, b;

	atomic {
		for (a : 0 .. N - 1) {
			nic[a].epoch = 1;
			nic[a].rows = TABLE(1, 1);
			node[a].epoch = 1;
			node[a].table = TABLE(1, 1);
			node[a].sure = 1;
#ifdef RING
			cable[a] = BIT((a + 1) % N) | BIT((a + N - 1) % N)
#else
			cable[a] = ALL & ~BIT(a)
#endif
		}
#ifdef HUNG
		/* Inits pass managers that work. */
		for (a : 0 .. N - 1) {
			set = BIT(a);
			do
			:: OUT_OF(set & ~HUNG) & ~set -> set = set | OUT_OF(set & ~HUNG)
			:: else -> break
			od;
			wave[a] = set
		}
		set = 0;
#endif
		root[0].stage = LEADS;
		root[0].epoch = 1;
		root[0].promised = ALL & ~1;
		root[0].up = ALL;
		root[0].version = 1;
		root[0].open = BIT(TABLE(1, 1));
		root_of[1] = 1;
		REMEMBER(1, ALL);
		ups[TABLE(1, 1)] = ALL;
		took[TABLE(1, 1)] = ALL;
		last[1] = TABLE(1, 1);
		where[1] = ALL;
#ifdef PARTS
		/*
		 * PARTS and the others have been separated, and each has a root, node LATER that
		 * of the later epoch. Now they hear of each other; cables between them are closed
		 * until a table opens them.
		 */
		root_of[2] = LATER + 1;
		REMEMBER(2, PARTS);
		root[0].up = ALL & ~PARTS;
		root[0].promised = ALL & ~PARTS & ~1;
		ups[TABLE(1, 2)] = root[0].up;
		older[TABLE(1, 2)] = BIT(TABLE(1, 1));
		took[TABLE(1, 2)] = root[0].up;
		root[0].version = 2;
		root[0].open = BIT(TABLE(1, 2));
		last[1] = TABLE(1, 2);
		where[1] = root[0].up;
		root[LATER].stage = LEADS;
		root[LATER].epoch = 2;
		root[LATER].promised = PARTS & ~BIT(LATER);
		root[LATER].up = PARTS;
		root[LATER].version = 1;
		root[LATER].open = BIT(TABLE(2, 1));
		ups[TABLE(2, 1)] = PARTS;
		older[TABLE(2, 1)] = BIT(TABLE(1, 1));
		took[TABLE(2, 1)] = PARTS;
		known[2] = TABLE(1, 1);
		last[2] = TABLE(2, 1);
		where[2] = PARTS;
		for (a : 0 .. N - 1) {
#ifndef APART
			cable[a] = cable[a] & (IN(a, PARTS) -> PARTS : ALL & ~PARTS);
#endif
			node[a].epoch = (IN(a, PARTS) -> 2 : 1);
			node[a].root = (IN(a, PARTS) -> LATER : 0);
			node[a].table = (IN(a, PARTS) -> TABLE(2, 1) : TABLE(1, 2));
			nic[a].epoch = node[a].epoch;
			nic[a].root = node[a].root;
			nic[a].rows = node[a].table
		}
#endif
		for (a : 0 .. N - 1) {
			run single(a);
			for (b : 0 .. N - 1) {
				if
				:: a != b -> run pair(a, b)
				:: else
				fi
			}
		}
#ifdef HUNG
		run watch();
#endif
		a = 0;
		b = 0
	}
}
