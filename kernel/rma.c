// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/torus: how processes get contexts of remote memory (include/uapi/torus_rma.h). As with
 * /dev/net/tun, the file belongs to no NIC until TORUS_RMA_BIND names one by its netdev, in the
 * network namespace of the caller. So a container needs the device and a NIC of its own, and two
 * NICs never want the same name. Permissions of the file decide who may use remote memory. Regions
 * belong to users, as numbered in the initial user namespace, so root of a container is not root.
 *
 * The NIC may be removed at any time, while RTNL is held: torus_rma_gone() takes each of its files
 * from its list, and ends the context under the lock of the file. A call that has this lock and
 * finds a NIC in the file can use it, because torus_rma_gone() waits for the lock. So nothing that
 * a process can delay is done under this lock: its memory is copied before and after, and pinned
 * between two sections.
 *
 * Locks nest in this order: RTNL, the lock of the file, torus_dev.ctl, the lock of the data path.
 *
 * Close against removal. A file is in the list of a NIC as long as f->dev is set. Whoever comes
 * first, rma_fop_release() or torus_rma_gone(), holds the lock of the file while it ends the
 * context, takes the file from the list and clears f->dev; the other one finds nothing left to do.
 * If close() is first, the removal may find the list empty before close() has let go of ctl, which
 * is part of the NIC: so leave_dev() holds a reference to the netdev. It takes this before the file
 * leaves the list, while the removal cannot pass torus_rma_gone(); later the removal waits for it
 * in netdev_run_todo(). If the removal is first, its own reference keeps the file, because close()
 * drops that of the process. A file that was in a NIC once never gets another one (f->gone), and a
 * NIC that is going gets no file (d->gone, which ctl protects, as it does the list).
 *
 * Limits of regions. Pinning takes long, and many processes may do it at the same time. If the
 * limits were only checked before and after it, all these processes together could pin more than
 * the NIC may have, and root would find its reserve used up meanwhile. So SHARE reserves the region
 * before it pins: index and bytes count from then on. A reserved region is closed to all requests;
 * like others, it goes with its context, and a SHARE that then comes back finds no context.
 *
 * Tests: tests/vm/inside/rma.sh, tests/vm/rmafuzz.c, tests/unit/test_soft_rma.c.
 */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/poll.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "torus.h"

#define TOO_LARGE	\
	"a region of %llu bytes: memory, or the limit of locked memory, is too small"
#define BELL_BYTES	8	/* of the doorbell, and of a wake-up, as of an eventfd */

static void put_file(struct torus_rma_file *f)
{
	if (!refcount_dec_and_test(&f->refs))
		return;
	vfree(f->rings);
	mutex_destroy(&f->lock);
	kfree(f);
}

void torus_rma_wake(struct torus_rma_file *f)
{
	WRITE_ONCE(f->woken, true);
	wake_up_interruptible_poll(&f->wait, EPOLLIN);
}

void torus_rma_hang_up(struct torus_rma_file *f)
{
	WRITE_ONCE(f->gone, true);
	wake_up_interruptible_poll(&f->wait, EPOLLIN | EPOLLHUP);
}

/*
 * Ends the context of a file. While the file is in the list, torus_rma_gone() waits for its lock;
 * so it leaves the list last, and the reference keeps the NIC until the lock of the list is free.
 */
static void leave_dev(struct torus_rma_file *f)
{
	struct torus_dev *d = f->dev;
	netdevice_tracker t;

	lockdep_assert_held(&f->lock);
	if (!d)
		return;
	netdev_hold(d->netdev, &t, GFP_KERNEL);
	d->ops->rma->unbind(d, f);
	torus_dev_lock(d);
	list_del_init(&f->in_dev);
	torus_dev_unlock(d);
	torus_dev_put(d, &t);
	f->dev = NULL;
	torus_rma_hang_up(f);
}

/* Return: the first file of a NIC, with a reference, or NULL. */
static struct torus_rma_file *first_file(struct torus_dev *d)
{
	struct torus_rma_file *f;

