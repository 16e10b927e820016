/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A naive owner of remote memory, for comparison with kernel/core/rma_owner.c: one memory, one list
 * of requests that wait, which is scanned after each request.
 *
 * Each owner of the tests has region 0, of MODEL_BYTES with all rights and full/empty bits, and
 * region 1, as large, to be read and written. They are of job MODEL_JOB, which has region 0 at
 * address MODEL_BASE and region 1 behind it. Region 2 is as region 1, of another job; 3 was closed.
 */
#ifndef TESTS_RMA_MODEL_H
#define TESTS_RMA_MODEL_H

#include "kernel/core/rma_owner.h"

#define MODEL_BYTES	256
#define MODEL_WORDS	(MODEL_BYTES / 8)
#define MODEL_REGIONS	4
#define MODEL_BASE	0x10000
#define MODEL_JOB	7
#define MODEL_KEY	0x01abcdef
#define MODEL_DATA_MAX	64		/* bytes of a reply */
#define MODEL_WAITS	8		/* most requests that wait */
#define MODEL_QUOTA	5		/* most waits in the region, if it has a quota */
#define MODEL_NODES	3

/* The fate of an operation at the owner. */
struct model_fate {
	bool executed;
	bool refused;
	u8 reason;
	u64 value;
	u8 data[MODEL_DATA_MAX];
	u32 bytes;
};

struct model_wait {
	struct tn_rma_ask ask;
	u32 src;
	struct model_fate *fate;
};

struct model {
	u8 memory[3][MODEL_BYTES];
	bool full[MODEL_WORDS];
	bool has_quota;
	bool known[MODEL_NODES];
	u32 next[MODEL_NODES];
	struct model_wait wait[MODEL_WAITS];
	unsigned int waits;
};

/**
 * model_take() - a request from @src arrives
 * @fate: of its operation; unchanged if it is not executed and not refused
 */
void model_take(struct model *m, u32 src, const struct tn_rma_ask *ask, const u8 *data, u32 bytes,
		struct model_fate *fate);

/** model_recv() - Return: why a SEND of these data is refused, and what is allowed; 0: it is taken */
static inline u8 model_recv(const u8 *data, u32 bytes, u64 *allowed)
{
	if (!bytes || !(data[0] & 1))
		return 0;
	*allowed = data[0] & 2 ? 5 : 0;
	return data[0] & 2 ? TN_RMA_LENGTH : TN_RMA_RNR;
}

/** model_restart() - the NIC of the owner has restarted; memory stays, all words are full */
void model_restart(struct model *m);

#endif /* TESTS_RMA_MODEL_H */
