// SPDX-License-Identifier: LGPL-2.1-or-later
/* Routing rows, in the largest messages that both transports carry. */
#include "client.h"

/*
 * Lengths of attributes and nests have 16 bits; 64 bytes are for the headers and the small
 * attributes around the rows.
 */
#define ROWS_PER_MESSAGE ((TORUS_MSG_MAX - 64) / sizeof(uint64_t))
/* Bytes around a run of rows: nest, FIRST, header of DATA. */
#define RUN_HEAD	  16
#define NODES_PER_MESSAGE ((TORUS_MSG_MAX - 64) / sizeof(uint32_t))

static int send_version(struct torus_dev *dev, enum torus_cmd cmd, uint64_t version)
{
	struct nl_msg *msg = lt_msg(dev, cmd, 0);

	if (!msg || nla_put_u64(msg, TORUS_A_VERSION, version) || lt_put_root(dev, msg))
		return lt_drop(dev, msg);
	return lt_do(dev, msg, NULL, NULL);
}

int torus_rows_begin(struct torus_dev *dev, uint64_t version)
{
	return send_version(dev, TORUS_CMD_ROWS_BEGIN, version);
}

int torus_rows_commit(struct torus_dev *dev, uint64_t version)
{
	return send_version(dev, TORUS_CMD_ROWS_COMMIT, version);
}

static struct nl_msg *put_new(struct torus_dev *dev, uint64_t version, size_t bytes)
{
	struct nl_msg *msg = lt_msg(dev, TORUS_CMD_ROWS_PUT, bytes);

	if (msg && !nla_put_u64(msg, TORUS_A_VERSION, version))
		return msg;
	nlmsg_free(msg);
	return NULL;
}

static int put_run(struct nl_msg *msg, uint32_t first, const uint64_t *rows, uint32_t n)
{
	struct nlattr *nest = nla_nest_start(msg, TORUS_A_ROWS);

	if (!nest || nla_put_u32(msg, TORUS_ROWS_FIRST, first) ||
	    nla_put(msg, TORUS_ROWS_DATA, (int)(n * sizeof(*rows)), rows))
		return -ENOMEM;
	nla_nest_end(msg, nest);
	return 0;
}

int torus_rows_put(struct torus_dev *dev, uint64_t version, uint32_t first,
		   const uint64_t *rows, uint32_t n)
{
	int err = 0;

	while (n && !err) {
		uint32_t some = n < ROWS_PER_MESSAGE ? n : ROWS_PER_MESSAGE;
		struct nl_msg *msg = put_new(dev, version, some * sizeof(*rows));

		if (!msg || put_run(msg, first, rows, some))
			return lt_drop(dev, msg);
		err = lt_do(dev, msg, NULL, NULL);
		first += some;
		rows += some;
		n -= some;
	}
	return err;
}

/* Return: number of consecutive node ids at the start of @node. */
static uint32_t run_length(const uint32_t *node, uint32_t n)
{
	uint32_t run = 1;

	while (run < n && node[run] == node[0] + run)
		run++;
	return run;
}

int torus_rows_put_list(struct torus_dev *dev, uint64_t version, const uint32_t *node,
			const uint64_t *rows, uint32_t n)
{
	int err = 0;

	while (n && !err) {
		size_t each = RUN_HEAD + sizeof(*rows), room = TORUS_MSG_MAX - 64;
		struct nl_msg *msg;

		if (n < room / each)
			room = n * each;
		msg = put_new(dev, version, room);
		while (msg && n && room >= each) {
			size_t fit = (room - RUN_HEAD) / sizeof(*rows);
			uint32_t run = run_length(node, n < fit ? n : (uint32_t)fit);

			if (put_run(msg, node[0], rows, run))
				return lt_drop(dev, msg);
			room -= RUN_HEAD + run * sizeof(*rows);
			node += run;
			rows += run;
			n -= run;
		}
		if (!msg)
			return lt_drop(dev, msg);
		err = lt_do(dev, msg, NULL, NULL);
	}
	return err;
}

/**
 * struct table - result of a dump of rows
 * @first: node id of @rows[0]
 * @rows: the caller's array
 * @room: number of entries of @rows
 * @n: rows received so far, which are consecutive
 * @parts: messages received so far
 * @version: version of the rows, the same in all messages
 */
struct table {
	uint64_t *rows;
	uint32_t first;
	uint32_t room;
	uint32_t n;
	uint32_t parts;
	uint64_t version;
};

