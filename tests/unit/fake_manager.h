/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fabric manager for tests of its clients: answers the control protocol for a
 * fabric that is a table in memory, with right rows unless a test spoils them.
 */
#ifndef TESTS_FAKE_MANAGER_H
#define TESTS_FAKE_MANAGER_H

#include <jansson.h>
#include <stdbool.h>
#include <torus/topology.h>

#define FAKE_NODES_MAX 64

/**
 * struct fake - the fabric
 * @excluded: ports, as the table has them
 * @admin: of these ports, those that an admin took out
 * @held: of these ports, those held down for 12.5 s more because they flap
 * @dead: nodes
 * @narrow: ports whose receivers use 10 of their 12 lanes
 * @row: of each NIC; computed by fake_rows(), then to be spoilt
 * @version: of each NIC's rows
 * @silent: nodes that do not answer
 * @raw: sent in place of any answer, if not NULL
 * @request: the last one
 * @path: of the control socket
 */
struct fake {
	struct torus_shape shape;
	uint32_t nodes;
	const char *state;
	uint64_t table_version;
	uint16_t excluded[FAKE_NODES_MAX];
	uint16_t admin[FAKE_NODES_MAX];
	uint16_t held[FAKE_NODES_MAX];
	bool dead[FAKE_NODES_MAX];
	uint16_t narrow[FAKE_NODES_MAX];
	bool silent[FAKE_NODES_MAX];
	uint64_t row[FAKE_NODES_MAX][FAKE_NODES_MAX];
	uint64_t version[FAKE_NODES_MAX];
	const char *raw;
	json_t *request;
	char path[64];
};

/** fake_start() - serves until fake_stop(); one fake at a time */
void fake_start(struct fake *f, const char *shape);
void fake_stop(struct fake *f);
/** fake_rows() - right rows for shape and exclusions */
void fake_rows(struct fake *f);
/** fake_answer() - data of an answer, as it would be sent */
json_t *fake_answer(struct fake *f, const json_t *request);

#endif /* TESTS_FAKE_MANAGER_H */
