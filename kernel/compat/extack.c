// SPDX-License-Identifier: GPL-2.0-only
/*
 * A text in an extended ack must live until the answer is composed, which is after the command, but
 * before the asking task returns from its system call. So the text is freed by task work. The work
 * is kfree() itself, not a function of this module, so that it does no harm if the module has been
 * unloaded by then. Where there is no memory, or no task work, the reader gets the format without
 * the values; also in kernels with control-flow integrity, which stops a call of kfree() as a
 * function of another type.
 */
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/task_work.h>

#ifndef NETLINK_MAX_FMTMSG_LEN
#define NETLINK_MAX_FMTMSG_LEN 80
#endif

/*
 * The callback gets the address of @work, and frees the whole struct by it, so @work must be the
 * first member.
 */
struct text {
	struct callback_head work;
	char s[NETLINK_MAX_FMTMSG_LEN];
};

void torus_compat_extack(struct netlink_ext_ack *extack, const char *fmt, ...)
{
	struct text *t;
	va_list ap;

	if (!extack)
		return;
	extack->_msg = fmt;
	if (IS_ENABLED(CONFIG_CFI_CLANG) || current->flags & PF_KTHREAD)
		return;
	t = kmalloc(sizeof(*t), GFP_KERNEL);
	if (!t)
		return;
	BUILD_BUG_ON(offsetof(struct text, work));
	va_start(ap, fmt);
	vsnprintf(t->s, sizeof(t->s), fmt, ap);
	va_end(ap);
	init_task_work(&t->work, (task_work_func_t)(void *)kfree);
	if (task_work_add(current, &t->work, TWA_RESUME)) {
		kfree(t);
		return;
	}
	extack->_msg = t->s;
}