	torus_dev_lock(d);
	f = list_first_entry_or_null(&d->rma_files, struct torus_rma_file, in_dev);
	if (f)
		refcount_inc(&f->refs);
	torus_dev_unlock(d);
	return f;
}

void torus_rma_gone(struct torus_dev *d)
{
	struct torus_rma_file *f;

	ASSERT_RTNL();
	while ((f = first_file(d))) {
		mutex_lock(&f->lock);
		leave_dev(f);
		mutex_unlock(&f->lock);
		put_file(f);
	}
}

/* --- calls ----------------------------------------------------------------------- */

/* Makes a context at @d, whose ctl is held. Return: 0 or -errno */
static int enter_dev(struct torus_rma_file *f, struct torus_dev *d)
{
	int err;

	if (!d->ops->rma)
		return -EOPNOTSUPP;
	if (d->gone)
		return -ENODEV;
	err = d->ops->rma->bind(d, f);
	if (err)
		return err;
	f->dev = d;
	list_add(&f->in_dev, &d->rma_files);
	return 0;
}

/* Return: the NIC whose netdev has this name, with a reference, or NULL. */
static struct torus_dev *find_named(const char *ifname, netdevice_tracker *t)
{
	struct net *net = current->nsproxy->net_ns;
	struct net_device *dev;
	struct torus_dev *d;
	int ifindex;

	rcu_read_lock();
	dev = dev_get_by_name_rcu(net, ifname);
	ifindex = dev ? dev->ifindex : 0;
	rcu_read_unlock();
	d = ifindex ? torus_dev_get_by_index(net, ifindex, t) : NULL;
	return d;
}

static int bind_file(struct torus_rma_file *f, const struct torus_rma_where __user *arg)
{
	struct torus_rma_where where;
	netdevice_tracker t;
	struct torus_dev *d;
	int err;

	if (copy_from_user(&where, arg, sizeof(where)))
		return -EFAULT;
	if (strnlen(where.ifname, sizeof(where.ifname)) == sizeof(where.ifname))
		return -ENAMETOOLONG;
	d = find_named(where.ifname, &t);
	if (!d)
		return -ENODEV;
	mutex_lock(&f->lock);
	if (f->dev || f->gone) {
		err = -EBUSY;
	} else {
		torus_dev_lock_sender(d);
		err = enter_dev(f, d);
		torus_dev_unlock(d);
	}
	mutex_unlock(&f->lock);
	torus_dev_put(d, &t);
	return err;
}

/* Return: the NIC of the file; or an error pointer */
static struct torus_dev *dev_of(const struct torus_rma_file *f)
{
	lockdep_assert_held(&f->lock);
	if (f->gone)
		return ERR_PTR(-ENODEV);
	return f->dev ?: ERR_PTR(-ENOTCONN);
}

static int open_rings(struct torus_rma_file *f, struct torus_rma_call *call)
{
	struct torus_dev *d;
	int err;

	mutex_lock(&f->lock);
	d = dev_of(f);
	err = PTR_ERR_OR_ZERO(d);
	if (!err) {
		torus_dev_lock_sender(d);
		err = d->ops->rma->open(d, f, call);
		torus_dev_unlock(d);
	}
	call->bytes = f->bytes;
	mutex_unlock(&f->lock);
	return err;
}

typedef int (*rma_call_fn)(struct torus_dev *d, struct torus_rma_file *f,
			   struct torus_rma_call *call);

static int reserve_region(struct torus_dev *d, struct torus_rma_file *f,
			  struct torus_rma_call *call)
{
	return d->ops->rma->reserve(d, f, call);
}

static int unreserve_region(struct torus_dev *d, struct torus_rma_file *f,
			    struct torus_rma_call *call)
{
	return d->ops->rma->unreserve(d, f, call);
}

static int plain_call(struct torus_dev *d, struct torus_rma_file *f, struct torus_rma_call *call)
{
	return d->ops->rma->call(d, f, call);
}

