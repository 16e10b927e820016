/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A software NIC of a real core, for its operations. Outside of the lock the core is hidden, so an
 * operation that uses it there ends the test: in the driver it would race with packets.
 */
#ifndef TESTS_SOFTNIC_H
#define TESTS_SOFTNIC_H

#include "tests/unit/lone.h"

#include "kernel/req/soft.h"

#define SOFTNIC_PORTS	4

/**
 * struct softnic - the NIC, and what its struct tn_soft_shell asks of the world
 * @is_locked: now; @locks: how often it was since softnic_did()
 * @changed: the last unlock said so
 * @rests: how often it rested; @on_rest: what others do then
 * @tables: that exist; @is_out: there is no memory for more
 * @forgot: messages that waited and were dropped
 * @attach_port, @attach_lower, @attach_error: of the last attach, and what it returns
 */
struct softnic {
	struct lone l;
	struct tn_soft s;
	bool is_locked;
	unsigned int locks;
	bool changed;
	unsigned int rests;
	void (*on_rest)(void);
	unsigned int tables;
	bool is_out;
	unsigned int attach_port;
	const char *attach_lower;
	int attach_error;
	unsigned int forgot;
};

extern struct softnic w;

/* Short name for calls such as OP.rows(HW, ...). */
#define HW (&w.s.hw)
#define OP tn_soft_ops

/* A NIC of 4 ports without a place. Ports 0 and 1 have no SerDes, and come up at once. */
void softnic_begin(void);
void softnic_end(void);
/*
 * After an operation that returned @err: it has let go of the lock, and said whether it @changes
 * something: else events would lie, or reading counters would wake up the NIC. Return: @err.
 */
int softnic_did(int err, bool changes);

#endif /* TESTS_SOFTNIC_H */
