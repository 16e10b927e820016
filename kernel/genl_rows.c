// SPDX-License-Identifier: GPL-2.0-only
/*
 * ROWS_BEGIN, PUT, COMMIT, GET: the routing table.
 *
 * The core keeps two tables and routes by one pointer: a commit sets it, under
 * the lock that the data path holds too, so a packet sees one table or the other.
 * The other table belongs to whoever began a version last, known by his socket; a
 * begin by somebody else, be it of the same version, makes his puts and commit fail
 * with -ESTALE.
 *
 * Nothing holds the lock for as long as a table of millions takes: a begin copies
 * SLICE rows at a time, a put brings what a message carries, a dump reads what
 * fits into one.
 *
 * A dump tells the version with every message. It is flagged NLM_F_DUMP_INTR if
 * anything changed the rows since its last message (torus_dev.rows_gen counts
 * commits, holds, releases and new places).
 */
#include <linux/slab.h>

#include "genl.h"

#define SLICE		8192	/* rows; 64 KiB */
#define PART_MAX	4096	/* rows in one message of a dump */
#define PART_HEAD	64	/* bytes around them */

static u64 get_version(const struct genl_info *info)
{
	return nla_get_u64(info->attrs[TORUS_A_VERSION]);
}

/* Version of the active table, 0 without; with the lock. */
static u64 active_version(struct torus_dev *d)
{
	u64 version = 0;
	u32 n;

	tn_nic_rows(d->nic, &n, &version);
	return version;
}

int torus_version_error(struct genl_info *info, int err, u64 active)
{
	if (err == -ENODEV)
		NL_SET_ERR_MSG(info->extack,
			       "the NIC has no place yet: SHAPE and COORDS are not set");
	else if (err == -ESTALE)
		NL_SET_ERR_MSG_ATTR_FMT(info->extack, info->attrs[TORUS_A_VERSION],
					"VERSION is %llu; active is %llu", get_version(info),
					active);
	else if (err == -EBUSY)
		NL_SET_ERR_MSG(info->extack, "some parked packets are not resolved yet");
	return err;
}

/* --- begin, put, commit ------------------------------------------------------------- */

/* Another socket is writing; with the lock. Return: its port id, or 0. */
static u32 other_writer(const struct torus_dev *d, const struct genl_info *info)
{
	return d->rows_writer == info->snd_portid ? 0 : d->rows_writer;
}

static int written_by_other(struct genl_info *info, u32 writer)
{
	NL_SET_ERR_MSG_FMT(info->extack,
			   "another socket, of port id %u, began to write rows meanwhile", writer);
	return -ESTALE;
}

int torus_rows_begin(struct sk_buff *req, struct genl_info *info)
{
	struct torus_dev *d = torus_req_dev(info);
	u64 version = get_version(info), active;
	u32 writer = 0;
	int err;

	torus_dev_lock(d);
	err = tn_nic_rows_open(d->nic, version) ?: 1;
	if (err > 0)
		d->rows_writer = info->snd_portid;
	while (err > 0) {
		err = tn_nic_rows_copy(d->nic, version, SLICE);
		if (err <= 0)
			break;
		torus_dev_unlock_read(d);
		cond_resched();
		torus_dev_lock(d);
		writer = other_writer(d, info);
		if (writer)
			break;
	}
	active = active_version(d);
	torus_dev_unlock_read(d);
	return writer ? written_by_other(info, writer) : torus_version_error(info, err, active);
}

/* Rows are aligned to 4 bytes in the message, to 8 for the core. */
static const u64 *aligned_rows(const struct nlattr *data, void **copy)
{
	const void *rows = nla_data(data);

	*copy = NULL;
	if (IS_ALIGNED((unsigned long)rows, sizeof(u64)))
		return rows;
	*copy = kvmalloc(nla_len(data), GFP_KERNEL);
	return *copy ? memcpy(*copy, rows, nla_len(data)) : NULL;
}

static int put_one(struct genl_info *info, const struct nlattr *nest)
{
	const struct nlattr *data = nla_find_nested(nest, TORUS_ROWS_DATA);
	u32 first = nla_get_u32(nla_find_nested(nest, TORUS_ROWS_FIRST));
	struct torus_dev *d = torus_req_dev(info);
	u32 n = (u32)nla_len(data) / sizeof(u64), total = 0, writer;
	const u64 *rows;
	u64 active = 0;
	void *copy;
	int err;

	rows = aligned_rows(data, &copy);
	if (!rows)
		return -ENOMEM;
	torus_dev_lock(d);
	tn_nic_rows(d->nic, &total, &active);
	writer = other_writer(d, info);
	err = writer ? -ESTALE : tn_nic_rows_put(d->nic, get_version(info), first, rows, n);
	torus_dev_unlock_read(d);
	kvfree(copy);
	if (writer)
		return written_by_other(info, writer);
	if (err != -EINVAL)
		return torus_version_error(info, err, active);
	if (first < total && n <= total - first) {
		NL_SET_ERR_MSG_ATTR_FMT(info->extack, data,
					"ROWS from %u on have one of unknown format or range",
					first);
		return -EINVAL;
	}
	NL_SET_ERR_MSG_ATTR_FMT(info->extack, nest, "ROWS are %u to %u, allowed 0 to %u", first,
				first + n - 1, total - 1);
	return -ERANGE;
}