static int locked_call(struct torus_rma_file *f, rma_call_fn fn, struct torus_rma_call *call)
{
	struct torus_dev *d;
	int err;

	mutex_lock(&f->lock);
	d = dev_of(f);
	err = PTR_ERR_OR_ZERO(d);
	if (!err)
		err = fn(d, f, call);
	mutex_unlock(&f->lock);
	return err;
}

static int refuse_pin(struct torus_rma_call *call, u64 memory, int err)
{
	if (err == -EINVAL)
		snprintf(call->why, sizeof(call->why),
			 "memory at 0x%llx: must begin with a page", memory);
	else if (err == -ENOMEM)
		snprintf(call->why, sizeof(call->why), TOO_LARGE, call->bytes);
	else if (err == -EOPNOTSUPP)
		snprintf(call->why, sizeof(call->why),
			 "memory at 0x%llx: must not be of a file, unless on tmpfs", memory);
	else
		snprintf(call->why, sizeof(call->why),
			 "memory at 0x%llx: %llu bytes from there cannot be pinned", memory,
			 call->bytes);
	return err;
}

/*
 * Makes the reserved region of pinned memory. What the NIC keeps about it is allocated without the
 * lock, since that takes long for a large region. Return: 0, or -errno; then the caller still owns
 * @pin
 */
static int share_pin(struct torus_rma_file *f, struct torus_rma_pin *pin,
		     struct torus_rma_call *call)
{
	const struct torus_rma_ops *ops;
	struct torus_dev *d;
	int err;

	mutex_lock(&f->lock);
	d = dev_of(f);
	ops = IS_ERR(d) ? NULL : d->ops->rma;	/* of this module, which the file keeps */
	mutex_unlock(&f->lock);
	err = ops ? ops->prepare(pin, call) : PTR_ERR(d);
	if (err)
		return err;
	mutex_lock(&f->lock);
	d = dev_of(f);
	err = IS_ERR(d) ? PTR_ERR(d) : ops->share(d, f, pin, call);
	mutex_unlock(&f->lock);
	return err;
}

/* Return: 0, or -errno; then the region is only reserved */
static int share_reserved(struct torus_rma_file *f, struct torus_rma_call *call, u64 memory)
{
	struct torus_rma_pin *pin;
	int err = torus_rma_pin(memory, call->bytes, &pin);

	if (err)
		return refuse_pin(call, memory, err);
	err = share_pin(f, pin, call);
	if (err)
		torus_rma_unpin(pin);
	return err;
}

static int share_pinned(struct torus_rma_file *f, struct torus_rma_call *call, u64 memory)
{
	int err = locked_call(f, reserve_region, call);

	if (err)
		return err;
	err = share_reserved(f, call, memory);
	if (err)	/* if the NIC is gone, so is the region */
		locked_call(f, unreserve_region, call);
	return err;
}

static int answer_call(struct torus_rma_file *f, struct torus_rma_call *call)
{
	u64 memory = call->memory;

	memset(call->why, 0, sizeof(call->why));
	switch (call->call) {
	case TORUS_RMA_OPEN:
		return open_rings(f, call);
	case TORUS_RMA_SHARE:
		return share_pinned(f, call, memory);
	case TORUS_RMA_UNSHARE:
	case TORUS_RMA_REGION_GET:
	case TORUS_RMA_WAIT_GET:
		return locked_call(f, plain_call, call);
	}
	snprintf(call->why, sizeof(call->why), "call %u: must be %u to %u", call->call,
		 TORUS_RMA_OPEN, TORUS_RMA_WAIT_GET);
	return -EOPNOTSUPP;
}

static long call_file(struct torus_rma_file *f, struct torus_rma_call __user *arg)
{
	struct torus_rma_call call;

	if (copy_from_user(&call, arg, sizeof(call)))
		return -EFAULT;
	call.error = answer_call(f, &call);
	if (call.error == -ENODEV || call.error == -ENOTCONN)
		return call.error;
	if (call.error && !call.why[0])
		snprintf(call.why, sizeof(call.why), "%s", call.error == -ENOMEM ?
			 "out of memory" : "the NIC refuses the call");
	return copy_to_user(arg, &call, sizeof(call)) ? -EFAULT : 0;
}

