/* SPDX-License-Identifier: GPL-2.0-only */
/* News that delay the first table. */
#ifndef FM_NEWS_H
#define FM_NEWS_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_root;

/* A root begins. Return: false: no memory. */
bool fm_news_new(struct fm_root *r);
void fm_news_free(struct fm_root *r);
/* When something changed last, as far as that counts; when a new node came last. */
uint64_t fm_news_last(const struct fm_root *r);
uint64_t fm_news_newest(const struct fm_root *r);

/* Nothing that was news before counts. */
void fm_news_begin(struct fm *fm);
/* A node has come that was not known; something else about the nodes has changed. */
void fm_news_node(struct fm *fm);
void fm_news_row(struct fm *fm);
/* The first table could not be made: it is waited for as if something had changed now. */
void fm_news_again(struct fm *fm);
/* Something is expected until @at. */
void fm_news_wait(struct fm *fm, uint64_t at);

#endif /* FM_NEWS_H */
