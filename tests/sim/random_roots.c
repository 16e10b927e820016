// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random histories in which roots end. The fabrics are small and have little traffic, so that
 * thousands of histories are cheap. The node that leads loses its power or its manager, or hangs
 * for 10 us to 10 s, also in a given step of a recovery, together with a second fault. Node 0 has
 * no special role. The service network is cut in two or loses all messages in one direction, NICs
 * are slow or fail, and an administrator excludes ports at the node that is root then. At the end
 * all but the exclusions is mended: one root must lead, with all exclusions that were acknowledged,
 * and the checks of random_faults.c must pass. The whole series must have met each way in which a
 * root ends, in each step of a recovery, with each second fault, and each of some other events. So the
 * seed of a history without a name tells which of these is its first event.
 *
 *	test_random_roots [FIRST [COUNT] | NAME]	see series.h; VERBOSE=1..4 prints the managers' log
 */
#include <stdatomic.h>
#include <stdio.h>

#include "series.h"
#include "trial.h"
#include "tests/unit/random.h"
#include "tools/fabricsim/world_impl.h"

#define NODES_MAX 9

/* Add new acts at the end and set origin.acts of the named histories: they stay as they were. */
enum act {
	CUT,
	MEND,
	END_NODE,
	END_ROOT,
	END_IN_STEP,		/* the root ends in a step of a recovery, and something else happens */
	BACK,			/* nodes get back their power or manager */
	WAKE,			/* managers that hang go on */
	EXCLUDE,
	INCLUDE,
	PARTITION,
	ONE_WAY,
	HEAL,
	SLOW,
	MOVE,
	END_APART,		/* the root ends during a step, and managers or NICs fail */
	ACTS,
};

/* In origin.acts of a named history: its first event follows from the seed, as without a name. */
#define AS_SEED_TELLS 0x100

static const char *const names[ACTS] = {
	"cut", "mend", "end node", "end root", "end in step", "back", "wake", "exclude", "include",
	"partition", "one way", "heal", "slow", "move", "end apart",
};

/* Faults: the first three are the ways in which a node ends. */
enum fault { NO_POWER, NO_MANAGER, HANGS, ENDS, LOST_CABLE = ENDS, PARTED, DEAF, BAD_NIC, FAULTS };

static const char *const fault_names[FAULTS] = {
	"no power", "no manager", "hangs", "lost cable", "parted", "deaf", "bad NIC",
};

static const char *const step_names[STEPS] = {
	"no root", "rest", "table", "apply", "drain", "replay", "resume",
};

/*
 * Events that the histories of this process have met: how often a root that led ended in each way,
 * in each step of a recovery, together with each second fault; how often a partition left nodes
 * without the root, two roots led when the service network was mended, and a root that hung woke
 * beside a later one.
 */
static atomic_uint met[STEPS][ENDS][FAULTS];
static atomic_uint met_alone, met_two_roots, met_old_root;

static void end_as(struct trial *s, uint32_t node, enum fault is)
{
	switch (is) {
	case NO_POWER:
		world_power(s->w, node, false);
		break;
	case NO_MANAGER:
		world_manager(s->w, node, false);
		break;
	default:
		world_hang(s->w, node, true);
	}
}

/* Return: how it ends. */
static enum fault end_node(struct trial *s, uint32_t node, uint64_t *random)
{
	enum fault is = random_below(random, ENDS);

	end_as(s, node, is);
	return is;
}

/* Return: true if the manager of @node works and is a root that leads. */
static bool does_lead(const struct trial *s, uint32_t node)
{
	return world_managed(s->w, node) && !s->w->node[node].hung && fm_is_root(world_fm(s->w, node));
}

static void back(struct trial *s)
{
	for (uint32_t i = 0; i < world_nodes(s->w); i++) {
		world_power(s->w, i, true);
		world_manager(s->w, i, true);
	}
}

static void wake(struct trial *s)
{
	uint32_t root = world_root(s->w);

	for (uint32_t i = 0; i < world_nodes(s->w); i++) {
		met_old_root += does_lead(s, root) && s->w->node[i].hung && world_managed(s->w, i) &&
				fm_is_root(world_fm(s->w, i));
		world_hang(s->w, i, false);
	}
}

