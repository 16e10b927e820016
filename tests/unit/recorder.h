/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A NIC behind struct torus_hw_ops that only records its commands, and requests to it. It has 4
 * ports and is node 9 of a torus of 4 x 3.
 */
#ifndef TESTS_RECORDER_H
#define TESTS_RECORDER_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "kernel/core/plan.h"
#include "kernel/req/request.h"

#define RECORDER_ROWS	12u		/* nodes of the place that it has at first */
#define RECORDER_FROM	77		/* number of the socket that asks */

/**
 * struct recorder
 * @hw: the NIC
 * @ops: its operations, of which a test may leave out some
 * @error: what its operations return
 * @rows, @version: what it says of its rows while it has a place; row n is 1000 + n
 * @asked: what it was asked by the last request
 * @attrs, @tb: attributes of the last request
 * @req: the last request
 */
struct recorder {
	struct torus_hw hw;
	struct torus_hw_ops ops;
	int error;
	u32 rows;
	u64 version;
	char asked[512];
	union {
		u32 aligned;
		u8 bytes[1024];
	} attrs;
	const struct nlattr *tb[TORUS_A_MAX + 1];
	struct torus_req req;
};

/** struct value - an attribute; @data: of @len bytes, NULL: the number @v */
struct value {
	unsigned int type;
	size_t len;
	u64 v;
	const void *data;
};

#define U8(t, x)	{ TORUS_A_##t, 1, x, NULL }
#define U16(t, x)	{ TORUS_A_##t, 2, x, NULL }
#define U32(t, x)	{ TORUS_A_##t, 4, x, NULL }
#define U64(t, x)	{ TORUS_A_##t, 8, x, NULL }
#define FLAG(t)		{ TORUS_A_##t, 0, 0, NULL }
#define TEXT(t, x)	{ TORUS_A_##t, sizeof(x), 0, x }
#define LETTERS(t, x)	{ TORUS_A_##t, sizeof(x) - 1, 0, x }
#define U16S(t, ...)	{ TORUS_A_##t, sizeof((u16[]) { __VA_ARGS__ }), 0, (u16[]) { __VA_ARGS__ } }
#define U32S(t, ...)	{ TORUS_A_##t, sizeof((u32[]) { __VA_ARGS__ }), 0, (u32[]) { __VA_ARGS__ } }
/* For nests, whose attributes are written as words of 4 bytes. */
#define HEAD(t, len)	((len) + 4) | (t) << 16
#define ROW(first, ...)	\
	U32S(ROWS, HEAD(TORUS_ROWS_FIRST, 4), first, \
	     HEAD(TORUS_ROWS_DATA, sizeof((u32[]) { __VA_ARGS__ })), __VA_ARGS__)

/* Makes @r anew. */
void recorder_start(struct recorder *r);
/* Makes r->req; the test fails if @with, which ends with type 0, is not good by its rules. */
void recorder_request(struct recorder *r, unsigned int cmd, bool dump, const struct value *with);
/* Makes a request and runs it. Return: that of torus_req_run(). */
int recorder_run(struct recorder *r, unsigned int cmd, const struct value *with);
/* The request was refused, for @text and of attribute @attr, and the NIC is as it was @before. */
void recorder_refused(const struct recorder *r, const struct torus_hw *before, const char *text,
		      unsigned int attr);

#endif /* TESTS_RECORDER_H */
