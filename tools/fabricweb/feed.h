/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The manager's events, read over one connection for all browsers, and sent to each as Server-Sent
 * Events.
 */
#ifndef FABRICWEB_FEED_H
#define FABRICWEB_FEED_H

struct evbuffer;
struct event_base;
struct feed;
struct feed_reader;

/**
 * feed_send - a callback that sends text to a browser
 * @arg: argument of feed_join()
 * @text: the text; the callback empties this buffer
 * The callback may call feed_leave().
 */
typedef void feed_send(void *arg, struct evbuffer *text);

/** feed_new() - Return: the events of the manager at this socket; NULL if out of memory */
struct feed *feed_new(struct event_base *base, const char *path);
void feed_free(struct feed *f);

/**
 * feed_join() - begin to send events to a browser
 * @after: name of the last event that it has, or ""
 * Return: the browser, until feed_leave(); NULL if out of memory.
 */
struct feed_reader *feed_join(struct feed *f, const char *after, feed_send *send, void *arg);
void feed_leave(struct feed_reader *r);

#endif /* FABRICWEB_FEED_H */
