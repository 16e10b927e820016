// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each change among the nodes delays the first table (settle.c), but not without limit. A node that
 * restarts again and again is not a new one: it counts like a changed port row, and changed rows
 * delay the table only until ROWS_MAX * member_max after the last new node. NICs that come with
 * another GUID each time are new nodes: they delay it only until NODES_MAX * member_max after the
 * first new node since the root began to lead, and so does every other reason to wait. While the
 * root only asks, these limits do not hold: it may ask for long, and still wait for the kept table
 * of a node, which comes last.
 */
#include <stdlib.h>

#include "daemon/fm/root/news.h"
#include "daemon/fm/root/facts.h"

#define ROWS_MAX 3	/* in units of fm_config.member_max: longest delay by changed port rows
			 * after the last new node */
#define NODES_MAX 20	/* in units of fm_config.member_max: longest delay by new nodes
			 * altogether */

/**
 * struct fm_news - times of changes among the nodes
 * @last: time of the last change that may delay the table
 * @newest: when the last new node came; @since: when the first one came; 0: none has come
 */
struct fm_news {
	uint64_t last, newest, since;
};

bool fm_news_new(struct fm_root *r)
{
	r->news = calloc(1, sizeof(*r->news));
	return r->news;
}

void fm_news_free(struct fm_root *r)
{
	free(r->news);
}

uint64_t fm_news_last(const struct fm_root *r)
{
	return r->news->last;
}

uint64_t fm_news_newest(const struct fm_root *r)
{
	return r->news->newest;
}

void fm_news_begin(struct fm *fm)
{
	struct fm_news *n = fm->root->news;

	n->newest = fm->now;
	n->last = later(n->last, fm->now);	/* fm_news_wait() may have set a later time
						 * already */
	n->since = 0;
}

void fm_news_wait(struct fm *fm, uint64_t at)
{
	struct fm_news *n = fm->root->news;

	if (fm->root->stage == FM_STAGE_LEADS)
		at = earlier(at,
			     (n->since ? n->since : n->newest) + NODES_MAX * fm->cfg.member_max);
	n->last = later(n->last, at);
}

void fm_news_node(struct fm *fm)
{
	struct fm_news *n = fm->root->news;

	n->newest = fm->now;
	if (!n->since)
		n->since = fm->now;
	fm_news_wait(fm, fm->now);
}

void fm_news_row(struct fm *fm)
{
	const struct fm_news *n = fm->root->news;

	fm_news_wait(fm, earlier(fm->now, n->newest + ROWS_MAX * fm->cfg.member_max));
}

void fm_news_again(struct fm *fm)
{
	fm->root->news->last = fm->now;
}
