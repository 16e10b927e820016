// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets: descriptors, and the memory of packets, frames and messages.
 *
 * Each processor keeps freed descriptors for its next packets, and RUNS runs of pages that memory
 * is allocated from. A run that nothing refers to any more is used again. So a NIC that forwards
 * neither allocates nor clears pages, which would cost more than all other work for a small packet.
 * All functions here need bottom halves off, because they use the stash of their processor.
 *
 * Bounds. A packet in the NIC keeps the frame or the run of pages that its payload came in from
 * being freed, which may be a thousand times its size. Packets in input and RETRY buffers are few
 * and leave soon. A packet that stays for long (torus_pkt_keep()) is copied if it keeps more than
 * twice its size plus SPARE bytes. The limits count what it then occupies: its descriptor, the
 * rounding of the allocator, and at least TORUS_KEEP_LEAST bytes, which also limits the number of
 * such packets. Packets are not charged to a process, because they are allocated in soft
 * interrupts; so the limits are low (torus(4)).
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "nic.h"

/*
 * Most free descriptors of a processor. With KASAN none are kept, so that KASAN detects the use of
 * a freed one.
 */
#define STASH_MAX (IS_ENABLED(CONFIG_KASAN) ? 0 : 256)

/*
 * tn_pkt.owner of a packet with a kmalloc()ed payload; for parked packets another bit is set
 * (park.c).
 */
#define IN_SLAB	((void *)2ul)
#define SPARE	256	/* bytes that a packet may occupy beside twice its payload */

#define RUN_BYTES	max_t(unsigned int, 32768, PAGE_SIZE)
/*
 * number of runs: enough for the RETRY buffers of some NICs, or a quarter of the largest RETRY
 * buffer
 */
#define RUNS		64

/**
 * struct stash - memory of one processor (bottom halves off)
 * @head: list of free descriptors
 * @count: their number, at most STASH_MAX
 * @run: runs of pages, each with a reference of this struct; NULL: not yet allocated
 * @now: index of the run that memory is allocated from
 * @used: bytes of it that are allocated, at most RUN_BYTES
 * @out: index, modulo RUNS, of the run to replace next if all are in use
 */
struct stash {
	struct tn_pkt *head;
	unsigned int count;
	struct page *run[RUNS];
	unsigned int now;
	unsigned int used;
	unsigned int out;
};

static DEFINE_PER_CPU(struct stash, stash);
static struct kmem_cache *cache;

static struct tn_pkt *get_pkt(void)
{
	struct stash *s = this_cpu_ptr(&stash);
	struct tn_pkt *pkt = s->head;

	lockdep_assert_in_softirq();
	if (!pkt)
		return kmem_cache_zalloc(cache, GFP_ATOMIC | __GFP_NOWARN);
	s->head = pkt->next;
	s->count--;
	/* The rest has old contents, which the core does not read. */
	pkt->payload = NULL;
	pkt->owner = NULL;
	return pkt;
}

static void put_pkt(struct tn_pkt *pkt)
{
	struct stash *s = this_cpu_ptr(&stash);

	lockdep_assert_in_softirq();
	if (s->count >= STASH_MAX) {
		kmem_cache_free(cache, pkt);
		return;
	}
	pkt->next = s->head;
	s->head = pkt;
	s->count++;
}

/*
 * Makes the first run that nothing refers to the current one, as it is most likely in the
 * processor's cache; if there is none, allocates a run. Return: false if there is no memory.
 */
static bool next_run(struct stash *s)
{
	struct page *page;
	unsigned int i;

	for (i = 0; i < RUNS && s->run[i]; i++) {
		if (page_ref_count(s->run[i]) == 1)
			break;
	}
	if (i == RUNS)
		i = s->out++ % RUNS;
	if (!s->run[i] || page_ref_count(s->run[i]) != 1) {
		page = alloc_pages(GFP_ATOMIC | __GFP_NOWARN | __GFP_NORETRY | __GFP_COMP |
				   __GFP_NOMEMALLOC, get_order(RUN_BYTES));
		if (!page)
			return false;
		if (s->run[i])
			put_page(s->run[i]);
		s->run[i] = page;
	}
	s->now = i;
	s->used = 0;
	return true;
}

void *torus_mem_alloc(unsigned int bytes)
{
	struct stash *s = this_cpu_ptr(&stash);
	struct page *page;
	void *mem;

	lockdep_assert_in_softirq();
	bytes = ALIGN(bytes, SMP_CACHE_BYTES);
	if (bytes > RUN_BYTES)
		return NULL;
	if ((!s->run[s->now] || s->used + bytes > RUN_BYTES) && !next_run(s))
		return napi_alloc_frag(bytes);	/* memory that is not a part of a run of pages */
	page = s->run[s->now];
	page_ref_inc(page);
	mem = page_address(page) + s->used;
	s->used += bytes;
	return mem;
}

struct sk_buff *torus_mem_skb(unsigned int bytes, u8 **more, unsigned int more_bytes)
{
	unsigned int all = SKB_DATA_ALIGN(bytes) + SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	struct sk_buff *skb;
	u8 *mem;

