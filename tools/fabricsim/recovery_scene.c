// SPDX-License-Identifier: GPL-2.0-only
/*
 * An act is done at one instant of virtual time; then the world runs until the root's table is in
 * force at every manager and each link is up exactly if its cable works. The cable or node is drawn
 * from the seed. A scene only pulls cables and switches power, as a person would; managers, NICs
 * and routing code do the rest. This measures the cost of a dead node, for which the Angara paper
 * gives no value, because it does not bypass dead nodes.
 */
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>

#include <torus/topology.h>
#include "jobs.h"
#include "lib/util/clock.h"
#include "recovery_scene.h"
#include "tools/fabricctl/output.h"

#define REST_MAX (120 * SEC)	/* virtual time after which a scene is given up */
#define AFTERMATH (1 * SEC)	/* time between two acts, in which all nodes report */
#define SLICE (2 * MS)	/* time between two lines of progress */

/** struct scene - a scene that is being played */
struct scene {
	const struct scene_plan *plan;
	const char *name;
	struct world *w;
	struct scene_act act;
	uint64_t cpu;
	uint64_t random, drawn;
	int stop;
};

const char *const scene_names[] = {
	"bring-up", "cut", "fault", "burst", "during", "dark", "flap", "root", NULL
};

static uint64_t peak_memory(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (uint64_t)u.ru_maxrss * 1024;
}

/* --- acts ------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3)))
static void begin_scene(struct scene *s, const char *fmt, ...)
{
	va_list ap;

	world_counts(s->w);
	s->act = (struct scene_act) { .scene = s->name, .began = world_now(s->w) };
	va_start(ap, fmt);
	vsnprintf(s->act.what, sizeof(s->act.what), fmt, ap);
	va_end(ap);
	s->cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* Notes the first recovery that ends after the act began. */
static void note_recovery(struct scene *s)
{
	const struct fm *root = world_fm(s->w, world_root(s->w));
	const struct fm_recovery *last = root ? fm_last(root) : NULL;

	if (last && !s->act.recovery.version && last->at[FM_AT_RESUMED] > s->act.began)
		s->act.recovery = *last;
}

static void pass_time(struct scene *s, uint64_t ns)
{
	world_run(s->w, ns);
	note_recovery(s);
}

static void to_rest(struct scene *s, uint64_t least)
{
	struct scene_act *a = &s->act;
	uint64_t end = a->began + REST_MAX;

	pass_time(s, least);
	while (!a->settled && world_now(s->w) < end) {
		a->settled = world_until(s->w, world_settled, SLICE);
		note_recovery(s);
		progress("%s: %s: %.1f ms", s->name, a->what,
			 (double)(world_now(s->w) - a->began) / MS);
	}
	progress("%s", "");
	a->rest = world_now(s->w) - a->began;
	a->counts = world_counts(s->w);
}

/* Ends an act, and reports its results. */
static void end_act(struct scene *s)
{
	struct scene_act *a = &s->act;

	a->released = a->counts.released > a->began ? a->counts.released - a->began : 0;
	a->cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - s->cpu;
	a->peak = peak_memory();
	if (!s->stop)
		s->stop = s->plan->done(s->plan->arg, a);
	world_run(s->w, AFTERMATH);
}

static void finish_act(struct scene *s, uint64_t least)
{
	to_rest(s, least);
	end_act(s);
}

/* --- random cables and nodes ----------------------------------------------------- */

/*
 * Draws a number from the scene's own random sequence, so that runs with both kinds of NICs have
 * the same failures.
 */
static uint64_t draw_chance(struct scene *s)
{
	return jobs_seed(s->random, (size_t)s->drawn++);
}

static uint32_t any_cable(struct scene *s)
{
	uint32_t c;

	do {
		c = (uint32_t)(draw_chance(s) % world_cables(s->w));
	} while (!world_cable_whole(s->w, c));
	return c;
}

/* Draws a node other than the root. */
static uint32_t any_node(struct scene *s)
{
	return 1 + (uint32_t)(draw_chance(s) % (world_nodes(s->w) - 1));
}

static const char *cable_text(struct scene *s, uint32_t c, char buf[2 * TORUS_TEXT_MAX])
{
	const struct torus_shape *shape = &s->plan->world.shape;
	char node[TORUS_TEXT_MAX], port[TORUS_TEXT_MAX];

	snprintf(buf, 2 * TORUS_TEXT_MAX, "%s:%s",
		 torus_node_text(shape, c / shape->ndims, node),
		 torus_port_text(shape->ndims, c % shape->ndims, port));
	return buf;
}

/* --- scenes ------------------------------------------------------------------- */

static void bring_up_world(struct scene *s)
{
	begin_scene(s, "power on %u nodes", world_nodes(s->w));
	for (uint32_t i = 0; i < world_nodes(s->w); i++)
		world_power(s->w, i, true);
	finish_act(s, 10 * MS);
}

