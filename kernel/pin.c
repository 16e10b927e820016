// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of processes that a NIC reads and writes while they do not run. Its pages are pinned
 * while the region exists, and mapped into the kernel one after the other, so that the core finds
 * all of it at one address. They count against RLIMIT_MEMLOCK as locked memory of the user, as with
 * AF_XDP and io_uring: a count of the process would end with exec() while its memory stays pinned,
 * and to take it back one would have to wait for mmap_lock, which a process can hold for ever.
 *
 * A region ends when the last request that waits in it has been answered: in a soft interrupt
 * with the lock of the NIC, where nothing may be unmapped. So a work gives the memory back.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "torus.h"

static LLIST_HEAD(given_back);

/* Return: 0, and the pages are counted; -ENOMEM if the user would have too many */
static int count_locked(struct torus_rma_pin *pin)
{
	unsigned long max = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	atomic_long_t *count = &current_user()->locked_vm;
	long old = atomic_long_read(count);

	if (capable(CAP_IPC_LOCK))
		return 0;
	do {
		if ((unsigned long)old > max || pin->npages > max - (unsigned long)old)
			return -ENOMEM;
	} while (!atomic_long_try_cmpxchg(count, &old, old + (long)pin->npages));
	pin->user = get_uid(current_user());
	return 0;
}

static void uncount_locked(struct torus_rma_pin *pin)
{
	if (!pin->user)
		return;
	atomic_long_sub((long)pin->npages, &pin->user->locked_vm);
	free_uid(pin->user);
}

static void free_pin(struct torus_rma_pin *pin)
{
	if (pin->at)
		vunmap(pin->at);
	unpin_user_pages_dirty_lock(pin->pages, pin->npages, true);
	uncount_locked(pin);
	kvfree(pin->pages);
	kvfree(pin->bits);
	kvfree(pin->space);
	kfree(pin);
}

static void unpin_given(struct work_struct *work)
{
	struct torus_rma_pin *pin, *next;

	llist_for_each_entry_safe(pin, next, llist_del_all(&given_back), given) {
		free_pin(pin);
		cond_resched();
	}
}

static DECLARE_WORK(unpin_work, unpin_given);

/* Pins all pages, or none. Return: 0 or -errno */
static int pin_pages(struct torus_rma_pin *pin, unsigned long memory)
{
	unsigned long n = 0;

	while (n < pin->npages) {
		int left = (int)min_t(unsigned long, pin->npages - n, INT_MAX);
		int got = pin_user_pages_fast(memory + n * PAGE_SIZE, left,
					      FOLL_WRITE | FOLL_LONGTERM, pin->pages + n);

		if (got <= 0) {
			unpin_user_pages(pin->pages, n);
			return got ?: -EFAULT;
		}
		n += (unsigned long)got;
	}
	return 0;
}

/*
 * Return: true if no file system waits for these pages: they are anonymous, of tmpfs or of
 * hugetlbfs. Others would be written behind the back of their file system, which may also keep
 * them locked for ever (FUSE), so that they could not be given back.
 */
static bool have_no_file(const struct torus_rma_pin *pin)
{
	unsigned long i;

	for (i = 0; i < pin->npages; i++) {
		struct folio *folio = page_folio(pin->pages[i]);

		if (!folio_test_anon(folio) && !folio_test_swapbacked(folio) &&
		    !PageHuge(pin->pages[i]))
			return false;
	}
	return true;
}

/* Counts, pins and maps the pages. Return: 0 or -errno; then nothing of that is left */
static int pin_and_map(struct torus_rma_pin *pin, unsigned long memory)
{
	int err;

	pin->pages = kvcalloc(pin->npages, sizeof(*pin->pages), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!pin->pages)
		return -ENOMEM;
	err = count_locked(pin);
	if (err)
		goto err_pages;
	err = pin_pages(pin, memory);
	if (err)
		goto err_locked;
	err = -EOPNOTSUPP;
	if (!have_no_file(pin))
		goto err_pinned;
	pin->at = vmap(pin->pages, (unsigned int)pin->npages, VM_MAP, PAGE_KERNEL);
	if (pin->at)
		return 0;
	err = -ENOMEM;
err_pinned:
	unpin_user_pages(pin->pages, pin->npages);
err_locked:
	uncount_locked(pin);
err_pages:
	kvfree(pin->pages);
	return err;
}

int torus_rma_pin(u64 memory, u64 bytes, struct torus_rma_pin **pinp)
{
	struct torus_rma_pin *pin;
	int err;

	if (offset_in_page(memory) || memory != (unsigned long)memory ||
	    bytes > (u64)UINT_MAX * PAGE_SIZE)
		return -EINVAL;
	pin = kzalloc(sizeof(*pin), GFP_KERNEL_ACCOUNT);
	if (!pin)
		return -ENOMEM;
	pin->npages = (unsigned long)DIV_ROUND_UP_ULL(bytes, PAGE_SIZE);
	err = pin_and_map(pin, (unsigned long)memory);
	if (err) {
		kfree(pin);
		return err;
	}
	*pinp = pin;
	return 0;
}

void torus_rma_unpin(struct torus_rma_pin *pin)
{
	if (llist_add(&pin->given, &given_back))
		schedule_work(&unpin_work);
}

void torus_rma_unpin_all(void)
{
	flush_work(&unpin_work);
}
