/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Questions of users that the NIC of this node answers: asked in the thread of its queue, while the
 * loop goes on (nic.h), and answered on their way back (query.h). One for whose answer nobody waits
 * any more is not asked if it has not begun; if it has, it ends as if somebody did.
 */
#ifndef QUESTION_H
#define QUESTION_H

#include <jansson.h>
#include <torus/torus.h>
#include "daemon/nic.h"

struct ask;
struct fabricd;
struct question;

/**
 * struct question_kind - a command that is asked of the NIC
 * @begin: takes arguments of @cmd; may set @error, which is then the answer. NULL: there are none.
 *	Return: false: the NIC is not asked
 * @run: as in struct nic_question
 * @tell: called in the loop when the NIC has done it. Return: the answer, a new reference, or NULL
 * @words: if the NIC fails, what it says is the answer; else there is none
 */
struct question_kind {
	bool (*begin)(struct question *q, const json_t *cmd);
	int (*run)(struct nic_question *q, struct torus_dev *dev);
	json_t *(*tell)(struct question *q);
	bool words;
};

/**
 * struct question - one under way
 * @ask: NULL: nobody waits for the answer
 * @port, @lane, @up, @ns, @version, @lanes, @degraded: arguments
 * @error: the answer is that it failed, in these words; "": it did not, or there is no answer
 * @link, @n, @eye, @dev, @flow, @park: what the NIC says
 * @row, @nrows, @rows_done, @rows_version: its rows, so far
 */
struct question {
	struct nic_question nic;	/* first */
	struct fabricd *d;
	struct ask *ask;
	const struct question_kind *kind;
	unsigned int port, lane;
	bool up, lanes, degraded;
	uint64_t ns, version;
	char error[256];
	struct torus_link link[TORUS_MAX_PORTS];
	unsigned int n;
	struct torus_eye eye;
	struct torus_device dev;
	struct torus_flow flow;
	struct torus_park park;
	uint64_t *row, rows_version;
	uint32_t nrows, rows_done;
};

/**
 * question_ask() - query_local() for @ask follows, now or later
 * Return: for question_forget(); NULL: it was called.
 */
struct question *question_ask(struct fabricd *d, const struct question_kind *kind, json_t *cmd,
			      struct ask *ask);
/** question_forget() - nobody waits for the answer any more */
void question_forget(struct question *q);
/** question_links() - a @run that reads all links */
int question_links(struct nic_question *nq, struct torus_dev *dev);

#endif /* QUESTION_H */
