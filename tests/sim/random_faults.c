// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random histories. A seed determines a shape, the quality of the service network, the traffic,
 * and faults and repairs at random times. At the end everything is mended. Then the fabric must
 * come to rest, with no packet lost (except in NICs that died, see check_fate.c), duplicated or out
 * of order.
 *
 *	test_random_faults [FIRST [COUNT] | NAME]	see series.h; VERBOSE=1..4 prints the managers' log
 */
#include <stdio.h>

#include "series.h"
#include "trial.h"
#include "tests/unit/random.h"

/* Add new acts at the end and set origin.acts of the named histories: they stay as they were. */
enum act {
	CUT,
	MEND,
	SILENCE,
	SPEAK,
	KILL,
	REVIVE,
	MANAGER_OFF,
	MANAGER_ON,
	ROOT_RESTART,
	CUT_AND_RESTART,	/* a cable is cut while a manager restarts */
	HANG,
	WAKE,
	ACTS,
};

static void cut_and_restart(struct trial *s, uint32_t cable, uint32_t node, uint64_t *random)
{
	bool cut_first = random_below(random, 2);

	if (cut_first)
		world_cut(s->w, cable, true);
	world_manager(s->w, node, false);
	if (!cut_first)
		world_cut(s->w, cable, true);
	trial_run(s, trial_some_time(random, US, 10));
	world_manager(s->w, node, true);
}

/*
 * Does one random act. @any: it may also hit the node that was root first, and the root may hand
 * over.
 */
static void act(struct trial *s, unsigned int acts, bool any, uint64_t *random)
{
	uint32_t cable = random_below(random, world_cables(s->w));
	uint32_t node = random_below(random, world_nodes(s->w));

	switch (random_below(random, acts)) {
	case CUT:
		world_cut(s->w, cable, true);
		break;
	case MEND:
		for (uint32_t i = 0; i < world_cables(s->w); i++)
			if (random_below(random, 2))
				world_cut(s->w, i, false);
		break;
	case SILENCE:
		world_silence(s->w, cable, true);
		break;
	case SPEAK:
		for (uint32_t i = 0; i < world_cables(s->w); i++)
			world_silence(s->w, i, false);
		break;
	case KILL:
		if ((node || any) && !random_below(random, 2))
			world_power(s->w, node, false);
		break;
	case REVIVE:
		for (uint32_t i = 0; i < world_nodes(s->w); i++)
			world_power(s->w, i, true);
		break;
	case MANAGER_OFF:
		if (node || any)
			world_manager(s->w, node, false);
		break;
	case MANAGER_ON:
		for (uint32_t i = 0; i < world_nodes(s->w); i++)
			world_manager(s->w, i, true);
		break;
	case ROOT_RESTART:
		if (any && world_managed(s->w, world_root(s->w)) && random_below(random, 2)) {
			world_move(s->w, world_root(s->w), node);
			break;
		}
		world_manager(s->w, 0, false);
		trial_run(s, trial_some_time(random, US, 10));
		world_manager(s->w, 0, true);
		break;
	case CUT_AND_RESTART:
		cut_and_restart(s, cable, node, random);
		break;
	case HANG:
		if (node || any)
			world_hang(s->w, node, true);
		break;
	case WAKE:
		for (uint32_t i = 0; i < world_nodes(s->w); i++)
			world_hang(s->w, i, false);
		break;
	}
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
	c.adaptive = !o->in_order;
	do {
		trial_shape(&random, 18, &c.shape);
	} while (torus_nodes(&c.shape) < 3);
	c.discover = random_below(&random, 2);
	c.fanout = 1 + random_below(&random, 8);
	c.member_max = 300 * MS;
	c.vanish = o->seed % 2;
	if (o->seed % 5 == 0) {		/* links are held down after each loss */
		c.flap_limit = 1;
		c.flap_half_life = 100 * MS;
	}
	if (!o->name && o->seed % 4 == 3) {	/* CBS or MBS, with few packet buffers */
		c.bubble = (uint8_t)(TORUS_BUBBLE_CBS + o->seed / 4 % 2);
		c.slots = (uint16_t)(c.bubble == TORUS_BUBBLE_CBS ? 2 + o->seed / 8 % 3 :
				     1 + o->seed / 8 % 4);
	}
	c.link_latency = (2 * US) << random_below(&random, 10);
	c.frame_loss = random_below(&random, 3) ? 0 : 1000;
	trial_begin(&s, &c);
	trial_power_all(&s);
	trial_rest(&s, 10 * SEC);
	s.sparing = !o->crowded;
	trial_traffic(&s, c.frame_loss ? 2 * MS : 300 * US);
	world_run(s.w, 5 * MS);
	if (random_below(&random, 2))
		trial_disturb(s.w, &random, 200, 1000, 10);
	for (unsigned int i = 3 + random_below(&random, 8); i; i--) {
		act(&s, o->acts ? o->acts : ACTS, o->seed % 3 == 2, &random);
		trial_run(&s, trial_some_time(&random, US, 10));
	}
	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		world_hang(s.w, i, false);
	world_disturb(s.w, 0, 0, 50 * US);
	good = trial_end(&s);
	snprintf(wrong, room, "%s: %s", torus_shape_text(&c.shape, text), s.wrong);
	return good;
}

