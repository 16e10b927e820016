/* SPDX-License-Identifier: GPL-2.0-only */
/* Faults and retry protocols of the cables of a lab. */
#ifndef FAULT_H
#define FAULT_H

#include <torus/torus.h>

#include "lab.h"

#define FAULT_KEEP UINT64_MAX

/** struct fault_line - members as in struct torus_line; FAULT_KEEP: unchanged */
struct fault_line {
	uint64_t length, loss, crosstalk, drift, ageing, aged, dead, temperature;
};

/**
 * struct fault_wish - faults to set; members that are not set leave faults unchanged
 * @one_end: set the faults only at the named end, else at both ends
 * @silence: TORUS_SILENCE_..., or 0
 */
struct fault_wish {
	bool one_end;
	bool set_ber, set_latency, set_silence, set_seed, set_vb;
	uint64_t ber;
	uint64_t vb;
	uint64_t latency_ns;
	uint8_t silence;
	uint64_t seed;
	bool set_retry;
	enum torus_retry retry;
	bool set_line;
	struct fault_line line;
};

/**
 * fault_wish_parse() - parse texts, each of which may be NULL; prints the error. Return: OK or
 * CANNOT
 */
int fault_wish_parse(const char *ber, const char *latency, struct fault_wish *out);
/** fault_put() - set faults at the ends of a cable; prints the error. Return: OK or CANNOT */
int fault_put(const struct lab *lab, uint32_t node, unsigned int port,
	      const struct fault_wish *wish);
/** fault_everywhere() - set faults at all cables, if @wish has any */
int fault_everywhere(const struct lab *lab, const struct fault_wish *wish);
/** fault_copy() - give a restarted NIC the faults that the other ends of its cables have */
int fault_copy(const struct lab *lab, uint32_t node);

#endif /* FAULT_H */