/* Cuts the service network in two. */
static void part(struct trial *s, uint64_t *random)
{
	uint64_t mask = random_next(random);
	uint32_t root = world_root(s->w), alone = 0;

	for (uint32_t i = 0; does_lead(s, root) && i < world_nodes(s->w); i++)
		alone += world_managed(s->w, i) && (mask >> i & 1) != (mask >> root & 1);
	met_alone += alone > 0;
	world_partition(s->w, mask);
}

static void heal(struct trial *s)
{
	unsigned int roots = 0;

	for (uint32_t i = 0; i < world_nodes(s->w); i++)
		roots += does_lead(s, i);
	met_two_roots += roots > 1;
	world_partition(s->w, 0);
}

/*
 * Makes a node slow by random numbers, drawn one after the other: C evaluates arguments in no
 * fixed order, and a seed must always give the same history.
 */
static void slow(struct world *w, uint32_t node, uint64_t *random)
{
	unsigned int fails = random_below(random, 100);
	uint64_t time = random_below(random, 2) ? 20 * US << random_below(random, 8) : 0;

	world_slow(w, node, time, fails);
}

/* A second fault, at @node. @other: the node that does not hear it, if it is DEAF. */
static void second_as(struct trial *s, enum fault is, uint32_t node, uint32_t other, uint64_t *random)
{
	switch (is) {
	case LOST_CABLE:
		world_cut(s->w, random_below(random, world_cables(s->w)), true);
		break;
	case PARTED:
		part(s, random);
		break;
	case DEAF:
		world_one_way(s->w, node, other, node != other);
		break;
	case BAD_NIC:
		slow(s->w, node, random);
		break;
	default:
		end_as(s, node, is);
	}
}

/* Cuts a cable or ends another node. Return: which of these. */
static enum fault second_fault(struct trial *s, uint32_t node, uint64_t *random)
{
	enum fault is = random_below(random, 2) ? random_below(random, ENDS) : LOST_CABLE;

	second_as(s, is, node, node, random);
	return is;
}

/* Separates managers or makes a NIC slow. Return: which of these. */
static enum fault second_apart(struct trial *s, uint32_t node, uint64_t *random)
{
	uint32_t other = random_below(random, world_nodes(s->w));
	enum fault is = PARTED + random_below(random, 3);

	second_as(s, is, node, other, random);
	return is;
}

/* Runs on until a recovery is at @step, or for 20 ms; looks every @ns. Return: the step that it is at. */
static enum trial_step run_to(struct trial *s, enum trial_step step, uint64_t ns)
{
	for (uint64_t t = 0; t < 20 * MS && trial_step(s) != step; t += ns)
		world_run(s->w, ns);
	return trial_step(s);
}

/*
 * Begins a recovery, and when it is at a random step, ends the root, together with a second fault at
 * another node.
 */
static void end_in_step(struct trial *s, uint64_t *random, bool apart)
{
	enum trial_step step = STEP_TABLE + random_below(random, STEPS - STEP_TABLE);
	uint32_t cable = random_below(random, world_cables(s->w));
	uint32_t node = random_below(random, world_nodes(s->w)), root;
	enum fault first, second;
	bool led;

	world_cut(s->w, cable, random_below(random, 4) > 0);
	step = run_to(s, step, 10 * US);
	root = world_root(s->w);
	led = does_lead(s, root);
	first = end_node(s, root, random);
	second = apart ? second_apart(s, node, random) : second_fault(s, node, random);
	if (led && (node != root || second == LOST_CABLE || second == PARTED))
		met[step][first][second]++;
}

/*
 * The first event of a history without a name: its seed tells at which step the root ends, how, and with
 * which fault of another node, so that few histories are enough to meet all of these. After these seeds
 * comes one in which a partition lasts.
 */
static void begin_as_seed_tells(struct trial *s, uint64_t seed, uint64_t *random)
{
	enum trial_step step = STEP_TABLE + seed % (STEPS - STEP_TABLE);
	enum fault first = seed / (STEPS - STEP_TABLE) % ENDS;
	enum fault second = seed / ((STEPS - STEP_TABLE) * ENDS) % (FAULTS + 1);
	uint32_t nodes = world_nodes(s->w), root = world_root(s->w);
	uint32_t node = (root + 1 + random_below(random, nodes - 1)) % nodes;
	uint32_t cable = random_below(random, world_cables(s->w));
	bool led;

	if (second == FAULTS) {
		part(s, random);
		world_run(s->w, 5 * SEC);
		heal(s);
		return;
	}
	for (unsigned int i = 0; i < 10 && run_to(s, step, 1 * US) != step; i++)
		world_cut(s->w, cable, i % 2 == 0);
	step = trial_step(s);
	led = does_lead(s, root);
	end_as(s, root, first);
	second_as(s, second, node, root, random);
	met[step][first][second] += led;
}