/* Cuts one random cable. Return: its number. */
static uint32_t cut_one(struct scene *s, char text[2 * TORUS_TEXT_MAX])
{
	uint32_t c = any_cable(s);

	begin_scene(s, "cut %s", cable_text(s, c, text));
	world_cut(s->w, c, true);
	finish_act(s, 2 * MS);
	return c;
}

static void act_cut(struct scene *s)
{
	char text[2 * TORUS_TEXT_MAX];

	cut_one(s, text);
}

static void act_fault(struct scene *s)
{
	char text[2 * TORUS_TEXT_MAX];
	uint32_t c = cut_one(s, text), n = any_node(s);

	begin_scene(s, "mend %s", text);
	world_cut(s->w, c, false);
	finish_act(s, 2 * MS);
	torus_node_text(&s->plan->world.shape, n, text);
	begin_scene(s, "kill %s", text);
	world_power(s->w, n, false);
	finish_act(s, 2 * MS);
	begin_scene(s, "revive %s", text);
	world_power(s->w, n, true);
	finish_act(s, 10 * MS);
}

/*
 * Return: how many cables a burst cuts: at most half of all, so that drawing different cables ends
 * soon.
 */
static uint32_t burst_size(const struct scene *s)
{
	uint32_t there = 0;

	for (uint32_t c = 0; c < world_cables(s->w); c++)
		there += world_cable_whole(s->w, c);
	return s->plan->faults < there / 2 ? s->plan->faults : there / 2;
}

static void act_burst(struct scene *s)
{
	uint32_t n = burst_size(s);

	begin_scene(s, "cut %u links at once", n);
	for (uint32_t i = 0; i < n; i++)
		world_cut(s->w, any_cable(s), true);
	finish_act(s, 2 * MS);
	begin_scene(s, "mend all");
	for (uint32_t c = 0; c < world_cables(s->w); c++)
		if (!world_cable_whole(s->w, c) && world_cable_there(s->w, c))
			world_cut(s->w, c, false);
	finish_act(s, 2 * MS);
}

/*
 * Cuts another cable each millisecond, so that each fault happens during the recovery of another
 * fault.
 */
static void act_during(struct scene *s)
{
	uint32_t n = burst_size(s);

	begin_scene(s, "cut %u links, 1 ms apart", n);
	for (uint32_t i = 0; i < n; i++) {
		world_cut(s->w, any_cable(s), true);
		pass_time(s, MS);
	}
	finish_act(s, 2 * MS);
}

static uint64_t chance_of(void *scene)
{
	return draw_chance(scene);
}

static void power_cabinet(struct scene *s, const struct block *b, bool on)
{
	for (uint32_t i = 0; i < world_nodes(s->w); i++)
		if (block_has(&s->plan->world.shape, b, i))
			world_power(s->w, i, on);
}

static void act_dark(struct scene *s)
{
	const struct torus_shape *shape = &s->plan->world.shape;
	char text[2 * TORUS_TEXT_MAX];
	struct block b = s->plan->dark;

	block_place(shape, &b, chance_of, s);
	begin_scene(s, "cabinet %s goes dark", block_text(shape, &b, text));
	power_cabinet(s, &b, false);
	finish_act(s, 2 * MS);
	begin_scene(s, "cabinet %s returns", text);
	power_cabinet(s, &b, true);
	finish_act(s, 10 * MS);
}

#define FLAP_TIME (50 * MS)

static void act_flap(struct scene *s)
{
	char text[2 * TORUS_TEXT_MAX];
	uint32_t c = any_cable(s);

	begin_scene(s, "%s flaps %u times", cable_text(s, c, text), s->plan->flaps);
	for (uint32_t i = 0; i < s->plan->flaps; i++) {
		world_cut(s->w, c, true);
		pass_time(s, FLAP_TIME);
		world_cut(s->w, c, false);
		pass_time(s, FLAP_TIME);
	}
	finish_act(s, 2 * MS);
}

static void act_root(struct scene *s)
{
	char text[2 * TORUS_TEXT_MAX];
	uint32_t c = any_cable(s);

	begin_scene(s, "root's manager gone, %s cut", cable_text(s, c, text));
	world_manager(s->w, 0, false);
	pass_time(s, 100 * MS);
	world_cut(s->w, c, true);
	pass_time(s, 100 * MS);
	world_manager(s->w, 0, true);
	finish_act(s, 2 * MS);
}

static void (*const scenes[])(struct scene *s) = {
	NULL, act_cut, act_fault, act_burst, act_during, act_dark, act_flap, act_root
};

int scene_run(const struct scene_plan *p, unsigned int scene)
{
	struct scene s = { .plan = p, .name = scene_names[scene],
			   .random = p->world.seed };

	s.w = world_new(&p->world);
	bring_up_world(&s);
	if (scenes[scene] && !s.stop && s.act.settled)
		scenes[scene](&s);
	world_free(s.w);
	return s.stop;
}
