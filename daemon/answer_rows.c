// SPDX-License-Identifier: GPL-2.0-only
/* Answers with the routing rows of NICs. */
#include <errno.h>
#include <stdlib.h>
#include <torus/torus.h>
#include "daemon/answer.h"
#include "daemon/answer_nic.h"
#include "daemon/question.h"

#define ROWS_MAX	131072	/* most rows in a reply about several nodes; the rows of one node
				 * may be more */
/* most rows in a reply in which rows are sent as runs of equal rows */
#define RUNS_MAX	(1 << 20)
#define RUNS_BYTES_MAX	(8 << 20)	/* most bytes of runs in a reply */
#define ROWS_AT_ONCE	4096

#define ROW_DIGITS 16

/* Writes the digits of @row and a NUL. */
static void row_text(uint64_t row, char *text)
{
	for (unsigned int i = ROW_DIGITS; i-- > 0; row >>= 4)
		text[i] = "0123456789abcdef"[row & 15];
	text[ROW_DIGITS] = '\0';
}

/* Reads the shape of the NIC, which gives the number of rows. */
static int size_rows(struct question *q, struct torus_dev *dev)
{
	int err = torus_device_get(dev, &q->dev);

	if (err || !q->dev.placed)
		return err ? err : -EAGAIN;
	q->nrows = torus_nodes(&q->dev.shape);
	q->row = calloc(q->nrows ? q->nrows : 1, sizeof(*q->row));
	return q->row ? 0 : -ENOMEM;
}

/*
 * Reads some rows. If the manager has written rows since the last call, this function starts again
 * from the first row, because all rows in the reply must be of one version.
 */
static int run_rows(struct nic_question *nq, struct torus_dev *dev)
{
	struct question *q = (struct question *)nq;
	uint32_t got = ROWS_AT_ONCE;
	uint64_t version;
	int err = q->row ? 0 : size_rows(q, dev);

	if (got > q->nrows - q->rows_done)
		got = q->nrows - q->rows_done;
	if (!err)
		err = torus_rows_get(dev, q->rows_done, q->row + q->rows_done, &got, &version);
	if (err || !got)
		return err ? err : -EIO;
	if (q->rows_done && version != q->rows_version) {
		q->rows_done = 0;
		return NICQ_MORE;
	}
	q->rows_version = version;
	q->rows_done += got;
	return q->rows_done < q->nrows ? NICQ_MORE : 0;
}

static bool begin_rows(struct question *q, const json_t *cmd)
{
	q->joined = json_is_integer(json_object_get(cmd, "count"));
	q->runs = json_is_true(json_object_get(cmd, "runs"));
	return true;
}

static json_t *rows_apart(const struct question *q)
{
	json_t *list = json_array();
	char text[ROW_DIGITS + 1];

	for (uint32_t i = 0; i < q->nrows; i++) {
		row_text(q->row[i], text);
		json_array_append_new(list, json_string(text));
	}
	return list;
}

/*
 * Return: all rows in one text. A fabric of 1024 nodes has a million rows. One text for each row
 * costs over a second of processor time until fabricctl has it, one text for each node a tenth.
 */
static json_t *rows_joined(const struct question *q)
{
	char *text = malloc((size_t)q->nrows * ROW_DIGITS + 1);
	json_t *j;

	for (uint32_t i = 0; text && i < q->nrows; i++)
		row_text(q->row[i], text + (size_t)i * ROW_DIGITS);
	j = text ? json_stringn_nocheck(text, (size_t)q->nrows * ROW_DIGITS) : NULL;
	free(text);
	return j;
}

/*
 * Return: all rows in one text, as runs of equal rows. Many destinations that follow each other
 * have equal rows: a node of 16x8x8 has 1024 rows in some 260 runs, so the text has a quarter of
 * the digits of all rows. A run is never longer than its rows would be with commas between them.
 */
static json_t *rows_runs(const struct question *q)
{
	char *text = malloc((size_t)q->nrows * (ROW_DIGITS + 1) + 1), *at = text;
	json_t *j;

	for (uint32_t i = 0, end; text && i < q->nrows; i = end) {
		for (end = i + 1; end < q->nrows && q->row[end] == q->row[i]; end++)
			;
		if (i)
			*at++ = ',';
		row_text(q->row[i], at);
		at += ROW_DIGITS;
		if (end - i > 1)
			at += sprintf(at, "*%u", end - i);
	}
	j = text ? json_stringn_nocheck(text, (size_t)(at - text)) : NULL;
	free(text);
	return j;
}

static json_t *reply_rows(struct question *q)
{
	return json_pack("{s:o, s:I, s:o}", "node", node_json(q->d, fm_own(q->d->fm)),
			 "version", (json_int_t)q->rows_version, "rows",
			 q->joined && q->runs ? rows_runs(q) :
			 q->joined ? rows_joined(q) : rows_apart(q));
}

const struct question_kind question_rows_get = {
	.begin = begin_rows, .run = run_rows, .reply = reply_rows,
};

/*
 * Return: the rows of a node. If they do not fit into the reply, the reply has null for this node
 * and for all nodes after it.
 */
static json_t *runs_items(struct request *rq, uint32_t node, json_t *answer)
{
	size_t more = json_string_length(json_object_get(answer, "rows"));

	if (rq->rows_bytes && rq->rows_bytes + more > RUNS_BYTES_MAX) {
		json_object_set_new(answer, "rows", json_null());
		rq->rows_bytes = RUNS_BYTES_MAX;
	}
	rq->rows_bytes += more;
	return flat_items(rq, node, answer);
}

static const struct listing listing_runs = { .items = runs_items };

void answer_rows(struct request *rq)
{
	bool runs = json_is_true(json_object_get(rq->args, "runs"));

	if (!json_is_integer(json_object_get(rq->args, "count")))
		answer_gather_nodes(rq, true, answer_one_end);
	else if (answer_ready(rq) &&
		 answer_range(rq, (runs ? RUNS_MAX : ROWS_MAX) / torus_nodes(fm_shape(rq->d->fm))))
		answer_list(rq, runs ? &listing_runs : &listing_flat, 0);
}
