/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A compact list of texts, each coded by its difference from the one before:
 *
 *	HEAD TAIL N BYTES...	the first HEAD and the last TAIL of its characters are the same, N
 *				others come between
 *	255 N			N texts, each of which counts up by one the number that
 *				ends before the last TAIL characters
 *
 * The text before the first one is empty. Numbered names and addresses of nodes take few bytes.
 */
#ifndef TEXTS_H
#define TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEXTS_MAX 64	/* bytes of a text, with NUL */

/**
 * struct texts_out - a list that is being written; all zero at the beginning
 * @data: the bytes written so far, @n of them; the caller frees it
 * @run: position in @data of the byte N of "255 N"; 0: the last text is not coded in this way
 * @failed: out of memory
 */
struct texts_out {
	uint8_t *data;
	size_t n, room;
	size_t run;
	size_t tail;
	char last[TEXTS_MAX];
	bool failed;
};

void texts_put(struct texts_out *t, const char *text);

/**
 * struct texts_in - a list that is being read; the caller sets @at and @end, and all other members
 * to zero
 * @left: how many of the next texts count up
 */
struct texts_in {
	const uint8_t *at, *end;
	unsigned int left;
	size_t tail;
	char last[TEXTS_MAX];
};

/**
 * texts_get() - read the next text
 * @room: bytes of @text, at most TEXTS_MAX
 * Return: false if there are no more texts, or if the text is malformed, too long, or not printable
 * ASCII.
 */
bool texts_get(struct texts_in *t, char *text, size_t room);

/** texts_end() - Return: true if all texts were read */
bool texts_end(const struct texts_in *t);

#endif /* TEXTS_H */
