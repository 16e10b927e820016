// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "daemon/fabricd.h"
#include "daemon/query.h"
#include "daemon/question.h"

/* Return: true if this node has a place in the torus, which answers contain. */
static bool is_node_placed(const struct fabricd *d)
{
	return d->fm && fm_own(d->fm) != TORUS_NO_NODE;
}

static void question_free(struct question *q)
{
	free(q->row);
	free(q);
}

static int run_kind(struct nic_question *nq, struct torus_dev *dev)
{
	struct question *q = (struct question *)nq;
	int err = q->kind->run(nq, dev);

	if (err < 0 && q->kind->words)
		snprintf(q->error, sizeof(q->error), "%s", torus_error(dev));
	return err;
}

static json_t *error_json(const struct question *q)
{
	return q->error[0] ? json_pack("{s:s}", "error", q->error) : NULL;
}

static void end_question(struct nic_question *nq, int err)
{
	struct question *q = (struct question *)nq;
	json_t *data = NULL;

	if (err)
		data = error_json(q);
	else if (is_node_placed(q->d))
		data = q->kind->reply(q);
	if (q->ask)
		query_local(q->ask, data);
	else
		json_decref(data);
	question_free(q);
}

/* Asks the NIC. Return: false if the NIC is not asked, so that the caller has to answer at once. */
static bool begin_question(struct question *q, const json_t *cmd)
{
	int err;

	if (!q->d->nic || !is_node_placed(q->d) || (q->kind->begin && !q->kind->begin(q, cmd)))
		return false;
	err = nic_ask(q->d->nic, &q->nic);
	if (err == -EBUSY)
		snprintf(q->error, sizeof(q->error),
			 "the NIC is busy: too many questions wait for it, ask again later");
	return !err;
}

struct question *question_ask(struct fabricd *d, const struct question_kind *kind, json_t *cmd,
			      struct ask *ask)
{
	struct question *q = calloc(1, sizeof(*q));

	if (!q) {
		query_local(ask, NULL);
		return NULL;
	}
	q->nic.run = run_kind;
	q->nic.done = end_question;
	q->d = d;
	q->ask = ask;
	q->kind = kind;
	if (begin_question(q, cmd))
		return q;
	query_local(ask, error_json(q));
	question_free(q);
	return NULL;
}

void question_forget(struct question *q)
{
	q->ask = NULL;
	nic_drop(&q->nic);
}

int question_links(struct nic_question *nq, struct torus_dev *dev)
{
	struct question *q = (struct question *)nq;

	q->n = TORUS_MAX_PORTS;
	return torus_links_get(dev, q->link, &q->n);
}