/* --- the file -------------------------------------------------------------------- */

static int rma_fop_open(struct inode *inode, struct file *file)
{
	struct torus_rma_file *f = kzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT);

	if (!f)
		return -ENOMEM;
	refcount_set(&f->refs, 1);
	mutex_init(&f->lock);
	INIT_LIST_HEAD(&f->in_dev);
	init_waitqueue_head(&f->wait);
	f->user = from_kuid(&init_user_ns, file->f_cred->euid);
	file->private_data = f;
	return nonseekable_open(inode, file);
}

static int rma_fop_release(struct inode *inode, struct file *file)
{
	struct torus_rma_file *f = file->private_data;

	mutex_lock(&f->lock);
	leave_dev(f);
	mutex_unlock(&f->lock);
	put_file(f);
	return 0;
}

static long rma_fop_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct torus_rma_file *f = file->private_data;

	switch (cmd) {
	case TORUS_RMA_BIND:
		return bind_file(f, (void __user *)arg);
	case TORUS_RMA_CALL:
		return call_file(f, (void __user *)arg);
	}
	return -ENOTTY;
}

static int rma_fop_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct torus_rma_file *f = file->private_data;
	int err;

	mutex_lock(&f->lock);
	err = f->rings ? remap_vmalloc_range(vma, f->rings, vma->vm_pgoff) : -ENODATA;
	mutex_unlock(&f->lock);
	return err;
}

static __poll_t rma_fop_poll(struct file *file, poll_table *wait)
{
	struct torus_rma_file *f = file->private_data;
	__poll_t mask = EPOLLOUT;

	poll_wait(file, &f->wait, wait);
	if (READ_ONCE(f->woken))
		mask |= EPOLLIN;
	if (READ_ONCE(f->gone))
		mask |= EPOLLIN | EPOLLHUP;
	return mask;
}

/* Takes a wake-up, or waits for one. At the end of the NIC it reads as the end of a file. */
static ssize_t rma_fop_read(struct file *file, char __user *to, size_t bytes, loff_t *at)
{
	struct torus_rma_file *f = file->private_data;
	u64 one = 1;
	int err;

	if (bytes < BELL_BYTES)
		return -EINVAL;
	while (!xchg(&f->woken, false)) {
		if (READ_ONCE(f->gone))
			return 0;
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event_interruptible(f->wait, READ_ONCE(f->woken) || READ_ONCE(f->gone));
		if (err)
			return err;
	}
	return copy_to_user(to, &one, BELL_BYTES) ? -EFAULT : BELL_BYTES;
}

/* The doorbell: what is written does not matter. */
static ssize_t rma_fop_write(struct file *file, const char __user *from, size_t bytes, loff_t *at)
{
	struct torus_rma_file *f = file->private_data;
	struct torus_dev *d;
	int err;

	if (bytes < BELL_BYTES)
		return -EINVAL;
	mutex_lock(&f->lock);
	d = dev_of(f);
	err = PTR_ERR_OR_ZERO(d);
	if (!err)
		d->ops->rma->ring(d, f);
	mutex_unlock(&f->lock);
	return err ?: BELL_BYTES;
}

static const struct file_operations rma_fops = {
	.owner = THIS_MODULE,
	.open = rma_fop_open,
	.release = rma_fop_release,
	.unlocked_ioctl = rma_fop_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = rma_fop_mmap,
	.poll = rma_fop_poll,
	.read = rma_fop_read,
	.write = rma_fop_write,
};

static struct miscdevice rma_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = TORUS_DRIVER,
	.fops = &rma_fops,
	.mode = 0666,
};

int torus_rma_init(void)
{
	return misc_register(&rma_device);
}

void torus_rma_exit(void)
{
	misc_deregister(&rma_device);
	torus_rma_unpin_all();
}