int torus_rows_put(struct sk_buff *req, struct genl_info *info)
{
	const struct nlattr *a;
	int left, err;

	nlmsg_for_each_attr(a, info->nlhdr, GENL_HDRLEN, left) {
		if (nla_type(a) != TORUS_A_ROWS)
			continue;
		err = put_one(info, a);
		if (err)
			return err;
		cond_resched();
	}
	return 0;
}

int torus_rows_commit(struct sk_buff *req, struct genl_info *info)
{
	struct torus_dev *d = torus_req_dev(info);
	u64 active;
	u32 writer;
	int err;

	torus_dev_lock(d);
	writer = other_writer(d, info);
	err = writer ? -ESTALE : tn_nic_rows_commit(d->nic, get_version(info), torus_now());
	if (!err) {
		d->rows_gen++;
		d->rows_writer = 0;
	}
	active = active_version(d);
	torus_dev_unlock(d);
	return writer ? written_by_other(info, writer) : torus_version_error(info, err, active);
}

/* --- get ------------------------------------------------------------------------------ */

/* Bounds of the dump from FIRST and COUNT. */
static int narrow(struct netlink_callback *cb, struct torus_dump *dump, u32 total)
{
	struct nlattr **attrs = torus_dump_attrs(cb);
	const struct nlattr *first = attrs[TORUS_A_FIRST], *count = attrs[TORUS_A_COUNT];

	dump->next = first ? nla_get_u32(first) : 0;
	if (dump->next >= total) {
		NL_SET_ERR_MSG_ATTR_FMT(cb->extack, first, "FIRST is %u, allowed 0 to %u",
					dump->next, total - 1);
		return -ERANGE;
	}
	dump->end = total;
	if (count && nla_get_u32(count) < total - dump->next)
		dump->end = dump->next + nla_get_u32(count);
	return 0;
}

static int begin_dump(struct netlink_callback *cb)
{
	struct torus_dump *dump = torus_dump_of(cb);
	netdevice_tracker t;
	struct torus_dev *d;
	u32 total = 0;
	u64 version;
	int err;

	err = torus_dump_check(cb, TORUS_CMD_ROWS_GET, &d, &t);
	if (err)
		return err;
	dump->ifindex = d->netdev->ifindex;
	torus_dev_lock(d);
	err = torus_need_place(d, cb->extack);
	tn_nic_rows(d->nic, &total, &version);
	torus_dev_unlock_read(d);
	torus_dev_put(d, &t);
	return err ?: narrow(cb, dump, total);
}

/* As many rows as fit, with the lock. Return: 0, or -EMSGSIZE if there is no room. */
static int put_part(struct sk_buff *skb, struct netlink_callback *cb, struct torus_dev *d)
{
	struct torus_dump *dump = torus_dump_of(cb);
	int room = (skb_tailroom(skb) - PART_HEAD) / (int)sizeof(u64);
	struct nlattr *nest, *data;
	u32 total = 0, n;
	u64 version;
	void *hdr;

	cb->seq = d->rows_gen;
	if (!tn_nic_rows(d->nic, &total, &version) || total < dump->end)
		dump->end = dump->next;	/* placed anew: the end of the dump tells */
	if (dump->next >= dump->end)
		return 0;
	n = min_t(u32, dump->end - dump->next, PART_MAX);
	if (room <= 0)
		return -EMSGSIZE;
	n = min_t(u32, n, (u32)room);
	hdr = torus_dump_put(skb, cb, TORUS_CMD_ROWS_GET);
	if (!hdr)
		return -EMSGSIZE;
	genl_dump_check_consistent(cb, hdr);
	nest = nla_put(skb, TORUS_A_VERSION, sizeof(version), &version) ? NULL :
	       nla_nest_start(skb, TORUS_A_ROWS);
	data = nest && !nla_put_u32(skb, TORUS_ROWS_FIRST, dump->next) ?
	       nla_reserve(skb, TORUS_ROWS_DATA, (int)(n * sizeof(u64))) : NULL;
	if (!data) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	memcpy(nla_data(data), tn_nic_rows_get(d->nic, dump->next, n), n * sizeof(u64));
	nla_nest_end(skb, nest);
	genlmsg_end(skb, hdr);
	dump->next += n;
	return 0;
}

int torus_rows_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	netdevice_tracker t;
	struct torus_dev *d;
	int err;

	d = torus_dump_dev(cb, begin_dump, &t);
	if (IS_ERR(d))
		return PTR_ERR(d);
	torus_dev_lock(d);
	err = put_part(skb, cb, d);
	torus_dev_unlock_read(d);
	torus_dev_put(d, &t);
	return err ?: skb->len;
}