static void act(struct trial *s, unsigned int acts, uint64_t *random)
{
	struct world *w = s->w;
	uint32_t cable = random_below(random, world_cables(w));
	uint32_t node = random_below(random, world_nodes(w));
	uint32_t other = random_below(random, world_nodes(w));

	unsigned int which = random_below(random, acts);

	if (world_config(w)->verbose)
		fprintf(stderr, "%10.3f ms -- %s: node %u, root %u, cable %u\n",
			(double)world_now(w) / 1e6, names[which], node, world_root(w), cable);
	switch (which) {
	case CUT:
		world_cut(w, cable, true);
		break;
	case MEND:
		for (uint32_t i = 0; i < world_cables(w); i++)
			world_cut(w, i, false);
		break;
	case END_NODE:
		end_node(s, node, random);
		break;
	case END_ROOT:
		end_node(s, world_root(w), random);
		break;
	case END_IN_STEP:
		end_in_step(s, random, false);
		break;
	case BACK:
		back(s);
		break;
	case WAKE:
		wake(s);
		break;
	case EXCLUDE:
		trial_exclude(s, node, (int)random_below(random, 2u * world_config(w)->shape.ndims), true);
		break;
	case INCLUDE:
		trial_exclude(s, node, -1, false);
		break;
	case PARTITION:
		part(s, random);
		break;
	case ONE_WAY:
		world_one_way(w, node, other, node != other);
		break;
	case HEAL:
		heal(s);
		break;
	case SLOW:
		slow(w, node, random);
		break;
	case MOVE:
		if (world_managed(w, world_root(w)) && !w->node[world_root(w)].hung)
			world_move(w, world_root(w), node);
		break;
	case END_APART:
		end_in_step(s, random, true);
		break;
	}
}

/*
 * Includes all excluded ports, again and again: a root may just be handing over, or give way to
 * another root, which knows nothing of its last orders.
 */
static void include_all(struct trial *s)
{
	for (unsigned int tries = 0; tries < 100 && (trial_excluded(s) || !world_settled(s->w)); tries++) {
		for (uint32_t i = 0; i < world_nodes(s->w); i++)
			trial_exclude(s, i, -1, false);
		world_run(s->w, 50 * MS);
	}
}

/* Mends all, waits for rest, and looks whether what was excluded still is; then includes it. */
static void mend(struct trial *s)
{
	const char *wrong;
	char buf[100];

	world_partition(s->w, 0);
	world_disturb(s->w, 0, 0, 50 * US);
	for (uint32_t i = 0; i < world_nodes(s->w); i++)
		world_slow(s->w, i, 0, 0);
	for (uint32_t i = 0; i < world_cables(s->w); i++)
		world_cut(s->w, i, false);
	wake(s);
	back(s);
	trial_rest(s, 60 * SEC);
	wrong = check_admin(s->flow, buf, sizeof(buf));
	if (wrong)
		trial_fail(s, "%s", wrong);
	include_all(s);
}

static bool history(const struct origin *o, char *wrong, size_t room)
{
	uint64_t random = o->stream;
	char text[TORUS_TEXT_MAX];
	struct world_config c;
	struct trial s;
	bool good;

	world_config_default(&c);
	c.seed = o->seed;
	c.adaptive = true;
	do {
		trial_shape(&random, NODES_MAX, &c.shape);
	} while (torus_nodes(&c.shape) < 3);
	c.discover = random_below(&random, 2);
	c.fanout = 1 + random_below(&random, 8);
	c.vanish = random_below(&random, 2);
	c.member_max = 300 * MS;
	c.link_latency = (2 * US) << random_below(&random, 6);
	trial_begin(&s, &c);
	trial_power_all(&s);
	trial_rest(&s, 10 * SEC);
	s.sparing = true;
	trial_traffic(&s, 2 * MS);
	world_run(s.w, 5 * MS);
	if (!random_below(&random, 3))
		trial_disturb(s.w, &random, 100, 300, 8);
	if (!o->name || o->acts & AS_SEED_TELLS) {
		begin_as_seed_tells(&s, o->seed, &random);
		trial_run(&s, trial_some_time(&random, 10 * US, 10));
	}
	for (unsigned int i = 3 + random_below(&random, 8); i && !s.wrong[0]; i--) {
		act(&s, o->acts ? o->acts & ~AS_SEED_TELLS : ACTS, &random);
		trial_run(&s, trial_some_time(&random, 10 * US, 10));
	}
	mend(&s);
	good = trial_end(&s);
	snprintf(wrong, room, "%s: %s", torus_shape_text(&c.shape, text), s.wrong);
	return good;
}