	if (all > RUN_BYTES && !more)
		return alloc_skb(bytes, GFP_ATOMIC | __GFP_NOWARN);
	mem = torus_mem_alloc(all + (more ? more_bytes : 0));
	if (!mem)
		return NULL;
	skb = napi_build_skb(mem, all);
	if (!skb)
		skb_free_frag(mem);
	else if (more)
		*more = mem + all;
	return skb;
}

struct tn_pkt *torus_pkt_alloc(unsigned int nflits)
{
	struct tn_pkt *pkt = get_pkt();

	if (!pkt || !nflits)
		return pkt;
	pkt->payload = torus_mem_alloc(nflits * TN_FLIT);
	if (!pkt->payload) {
		put_pkt(pkt);
		return NULL;
	}
	return pkt;
}

struct tn_pkt *torus_pkt_at(const u8 *payload)
{
	struct tn_pkt *pkt = get_pkt();

	if (pkt) {
		page_ref_inc(virt_to_head_page(payload));
		pkt->payload = (u8 *)payload;
	}
	return pkt;
}

struct tn_pkt *torus_pkt_of(struct sk_buff *skb, const u8 *payload)
{
	struct tn_pkt *pkt;

	if (payload < skb->head || payload >= skb_end_pointer(skb) ||
	    (skb->head_frag && !skb->pp_recycle))
		return torus_pkt_at(payload);
	pkt = get_pkt();
	if (pkt) {
		pkt->owner = skb_get(skb);
		pkt->payload = (u8 *)payload;
	}
	return pkt;
}

struct page *torus_pkt_page(const struct tn_pkt *pkt)
{
	return pkt->owner ? NULL : virt_to_head_page(pkt->payload);
}

/* Return: bytes of memory that cannot be freed because of the payload of @pkt. */
static size_t pinned_bytes(const struct tn_pkt *pkt)
{
	if (pkt->owner == IN_SLAB)
		return roundup_pow_of_two(pkt->hdr.len * TN_FLIT);
	if (torus_park_of(pkt))
		return pkt->hdr.len * TN_FLIT;
	if (pkt->owner)
		return ((struct sk_buff *)pkt->owner)->truesize;
	return pkt->payload ? page_size(virt_to_head_page(pkt->payload)) : 0;
}

/* Moves the payload of @pkt into memory of just its size, if such memory is available. */
static void copy_payload(struct tn_pkt *pkt)
{
	size_t bytes = pkt->hdr.len * TN_FLIT;
	const gfp_t gfp = GFP_ATOMIC | __GFP_NOWARN | __GFP_NORETRY | __GFP_NOMEMALLOC;
	bool slab = bytes <= PAGE_SIZE / 2;
	struct page *page = NULL;
	u8 *mem = NULL;

	if (slab)
		mem = kmalloc(bytes, gfp);
	else
		page = alloc_pages(gfp | __GFP_COMP, get_order(bytes));
	if (page)
		mem = page_address(page);
	if (!mem)
		return;
	memcpy(mem, pkt->payload, bytes);
	torus_pkt_leave(pkt);
	pkt->owner = slab ? IN_SLAB : NULL;
	pkt->payload = mem;
}

u32 torus_pkt_keep(struct tn_pkt *pkt)
{
	size_t bytes = pkt->hdr.len * TN_FLIT;

	if (bytes && pinned_bytes(pkt) > 2 * bytes + SPARE)
		copy_payload(pkt);
	return (u32)max_t(size_t, pinned_bytes(pkt) + sizeof(*pkt), TORUS_KEEP_LEAST);
}

/* Frees the memory of a packet that has an owner. */
static noinline void leave_owner(struct tn_pkt *pkt)
{
	if (pkt->owner == IN_SLAB)
		kfree(pkt->payload);
	else if (torus_park_of(pkt))
		torus_park_give(pkt);
	else
		napi_consume_skb(pkt->owner, 1);
}

static inline void leave_payload(struct tn_pkt *pkt)
{
	if (pkt->owner)
		leave_owner(pkt);
	else if (pkt->payload)
		put_page(virt_to_head_page(pkt->payload));
}

void torus_pkt_leave(struct tn_pkt *pkt)
{
	leave_payload(pkt);
}

void torus_pkt_free(struct tn_pkt *pkt)
{
	leave_payload(pkt);
	put_pkt(pkt);
}

int torus_pkt_init(void)
{
	cache = kmem_cache_create("torus_pkt", sizeof(struct tn_pkt), 0, SLAB_HWCACHE_ALIGN, NULL);
	return cache ? 0 : -ENOMEM;
}

void torus_pkt_exit(void)
{
	unsigned int i;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct stash *s = per_cpu_ptr(&stash, cpu);

		for (i = 0; i < RUNS; i++) {
			if (s->run[i])
				put_page(s->run[i]);
		}
		while (s->head) {
			struct tn_pkt *pkt = s->head;

			s->head = pkt->next;
			kmem_cache_free(cache, pkt);
		}
	}
	kmem_cache_destroy(cache);
}