/* The seed and the stream as it was derived when these histories were found */
#define OLD(seed) (seed), (seed) * 0x9e3779b97f4a7c15ULL

static const struct origin named[] = {
	{ "late_numbering", OLD(12446), CUT_AND_RESTART, true, true,
	  "a restarted destination took a flow's late packets of an old numbering for new ones" },
	{ "late_numbering_2", OLD(12452), CUT_AND_RESTART, true, true,
	  "late packets of an old numbering were taken for new ones, after other events" },
	{ "late_row", OLD(2184), WAKE + 1, true, true,
	  "the root kept a late row that a manager had sent before its restart" },
	{ "back_while_draining", 1795224230000012834, 0, 0, false, true,
	  "a node that was judged dead returned and stamped an old colour: the drain did not end" },
	{ "no_colour_free", 620, 0, 0, true, false,
	  "a root that restarted during two overlapping recoveries reused a colour, and holds were "
	  "lifted while old packets of that colour were in the network" },
	{ "parked_apart", 1493, 0, 0, false, false,
	  "the checker waited for packets parked in a living node that was cut off and judged dead" },
	{ "superseded_replay", 80, 0, 0, false, false,
	  "a NIC went on with the replay of a version after the next one was in force, with the "
	  "new colour, for which no drain waits: holds were lifted before it had arrived" },
	{ "parts_that_meet", 10636, 0, 0, false, false,
	  "two parts with a root each were joined again: managers without a table stayed with the "
	  "root of the earlier epoch, and both led for good" },
	{ "mended_after_the_drain", 7200351, 0, WAKE + 1, false, false,
	  "an error of check_drain: a link that lost all while the drain waited for its packets in "
	  "vain was whole again before the replay ended" },
	{ "mended_in_the_drain", 7084, 0, WAKE + 1, true, false,
	  "an error of check_drain: a link that lost all was whole again just before the root gave up "
	  "waiting for its packets, which moved again" },
	{ "silent_in_the_drain", 4241, 0, WAKE + 1, false, false,
	  "an error of check_drain: a node became silent during the drain, so the table did not say so" },
	{ "colour_of_a_node_that_is_back", 8266, 0, WAKE + 1, false, false,
	  "a node that was judged dead returned with packets of the next version's colour, and the root "
	  "took that colour, for which the drain did not wait" },
	{ "dead_together", 1325, 0, WAKE + 1, false, false,
	  "an error of check_flow: of two nodes that were cut off and judged dead together, one was back, "
	  "and the check took it for one that takes part" },
	{ "opened_too_early", 164, 0, WAKE + 1, true, false,
	  "a port that a replay was to open opened after a later version had ended the replay: packets "
	  "overtook those that were still parked" },
	{ "all_links_held_down", 7201275, 0, WAKE + 1, false, false,
	  "an error of the history: all links of a small fabric were held down for flapping when it "
	  "looked whether packets arrive" },
	{ "dead_before_the_table", 1704, 0, WAKE + 1, true, false,
	  "an error of check_flow: a step of a recovery told a node that its neighbour was judged dead, "
	  "while the table did not say so yet" },
};

int main(int argc, char **argv)
{
	return series_main(&(struct series) {
		.name = "random_faults",
		.count = 200,
		.history = history,
		.named = named,
		.nnamed = sizeof(named) / sizeof(named[0]),
	}, argc, argv);
}
