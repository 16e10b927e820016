/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts that are sent to many clients without being copied for each. */
#ifndef FABRICWEB_BODY_H
#define FABRICWEB_BODY_H

#include <stddef.h>

struct evbuffer;

/**
 * struct body - a text, which lives until its last holder drops it
 * @at: the text, followed by a NUL byte
 */
struct body {
	char *at;
	size_t len;
	/* private: */
	unsigned int holders;
};

/**
 * body_new() - make a text with one holder
 * @at: bytes allocated by malloc(); they are freed with the text, or at once if this call fails
 * Return: the text; NULL if out of memory, or if @at is NULL.
 */
struct body *body_new(char *at, size_t len);
/** body_hold() - add a holder. Return: @b */
struct body *body_hold(struct body *b);
void body_drop(struct body *b);

/**
 * body_add() - append a part of a text to a buffer, which holds the text until that part is sent
 * Return: -1 if there is no memory.
 */
int body_add(struct evbuffer *buf, struct body *b, const char *part, size_t len);

/** body_total() - Return: the total length of all texts that have a holder, in bytes */
size_t body_total(void);

#endif /* FABRICWEB_BODY_H */
