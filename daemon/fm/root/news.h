/* SPDX-License-Identifier: GPL-2.0-only */
/* News that delay the first table. */
#ifndef FM_NEWS_H
#define FM_NEWS_H

#include <stdint.h>

struct fm;

/**
 * struct fm_news - changes among the nodes
 * @last: when something changed last, as far as that counts
 * @newest: when a new node came last; @since: when the first one did, 0: none
 */
struct fm_news {
	uint64_t last, newest, since;
};

/* Nothing that was news before counts. */
void fm_news_begin(struct fm *fm);
/* A node has come that was not known; something else about the nodes has changed. */
void fm_news_node(struct fm *fm);
void fm_news_row(struct fm *fm);
/* Something is expected until @at. */
void fm_news_wait(struct fm *fm, uint64_t at);

#endif /* FM_NEWS_H */
