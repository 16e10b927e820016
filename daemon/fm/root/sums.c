// SPDX-License-Identifier: GPL-2.0-only
/* How many packets are in the network, computed from the sums of all NICs' counters. */
#include "daemon/fm/root/sums.h"

int64_t fm_sums_missing(const struct fm_sums *s, unsigned int c)
{
	return (int64_t)(s->flow[TORUS_FC_INJECTED][c] + s->flow[TORUS_FC_REPLAY_TX][c] -
			 (s->flow[TORUS_FC_DELIVERED][c] + s->flow[TORUS_FC_PARKED][c] +
			  s->flow[TORUS_FC_UNREACHABLE][c]));
}

uint64_t fm_sums_in(const struct fm_sums *s, unsigned int colour)
{
	uint64_t n = 0;

	for (unsigned int c = 0; c < TORUS_COLOURS; c++)
		if (c != colour)
			n += s->flow[TORUS_FC_INJECTED][c] + s->flow[TORUS_FC_REPLAY_TX][c] +
			     s->flow[TORUS_FC_LINK_RX][c];
	return n;
}

uint64_t fm_sums_out(const struct fm_sums *s, unsigned int colour)
{
	uint64_t n = 0;

	for (unsigned int c = 0; c < TORUS_COLOURS; c++)
		if (c != colour)
			n += s->flow[TORUS_FC_DELIVERED][c] + s->flow[TORUS_FC_PARKED][c] +
			     s->flow[TORUS_FC_UNREACHABLE][c] + s->flow[TORUS_FC_LINK_TX][c];
	return n;
}

int64_t fm_sums_replay_missing(const struct fm_sums *s)
{
	uint64_t n = 0;

	for (unsigned int c = 0; c < TORUS_COLOURS; c++)
		n += s->flow[TORUS_FC_REPLAY_TX][c] -
		     (s->flow[TORUS_FC_REPLAY_RX][c] + s->flow[TORUS_FC_REPLAY_PARKED][c]);
	return (int64_t)n;
}

uint64_t fm_sums_replayed(const struct fm_sums *s)
{
	uint64_t n = 0;

	for (unsigned int c = 0; c < TORUS_COLOURS; c++)
		n += s->flow[TORUS_FC_REPLAY_TX][c];
	return n;
}

static bool is_of_replay(unsigned int counter)
{
	return counter == TORUS_FC_REPLAY_TX || counter == TORUS_FC_REPLAY_RX ||
	       counter == TORUS_FC_REPLAY_PARKED;
}

bool fm_sums_moved(const struct fm_sums *s, const struct fm_sums *now, unsigned int colour,
		   bool replay)
{
	if (s->unresolved != now->unresolved ||
	    (replay && (s->parked != now->parked || s->reopen != now->reopen)))
		return true;
	for (unsigned int f = 0; f < TORUS_FC_COUNT; f++)
		for (unsigned int c = 0; c < TORUS_COLOURS; c++)
			if (s->flow[f][c] != now->flow[f][c] && (c != colour || is_of_replay(f)))
				return true;
	return false;
}
