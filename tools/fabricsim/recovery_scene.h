/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The scenes of fabricsim recovery: a series of events ("acts") in a fabric; after each act, the
 * fabric comes to rest. Every scene begins with a bring-up of its own.
 */
#ifndef RECOVERY_SCENE_H
#define RECOVERY_SCENE_H

#include "recovery_block.h"
#include "world.h"

/**
 * struct scene_act - the results of an act; times in virtual ns
 * @scene: name of the scene; @what: description of the act
 * @began: when the act began
 * @recovery: the first recovery that ended after the act began; version 0: there was none
 * @counts: what managers did until the fabric was at rest
 * @rest: time from @began until the fabric was at rest
 * @settled: the fabric came to rest within the time limit
 * @released: time from @began until the last hold was lifted; 0: no hold was lifted
 * @cpu: processor time in ns
 * @peak: largest memory of the program until now, in bytes
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
 * @world: parameters of the world
 * @faults: number of links that a burst cuts
 * @dark: the cabinet of scenario dark
 * @flaps: how often a flapping link goes down and up
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

/** scene_names - names of the scenes in the order of the help text, ended by NULL */
extern const char *const scene_names[];

/** scene_run() - run scene number @scene. Return: 0, or the nonzero result of @done */
int scene_run(const struct scene_plan *p, unsigned int scene);

#endif /* RECOVERY_SCENE_H */
