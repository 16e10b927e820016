// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module that makes the mistake that its parameter names when it is loaded, and then refuses to
 * stay: shows that the test kernels find what they should find.
 */
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>

static char *mistake = "";
module_param(mistake, charp, 0);

static int zero, eight = 8, forty = 40; /* unknown to the compiler */
module_param(zero, int, 0);
module_param(eight, int, 0);
module_param(forty, int, 0);

static DEFINE_SPINLOCK(spin);
static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);

static void overrun(void)
{
	char *p = kmalloc(eight, GFP_KERNEL);

	if (p)
		WRITE_ONCE(p[eight], 1);
	kfree(p);
}

static void use_after_free(void)
{
	char *p = kmalloc(eight, GFP_KERNEL);

	kfree(p);
	if (p)
		WRITE_ONCE(p[0], 1);
}

static void shift(void)
{
	pr_info("faulty: %d\n", 1 << forty);
}

static void bounds(void)
{
	static int table[8];

	pr_info("faulty: %d\n", table[eight]);
}

static void sleeps(void)
{
	spin_lock_bh(&spin);
	kfree(kmalloc(eight, GFP_KERNEL));
	spin_unlock_bh(&spin);
}

static void rcu(void)
{
	static int value;
	static int __rcu *p = (int __rcu __force *)&value;

	pr_info("faulty: %d\n", *rcu_dereference(p));
}

static void lock_order(void)
{
	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);
	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

static void list_twice(void)
{
	struct list_head head, entry;

	INIT_LIST_HEAD(&head);
	list_add(&entry, &head);
	list_add(&entry, &head);
}

static void nothing(struct timer_list *t)
{
}

static void armed_timer_freed(void)
{
	struct timer_list *t = kmalloc(sizeof(*t), GFP_KERNEL);

	if (!t)
		return;
	timer_setup(t, nothing, 0);
	mod_timer(t, jiffies + 60 * HZ);
	kfree(t);
}

static void leak(void)
{
	char *p = kmalloc(1000 + eight, GFP_KERNEL);

	if (p)
		WRITE_ONCE(p[0], 1);
}

static void panics(void)
{
	panic("faulty: as told");
}

static const struct {
	const char *name;
	void (*make)(void);
} mistakes[] = {
	{ "overrun", overrun }, { "use-after-free", use_after_free }, { "shift", shift },
	{ "bounds", bounds }, { "sleep", sleeps }, { "rcu", rcu }, { "lock-order", lock_order },
	{ "list", list_twice }, { "timer", armed_timer_freed }, { "leak", leak },
	{ "panic", panics },
};

static int __init faulty_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(mistakes); i++) {
		if (strcmp(mistake, mistakes[i].name))
			continue;
		pr_info("faulty: %s\n", mistake);
		mistakes[i].make();
		return -ECANCELED;
	}
	return -EINVAL;
}
module_init(faulty_init);

MODULE_DESCRIPTION("Mistakes on request, to test the tests");
MODULE_LICENSE("GPL");
