/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The scenes of fabricsim recovery: what happens to a fabric, one act after
 * another, each followed by rest. Every scene begins with a bring-up of its own.
 */
#ifndef RECOVERY_SCENE_H
#define RECOVERY_SCENE_H

#include "recovery_block.h"
#include "world.h"

/**
 * struct scene_act - the results of an act; times in virtual ns
 * @scene, @what: of which scene, and what was done
 * @began: when it was
 * @recovery: the first one that ended after it began; version 0: none
 * @counts: while it lasted
 * @rest: until the fabric had come to rest, from @began
 * @settled: it did, within the bound
 * @released: when the last hold was lifted, from @began; 0: none was
 * @cpu: processor time in ns
 * @peak: the most memory that the program has had until now, in bytes
 */
struct scene_act {
	const char *scene;
	char what[96];
	uint64_t began;
	struct fm_recovery recovery;
	struct world_counts counts;
	uint64_t rest;
	bool settled;
	uint64_t released;
	uint64_t cpu;
	uint64_t peak;
};

/**
 * struct scene_plan - parameters of a scene
 * @world: how its world is made
 * @faults: links that a burst cuts
 * @dark: the cabinet
 * @flaps: how often a flapping link goes and comes
 * @done: called after every act; not 0 ends the scene
 */
struct scene_plan {
	struct world_config world;
	uint32_t faults;
	uint32_t flaps;
	struct block dark;
	int (*done)(void *arg, const struct scene_act *act);
	void *arg;
};

/** scene_names - ended by NULL, in the order in which help lists them */
extern const char *const scene_names[];

/** scene_run() - plays scene number @scene. Return: 0, or what @done returned */
int scene_run(const struct scene_plan *p, unsigned int scene);

#endif /* RECOVERY_SCENE_H */
