// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bubble policy MBS (see bubble.h): when an output requests a false packet from its upstream
 * neighbour, and when it sends one on request.
 */
#include "bubble.h"

/*
 * A false packet enters the ring like any other packet, so it needs a buffer that is not critical.
 * An output that has packets to send does not answer the request: its own packets will move the
 * bubble.
 */
bool tn_bubble_respond(enum tn_bubble_policy policy, struct tn_bubble *b, bool idle)
{
	if (policy != TN_BUBBLE_MBS || !idle || !tn_bubble_may(policy, b, true))
		return false;
	b->free--;
	return true;
}

bool tn_bubble_hand(enum tn_bubble_policy policy, struct tn_bubble *b, bool lowest)
{
	if (policy != TN_BUBBLE_MBS || lowest || !tn_bubble_stuck(b))
		return false;
	b->free--;
	b->critical--;
	return true;
}

bool tn_bubble_watch(enum tn_bubble_policy policy, struct tn_bubble *b, u32 now)
{
	if (policy != TN_BUBBLE_MBS || !tn_bubble_stuck(b)) {
		b->since = 0;
		return false;
	}
	if (b->since)
		return false;
	b->since = now;
	return true;
}

bool tn_bubble_due(struct tn_bubble *b, u32 now, u32 threshold)
{
	if (!b->since || now - b->since < threshold)
		return false;
	b->since = now;
	return true;
}
