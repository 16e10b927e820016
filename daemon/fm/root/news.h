/* SPDX-License-Identifier: GPL-2.0-only */
/* Changes among the nodes that delay the first table. */
#ifndef FM_NEWS_H
#define FM_NEWS_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_root;

/* Allocates the state of news.c for a new root. Return: false if there is no memory. */
bool fm_news_new(struct fm_root *r);
void fm_news_free(struct fm_root *r);
/** fm_news_last() - Return: time of the last change that delays the table */
uint64_t fm_news_last(const struct fm_root *r);
/** fm_news_newest() - Return: when the last new node came */
uint64_t fm_news_newest(const struct fm_root *r);

/**
 * fm_news_begin() - forget all former changes
 * Called when the root begins to ask or to lead.
 */
void fm_news_begin(struct fm *fm);
/** fm_news_node() - note that a node has come that was not known */
void fm_news_node(struct fm *fm);
/** fm_news_row() - note that something else about the nodes has changed */
void fm_news_row(struct fm *fm);
/**
 * fm_news_again() - delay the first table, which could not be made, as if something had changed now
 */
void fm_news_again(struct fm *fm);
/**
 * fm_news_wait() - note that a change is expected until @at: it delays the table like a change at
 * @at
 */
void fm_news_wait(struct fm *fm, uint64_t at);

#endif /* FM_NEWS_H */
