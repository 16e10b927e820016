/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Questions of users that this node's NIC has to answer. The thread of the NIC's queue asks the NIC
 * while the loop continues (nic.h), and query.h sends the answers back. A question that is
 * forgotten before it has begun is not asked; after it has begun, it runs to its end.
 */
#ifndef QUESTION_H
#define QUESTION_H

#include <jansson.h>
#include <torus/torus.h>
#include "daemon/linktest.h"
#include "daemon/nic.h"

struct ask;
struct fabricd;
struct question;

/**
 * struct question_kind - a command that needs the NIC
 * @begin: reads the arguments of @cmd; may set question.error, which is then the answer. NULL:
 *	there are no arguments. Return: true if the NIC has to be asked
 * @run: as in struct nic_question
 * @reply: called in the loop when @run has ended. Return: the answer, a new reference, or NULL
 * @words: true: if the NIC fails, the answer is its error text; false: then there is no answer
 */
struct question_kind {
	bool (*begin)(struct question *q, const json_t *cmd);
	int (*run)(struct nic_question *q, struct torus_dev *dev);
	json_t *(*reply)(struct question *q);
	bool words;
};

/**
 * struct links_want - which links an answer contains, and which members of them
 * @lanes: each lane of a link
 * @margins: only the state and the margin of each lane
 * @degraded: only links that are up and degraded (line.h)
 * @brief: only the counters that a table of links shows
 * @bad: all links except those that are up, not excluded and not degraded
 * @errors: only the counters of a table of errors
 */
struct links_want {
	bool lanes, margins, degraded, brief, bad, errors;
};

/**
 * struct question - a question under way
 * @ask: the question to which the answer belongs; NULL: question_forget() was called
 * @port, @lane, @protocol, @up, @want, @ns, @version, @joined, @runs,
 *	@flows, @plan, @step, @seconds: arguments
 * @by: the user who asked, for an event
 * @error: if not "", the answer is a failure with this text
 * @link, @n, @eye, @dev, @flow, @park, @parked: answers of the NIC
 * @row, @nrows, @rows_done, @rows_version: the rows that were read so far
 */
struct question {
	struct nic_question nic;	/* must be the first member */
	struct fabricd *d;
	struct ask *ask;
	const struct question_kind *kind;
	unsigned int port, lane;
	enum torus_retry protocol;
	bool up, joined, runs, flows;
	struct links_want want;
	uint64_t ns, version;
	char error[256], by[96];
	struct torus_link link[TORUS_MAX_PORTS];
	unsigned int n;
	struct torus_eye eye;
	struct linktest_plan plan;
	unsigned int step;
	int seconds;
	struct torus_device dev;
	struct torus_flow flow;
	struct torus_park park;
	struct torus_park_flows parked;
	uint64_t *row, rows_version;
	uint32_t nrows, rows_done;
};

/**
 * question_ask() - ask the NIC, and call query_local() for @ask, now or later
 * Return: a handle for question_forget(); NULL if query_local() was called already.
 */
struct question *question_ask(struct fabricd *d, const struct question_kind *kind, json_t *cmd,
			      struct ask *ask);
/** question_forget() - do not call query_local() any more */
void question_forget(struct question *q);
/** question_links() - read all links; a function for the member @run of struct question_kind */
int question_links(struct nic_question *nq, struct torus_dev *dev);

#endif /* QUESTION_H */
