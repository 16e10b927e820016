/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The paper about bridges: A. Sukhikh, Reducing the latency of traffic in the non-transparent
 * bridges of a PCI Express switch. This file has the numbers of operations ("labour") and the times
 * that the paper gives, its two tables, and its two algorithms, which search their tables from the
 * first row to the last. Numbers of steps are those of the paper's figures 4 and 5.
 *
 * The basic algorithm compares the index of each row with one taken from the address (steps 6 and
 * 7), the modified one compares the high bits of the address (7). The paper gives the source of the
 * index, but not how often it is read from there. So step 6 can be read in two ways: the index is
 * read within the search, for each row; or once before the search. Each load, store, comparison,
 * branch and arithmetic instruction counts as one operation.
 */
#ifndef TRANSLATE_PAPER_H
#define TRANSLATE_PAPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRANSLATE_ROWS_PAPER	12	/* the largest table of the paper */
#define TRANSLATE_OPS_NS	4.0	/* operations a nanosecond, "4 GFLOPS" */
#define TRANSLATE_SHIFT		16	/* position of the high bits or the index in an address */

/** struct translate_labour - operations or nanoseconds of a translation: mean, least and most */
struct translate_labour {
	double avg, min, max;
};

/* Section "Conclusions": operations of the basic and of the modified algorithm. */
extern const struct translate_labour translate_basic, translate_modified;

/** translate_ratio() - Return: @a / @b, member by member */
struct translate_labour translate_ratio(struct translate_labour a, struct translate_labour b);
/** translate_ns() - Return: the time of this many operations, in nanoseconds */
struct translate_labour translate_ns(struct translate_labour ops);

/** struct translate_row - a row of both tables: index, high bits, target, valid, port */
struct translate_row {
	uint32_t index;
	uint32_t high;
	uint64_t to;
	bool valid;
	uint8_t port;
};

/* Tables 1 and 2. */
extern const struct translate_row translate_tables[4];

/** struct translate_bridge - registers: BarSetup (table mode), BAR[2], and the lookup table LT */
struct translate_bridge {
	bool by_table;
	uint32_t bar;		/* compared with bits 63 to 48 of an address */
	const struct translate_row *row;
	size_t n;
};

enum translate_program {
	TRANSLATE_INDEX,	/* basic algorithm, with step 6 for each row */
	TRANSLATE_INDEX_ONCE,	/* basic algorithm, with step 6 once */
	TRANSLATE_HIGH,		/* modified algorithm */
	TRANSLATE_PROGRAMS,
};

/**
 * translate_run() - translate @addr
 * @to: the translated address
 * @ops: the number of operations is added to this
 * Return: 0; -ENXIO if no row is found or the aperture is another one, -ESTALE if the row is not
 * valid, -EINVAL if the bridge is not in table mode.
 */
int translate_run(enum translate_program program, const struct translate_bridge *b, uint64_t addr,
		  uint64_t *to, uint64_t *ops);

/** translate_plain() - as translate_run(), without counting, to be timed */
int translate_plain(enum translate_program program, const struct translate_bridge *b, uint64_t addr,
		    uint64_t *to);

/** struct translate_counts - operations with a table of @n rows that are all valid */
struct translate_counts {
	struct translate_labour hit;	/* mean over all rows, each looked up equally often */
	double miss;
};

/** translate_count() - count the operations of all hits and of a miss. Return: 0 or -ENOMEM */
int translate_count(enum translate_program program, size_t n, struct translate_counts *c);

/** translate_bytes() - Return: bytes on the wire of a put of @bytes; @keyed: with key and index */
unsigned int translate_bytes(unsigned int bytes, bool keyed);

#endif /* TRANSLATE_PAPER_H */