static void table_restart(void *arg)
{
	struct table *t = arg;

	t->n = 0;
	t->parts = 0;
}

static int table_add(struct torus_dev *dev, struct nlattr *nest, struct table *t)
{
	static const struct nla_policy policy[TORUS_ROWS_MAX + 1] = {
		[TORUS_ROWS_FIRST] = { .type = NLA_U32, .minlen = 4, .maxlen = 4 },
		[TORUS_ROWS_DATA] = { .minlen = sizeof(uint64_t) },
	};
	struct nlattr *tb[TORUS_ROWS_MAX + 1];
	uint32_t first, n;

	if (nla_parse_nested(tb, TORUS_ROWS_MAX, nest, (struct nla_policy *)policy) < 0 ||
	    !tb[TORUS_ROWS_FIRST] || !tb[TORUS_ROWS_DATA] ||
	    nla_len(tb[TORUS_ROWS_DATA]) % (int)sizeof(uint64_t))
		return lt_fail(dev, -EBADMSG, "rows get: answered with malformed rows");
	first = nla_get_u32(tb[TORUS_ROWS_FIRST]);
	n = (uint32_t)nla_len(tb[TORUS_ROWS_DATA]) / sizeof(uint64_t);
	if (first != t->first + t->n || n > t->room - t->n)
		return lt_fail(dev, -EBADMSG,
			       "rows get: answered with rows %u to %u, expected %u rows from "
			       "row %u on",
			       first, first + n - 1, t->room - t->n, t->first + t->n);
	memcpy(t->rows + t->n, nla_data(tb[TORUS_ROWS_DATA]), n * sizeof(uint64_t));
	t->n += n;
	return 0;
}

static int table_reply(struct torus_dev *dev, struct nlattr **tb, struct nlmsghdr *nlh,
		       void *arg)
{
	struct genlmsghdr *g = nlmsg_data(nlh);
	struct table *t = arg;
	struct nlattr *attr;
	uint64_t version;
	int left, err;

	if (!tb[TORUS_A_VERSION])
		return lt_fail(dev, -EBADMSG, "rows get: answered without a version");
	version = nla_get_u64(tb[TORUS_A_VERSION]);
	if (t->parts++ && version != t->version)
		return -EAGAIN; /* rows were committed during the dump, which must be repeated */
	t->version = version;
	nla_for_each_attr(attr, genlmsg_attrdata(g, 0), genlmsg_attrlen(g, 0), left) {
		if (nla_type(attr) != TORUS_A_ROWS)
			continue;
		err = table_add(dev, attr, t);
		if (err)
			return err;
	}
	return 0;
}

int torus_rows_get(struct torus_dev *dev, uint32_t first, uint64_t *rows, uint32_t *n,
		   uint64_t *version)
{
	struct table t = { .rows = rows, .first = first, .room = *n };
	struct nl_msg *msg = lt_msg(dev, TORUS_CMD_ROWS_GET, 0);
	int err;

	if (!msg || nla_put_u32(msg, TORUS_A_FIRST, first) ||
	    nla_put_u32(msg, TORUS_A_COUNT, *n))
		return lt_drop(dev, msg);
	err = lt_dump(dev, msg, table_reply, table_restart, &t);
	if (err)
		return err;
	*n = t.n;
	if (version)
		*version = t.version;
	return 0;
}

/* --- holds ----------------------------------------------------------------- */

int torus_hold(struct torus_dev *dev, const uint32_t *nodes, uint32_t n)
{
	int err = 0;

	while (n && !err) {
		uint32_t some = n < NODES_PER_MESSAGE ? n : NODES_PER_MESSAGE;
		struct nl_msg *msg = lt_msg(dev, TORUS_CMD_HOLD, some * sizeof(*nodes));

		if (!msg ||
		    nla_put(msg, TORUS_A_NODES, (int)(some * sizeof(*nodes)), nodes))
			return lt_drop(dev, msg);
		err = lt_do(dev, msg, NULL, NULL);
		nodes += some;
		n -= some;
	}
	return err;
}

int torus_release(struct torus_dev *dev, uint64_t version, bool give_up)
{
	struct nl_msg *msg = lt_msg(dev, TORUS_CMD_RELEASE, 0);

	if (!msg || nla_put_u64(msg, TORUS_A_VERSION, version) ||
	    (give_up && nla_put_flag(msg, TORUS_A_GIVE_UP)) || lt_put_root(dev, msg))
		return lt_drop(dev, msg);
	return lt_do(dev, msg, NULL, NULL);
}
