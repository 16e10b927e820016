// SPDX-License-Identifier: GPL-2.0-only
/*
 * ROWS_BEGIN, PUT, COMMIT, GET: the routing table.
 *
 * A NIC has two tables. It routes by the active one; a commit swaps them atomically. The other,
 * the shadow table, belongs to the socket that sent the last ROWS_BEGIN. After a begin by another
 * socket, even of the same version, a put or commit of the first socket fails with -ESTALE.
 *
 * Each message of a dump has the version. A dump is marked as interrupted if the rows were changed
 * by a commit, hold, release or new place since its last message.
 */
#include "request.h"

#define PART_MAX	4096u	/* most rows in one message of a dump */
/* Bytes of the attributes and heads before the rows: VERSION, ROWS, FIRST, DATA. */
#define PART_HEAD	(12u + 4u + 8u + 4u)

/*
 * Checks the version that ROWS_BEGIN names. Versions never decrease, so a lower one is a delayed
 * request, or of a writer that does not know the fabric: the order of packets depends on it
 * (core/flow.h). Only a root of a later epoch may begin with a lower version.
 */
static int check_order(struct torus_hw *hw, struct torus_req *r)
{
	const struct nlattr *epoch = r->tb[TORUS_A_ROOT_EPOCH];
	u64 active = 0;
	u32 n;

	hw->ops->rows(hw, &n, &active);
	return (epoch ? torus_attr_number(epoch) : 0) <= hw->rows_epoch &&
	       torus_req_version(r) < active ? -ESTALE : 0;
}

int torus_req_rows_begin(struct torus_hw *hw, struct torus_req *r)
{
	int err = check_order(hw, r);

	if (!err)
		err = hw->ops->rows_begin(hw, torus_req_version(r));

	if (!err)
		hw->rows_writer = r->from;
	return torus_req_version_error(hw, r, err);
}

static int check_writer(const struct torus_hw *hw, struct torus_req *r)
{
	if (!hw->rows_writer || hw->rows_writer == r->from)
		return 0;
	return torus_refuse(&r->why, -ESTALE, NULL,
			    "another socket began to write rows meanwhile");
}

static int put_rows(struct torus_hw *hw, struct torus_req *r, const struct nlattr *nest)
{
	const struct nlattr *tb[TORUS_ROWS_MAX + 1], *data;
	u32 first, n, total = 0;
	u64 active;
	int err;

	torus_parse_nest(nest, tb, TORUS_ROWS_MAX);
	data = tb[TORUS_ROWS_DATA];
	first = (u32)torus_attr_number(tb[TORUS_ROWS_FIRST]);
	n = torus_attr_len(data) / (u32)sizeof(u64);
	hw->ops->rows(hw, &total, &active);
	if (first >= total || n > total - first)
		return torus_refuse(&r->why, -ERANGE, nest, "ROWS are %u to %u, must be 0 to %u",
				    first, first + n - 1, total - 1);
	err = hw->ops->rows_put(hw, torus_req_version(r), first, torus_attr_data(data), n);
	if (err == -EINVAL)
		torus_refuse(&r->why, err, data,
			     "ROWS from %u on: a row has an unknown format or a value out of range",
			     first);
	return torus_req_version_error(hw, r, err);
}

int torus_req_rows_put(struct torus_hw *hw, struct torus_req *r)
{
	struct torus_span left = r->attrs;
	const struct nlattr *a;
	int err = torus_req_placed(hw, r);

	if (!err)
		err = check_writer(hw, r);
	while (!err && (a = torus_attr_next(&left)))
		if (torus_attr_type(a) == TORUS_A_ROWS)
			err = put_rows(hw, r, a);
	return err;
}

int torus_req_rows_commit(struct torus_hw *hw, struct torus_req *r)
{
	const struct nlattr *epoch = r->tb[TORUS_A_ROOT_EPOCH];
	int err = check_writer(hw, r);

	if (err)
		return err;
	err = hw->ops->rows_commit(hw, torus_req_version(r));
	if (!err) {
		hw->rows_writer = 0;
		hw->rows_epoch = epoch ? torus_attr_number(epoch) : 0;
		hw->rows_gen++;
	}
	return torus_req_version_error(hw, r, err);
}

/* --- get ------------------------------------------------------------------------------ */

/* Sets the bounds of a dump from FIRST and COUNT. */
int torus_req_rows_dump(struct torus_hw *hw, struct torus_req *r, struct torus_parts *p)
{
	const struct nlattr *first = r->tb[TORUS_A_FIRST], *count = r->tb[TORUS_A_COUNT];
	u32 total = 0;
	u64 version;
	int err = torus_req_placed(hw, r);

	if (err)
		return err;
	if (!hw->ops->rows_get)
		return torus_refuse(&r->why, -EOPNOTSUPP, NULL,
				    "ROWS_GET: this NIC cannot do that");
	hw->ops->rows(hw, &total, &version);
	p->next = first ? (u32)torus_attr_number(first) : 0;
	if (p->next >= total)
		return torus_refuse(&r->why, -ERANGE, first, "FIRST is %u, must be 0 to %u",
				    p->next, total - 1);
	p->end = total;
	if (count && torus_attr_number(count) < total - p->next)
		p->end = p->next + (u32)torus_attr_number(count);
	return 0;
}

/* Writes the head of an attribute of @len bytes to @at. Return: the address of its value. */
static u8 *put_head(u8 *at, unsigned int type, size_t len)
{
	struct nlattr a = { .nla_len = (u16)(TORUS_ATTR_HEAD + len), .nla_type = (u16)type };

	memcpy(at, &a, sizeof(a));
	return at + TORUS_ATTR_HEAD;
}

/*
 * Writes the attributes of a message with @n rows that precede the rows. Return: the address for
 * the rows.
 */
static u8 *put_rows_head(u8 *at, u64 version, u32 first, u32 n)
{
	size_t rows = n * sizeof(u64);

	at = put_head(at, TORUS_A_VERSION, sizeof(version));
	memcpy(at, &version, sizeof(version));
	at = put_head(at + sizeof(version), TORUS_A_ROWS | NLA_F_NESTED,
		      TORUS_ATTR_HEAD + sizeof(first) + TORUS_ATTR_HEAD + rows);
	at = put_head(at, TORUS_ROWS_FIRST, sizeof(first));
	memcpy(at, &first, sizeof(first));
	return put_head(at + sizeof(first), TORUS_ROWS_DATA, rows);
}

/* Writes as many rows as fit. The dump ends if the NIC has got another place since it began. */
int torus_req_rows_part(struct torus_hw *hw, struct torus_parts *p, void *to, size_t room)
{
	u32 total = 0, n = p->end - p->next;
	u64 version;
	int err;

	if (!hw->ops->rows(hw, &total, &version) || total < p->end)
		return 0;
	n = n < PART_MAX ? n : PART_MAX;
	if (room < PART_HEAD + sizeof(u64))
		return -EMSGSIZE;
	if (n > (room - PART_HEAD) / sizeof(u64))
		n = (u32)((room - PART_HEAD) / sizeof(u64));
	err = hw->ops->rows_get(hw, p->next, n, put_rows_head(to, version, p->next, n));
	if (err)
		return err;
	p->next += n;
	return (int)(PART_HEAD + n * sizeof(u64));
}
