// SPDX-License-Identifier: GPL-2.0-only
/* Frames that are delayed; bit errors are core/fault.c. */
#include "fault.h"

struct fault_cb {
	u64 due;
};

static struct fault_cb *cb(struct sk_buff *skb)
{
	return (struct fault_cb *)skb->cb;
}

void torus_fault_init(struct torus_fault *f)
{
	memset(f, 0, sizeof(*f));
	__skb_queue_head_init(&f->delayed);
}

void torus_fault_delay(struct torus_fault *f, struct sk_buff *skb, u64 now)
{
	if (skb_queue_len(&f->delayed) >= TORUS_FAULT_DELAYED_MAX) {
		kfree_skb(skb);		/* as lost on the wire */
		return;
	}
	cb(skb)->due = now + f->latency;
	__skb_queue_tail(&f->delayed, skb);
}

struct sk_buff *torus_fault_due(struct torus_fault *f, u64 now)
{
	return torus_fault_expiry(f) <= now ? __skb_dequeue(&f->delayed) : NULL;
}

u64 torus_fault_expiry(const struct torus_fault *f)
{
	struct sk_buff *skb = skb_peek(&f->delayed);

	return skb ? cb(skb)->due : ~0ull;
}