static const struct origin named[] = {
	{ "welcomed_by_claim", 20, 0, MOVE + 1, false, false,
	  "too few promised in time; those that had been welcomed did not say HELLO any more, so the one "
	  "that asked never had enough of them" },
	{ "welcomed_by_claim_2", 46, 0, MOVE + 1, false, false,
	  "as welcomed_by_claim, after other events" },
	{ "asker_that_gave_up", 1028, 0, MOVE + 1, false, false,
	  "a node that no root had led followed one that asked no more, for ever" },
	{ "root_hangs_and_connects", 2310, 0, MOVE + 1, false, false,
	  "candidates waited for the root that hung, because its host took connections" },
	{ "asker_without_a_shape", 2160, 0, MOVE + 1, false, false,
	  "nodes with a table that followed a root without a shape sent malformed Inits" },
	{ "epoch_before_the_lost_one", 6216, 0, MOVE + 1, false, false,
	  "a node waited for the lost root of a later epoch, and the one that led never heard of "
	  "that" },
	{ "two_roots_fall_silent", 8376, 0, MOVE + 1, false, false,
	  "two roots of one epoch led on, because the later one's nodes did not answer Inits any "
	  "more" },
	{ "alone_in_a_later_epoch", 10970, 0, MOVE + 1, false, false,
	  "a node asked in vain in an epoch after that in which its neighbours were led" },
	{ "alone_beside_the_unplaced", 11549, 0, MOVE + 1, false, false,
	  "a root that was alone did not give way while its neighbour had no table" },
	{ "colour_of_another_part", 4143, 0, MOVE + 1, false, false,
	  "a table took a colour of which a part without a root had packets" },
	{ "excluded_elsewhere", 3607, 0, MOVE + 1, false, false,
	  "what a part had excluded at nodes that were none of it was forgotten when it met "
	  "another" },
	{ "excluded_and_kept", 13931, 0, MOVE + 1, false, false,
	  "as excluded_elsewhere; the managers of that part began anew and had kept their table" },
	{ "unheard_beside_a_late_one", 10159, 0, MOVE + 1, false, false,
	  "a node that never said HELLO was judged dead, though one that had joined later had a "
	  "link to it" },
	{ "asked_and_not_welcomed", 15831, 0, MOVE + 1, false, false,
	  "a node that had said HELLO to the one that asked was dead in the table, beside one with "
	  "a link to it" },
	{ "numbers_of_a_lost_table", 14297, 0, MOVE + 1, false, false,
	  "the root that lost its memory made a version twice, and its flows were taken for "
	  "doubles" },
	{ "claims_and_hangs", 392, 0, MOVE + 1, false, false,
	  "a root hung after it had claimed; members below another member waited for it for long" },
	{ "obeys_after_a_time_out", 60339, 0, MOVE + 1, false, false,
	  "a NIC obeyed a claim that had timed out, and then refused the root of the same epoch, which did "
	  "not know why" },
	{ "shunned_after_many_tries", 82987, 0, MOVE + 1, false, false,
	  "a node that could not be reached, and asked, was not followed for 10 s, also when it could be "
	  "reached again" },
	{ "hung_asker_is_told_of", 90068, 0, MOVE + 1, false, false,
	  "a node without memory followed one that asked and hung, for 4 s, and others heard of that one "
	  "from it again and again" },
	{ "tried_while_cut_off", 91813, 0, MOVE + 1, false, false,
	  "a node tried to reach the root that it had lost, from before the service network was mended "
	  "on, and did not follow it when it asked" },
	{ "one_beside_the_led", 60350, 0, MOVE + 1, false, false,
	  "an error of the check for takeovers: it took a node without a root for able to lead, although "
	  "its neighbours were led over the service network by a root that no cable reached" },
	{ "lost_root_that_leads", 9876, 0, MOVE + 1, false, false,
	  "a node without memory heard of a lost root and told its neighbours that it leads; the only one "
	  "that could ask gave way to it each time, for ever" },
	{ "shunned_for_long", 4776, 0, MOVE + 1, false, false,
	  "nodes that once had not reached the one that asked did not follow it for 4 s, though by then "
	  "they could" },
	{ "silent_in_the_same_epoch", 4446, 0, MOVE + 1, false, false,
	  "an error of check_epoch: a node that a root counts as silent may obey another root of the same "
	  "number" },
	{ "drain_of_a_former_root", 9081, 0, MOVE + 1, false, false,
	  "an error of check_drain: a hung root woke and ended its recovery when a later root had made tables" },
	{ "lost_in_two_lives", 1359, 0, MOVE + 1, false, false,
	  "an error of the check of losses: what a NIC gave up in one life came in its next one, which missed "
	  "what the former had got" },
	{ "kept_before_it_was_the_latest", 2019317, 0, MOVE + 1, false, false,
	  "a root had the table of another part as one that had been kept, and forgot what that excludes when "
	  "a node came that worked with it" },
	{ "later_than_the_one_asked_for", 2017818, 0, MOVE + 1, false, false,
	  "a node that asked to be root did not fetch the latest table, because it had just fetched another "
	  "one, and forgot what that excludes" },
	{ "later_in_the_same_colour", 2045764, 0, MOVE + 1, false, false,
	  "the number behind the version of a node that came had the colour of the table in force, so no "
	  "table took that node, for ever" },
	{ "later_in_the_same_colour_2", 2062923, 0, MOVE + 1, false, false,
	  "as later_in_the_same_colour, in a larger fabric" },
	{ "latest_of_a_root_that_leads", 2062480, 0, MOVE + 1, false, false,
	  "a root that led without a table did not ask for the latest one, with which nodes came, and forgot "
	  "what that excludes" },
	{ "version_of_the_kept", 2122966, 0, MOVE + 1, false, false,
	  "the only NICs with the latest table lost their power; the next root had kept that table, and "
	  "made its version once more" },
	{ "no_clean_colour", 2084667, 0, MOVE + 1, false, false,
	  "all colours were in use when two parts met, and no table followed whose drain was of the one that "
	  "was taken; the replay took a second" },
	{ "numbers_left_out", 2099468, 0, MOVE + 1, false, false,
	  "an error of the check of colours: it took the fourth version before for the last one of a colour, "
	  "although the root had left out numbers" },
	{ "versions_begin_anew", 2035706, 0, MOVE + 1, false, false,
	  "all NICs but that of a hung manager lost their power, and it took packets of the new "
	  "numberings for doubles" },
	{ "relay_of_an_old_table", 2045929, 0, MOVE + 1, false, false,
	  "the NIC of a hung manager sent packets of a later table back by its own row, and they went round "
	  "between two relays until a cable came back, and then arrived in any order" },
	{ "relay_of_an_old_table_2", 2165448, 0, MOVE + 1, false, false,
	  "as relay_of_an_old_table, with a manager that could not be reached" },
	{ "closed_at_a_silent_node", 2063872, 0, MOVE + 1, false, false,
	  "a port of a node that did not answer was closed, which no row told the root; what came for it "
	  "was replayed by old rows, went round and arrived in any order" },
	{ "closed_at_a_silent_node_2", 2130756, 0, MOVE + 1, false, false,
	  "as closed_at_a_silent_node; a packet was dropped as a double before it had arrived" },
	{ "excluded_where_it_comes_from", 2126666, 0, MOVE + 1, false, false,
	  "a table took a node of another part just before that had told what its part excludes, so "
	  "it was not excluded for a moment" },
	{ "dead_to_a_former_root", 3000203, 0, MOVE + 1, false, false,
	  "an error of the check of deaths: a root that woke had not heard yet that a node was led by a "
	  "later one, nor that its link had come back" },
	{ "claim_of_few", 2109139, 0, MOVE + 1, false, false,
	  "a node without memory claimed, had too few promises, and asked on as if for the first time; "
	  "another, that could reach enough, waited for it for 4.5 s" },
	{ "two_ask_and_one_is_cut_off", 2115294, 0, MOVE + 1, false, false,
	  "of two nodes that asked a third tried the one that it could not reach twice, and the other had "
	  "too few meanwhile" },
	{ "late_itself", 2178199, 0, MOVE + 1, false, false,
	  "an error of the check for takeovers: a node that had hung just before waited longer for the root "
	  "that hung, as it should" },
	{ "opened_by_an_earlier_replay", 2011679, 0, MOVE + 1, false, false,
	  "a port counted as opened by the replay of a table that another one had replaced, which excludes "
	  "it; the end of its session was forgotten, and a silent neighbour's entry was not marked" },
	{ "asks_and_hangs", 770012790, 0, MOVE + 1, false, false,
	  "the node that a root handed over to hung after it had answered its first follower, which "
	  "waited for it as long as for its own turn: there was no root for more than 3 s" },
	{ "double_of_a_former_numbering", 7104176, 0, MOVE + 1, false, false,
	  "an error of the check of losses: a second copy came when its flow had been numbered anew, and its "
	  "destination cannot know that it had the first" },
	{ "parked_in_a_replay", 10003058, 0, MOVE + 1, false, false,
	  "an error of the check of order: it did not know that a NIC which replays also parks packets "
	  "that come for a port it has not opened yet, and that later ones overtake these" },
	{ "table_known_to_be_in_force", 10008539, 0, MOVE + 1, false, false,
	  "most nodes of the table in force lived, but not most of the table before it, and no claim had "
	  "enough promises" },
	{ "replay_refused_before_it_led", 10027304, 0, MOVE + 1, false, false,
	  "a root handed over as soon as it had a table, because its NIC had refused a replay that the root "
	  "before it had ordered" },
	{ "double_of_a_former_life", 10020965, 0, MOVE + 1, false, false,
	  "an error of the check of losses: a second copy came when the destination's NIC had restarted, "
	  "which counted it as lost" },
	{ "asks_until_the_other_is_tried", 10112267, 0, MOVE + 1, false, false,
	  "a node that could not reach the one that asked, until the service network was whole, asked "
	  "itself for 2 s instead, though no node followed it; the other one lacked only its promise, "
	  "and led after 3 s" },
	{ "two_roots_at_one_version", 10146950, 0, END_APART + 1, false, false,
	  "the service network was whole, but two roots led on side by side for up to 16 s; the world "
	  "took that for rest, because their tables had one version" },
	{ "asks_with_a_node_that_another_lacks", 10168522, 0, END_APART + 1, false, false,
	  "a node that asked, and that most could not reach, kept a node that another one lacked, which "
	  "asked, too; a third tried the first one twice, and nobody led for 3 s" },
	{ "shunned_when_the_network_is_whole", 10170203, 0, END_APART + 1, false, false,
	  "a node had failed to reach the one that asked just before the service network was whole, and "
	  "did not follow it for 3.5 s, nor while it asked itself" },
	{ "shunned_when_the_network_is_whole_2", 10212493, 0, END_APART + 1, false, false,
	  "as shunned_when_the_network_is_whole, in a ring, with a root that had lost its memory" },
	{ "replayed_from_a_former_life", 10194318, 0, END_APART + 1, false, false,
	  "all NICs but that of a hung manager lost their power, and the versions began anew: what "
	  "that NIC had parked was taken for packets of the new numbering" },
	{ "equals_claim_in_turn", 40003852, 0, (END_APART + 1) | AS_SEED_TELLS, false, false,
	  "three roots of one epoch met, and whenever one asked again, its nodes went to another of the same "
	  "epoch, which had to ask again, too; nobody led for 36 s, though all could be reached" },
};

static bool met_all(char *wrong, size_t room)
{
	for (unsigned int i = STEP_TABLE; i < STEPS; i++)
		for (unsigned int a = 0; a < ENDS; a++)
			for (unsigned int b = 0; b < FAULTS; b++)
				if (!met[i][a][b]) {
					snprintf(wrong, room, "no root ended (%s) in step '%s' together with '%s'",
						 fault_names[a], step_names[i], fault_names[b]);
					return false;
				}
	snprintf(wrong, room,
		 "partitions away from the root: %u; two roots when they end: %u; old roots that wake: %u",
		 met_alone, met_two_roots, met_old_root);
	return met_alone && met_two_roots && met_old_root;
}

int main(int argc, char **argv)
{
	return series_main(&(struct series) {
		.name = "random_roots",
		.count = 1500,
		.history = history,
		.met_all = met_all,
		.named = named,
		.nnamed = sizeof(named) / sizeof(named[0]),
	}, argc, argv);
}
