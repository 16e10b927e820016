/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lets one table of commands compile in two forms: genl_split_ops, where the do and the dump of a
 * command have an entry each, and, before Linux 6.2, genl_ops, where they share an entry.
 */
#include_next <net/genetlink.h>

#ifndef TORUS_COMPAT_GENETLINK_H
#define TORUS_COMPAT_GENETLINK_H

#ifdef TORUS_HAS_GENL_SPLIT_OPS

typedef struct genl_split_ops torus_genl_op;

#define TORUS_OP_POLICY(id, cap)					\
	.cmd = TORUS_CMD_##id, .flags = PERM_##id | (cap),				\
	.policy = torus_policies[TORUS_CMD_##id], .maxattr = TORUS_A_MAX
#define TORUS_OP_DO(id, do_fn)					\
	{ TORUS_OP_POLICY(id, GENL_CMD_CAP_DO), .doit = do_fn,	\
	  .pre_doit = pre_doit, .post_doit = post_doit }
#define TORUS_OP_DUMP(id, start_fn, dump_fn)			\
	{ TORUS_OP_POLICY(id, GENL_CMD_CAP_DUMP),		\
	  .start = start_fn, .dumpit = dump_fn }
#define TORUS_OP_DO_DUMP(id, do_fn, start_fn, dump_fn)		\
	TORUS_OP_DO(id, do_fn), TORUS_OP_DUMP(id, start_fn, dump_fn)
#define TORUS_FAMILY_OPS(table, pre, post)				\
	.split_ops = table, .n_split_ops = ARRAY_SIZE(table),

#else

typedef struct genl_ops torus_genl_op;

#define TORUS_OP_POLICY(id)					\
	.cmd = TORUS_CMD_##id, .flags = PERM_##id,				\
	.policy = torus_policies[TORUS_CMD_##id], .maxattr = TORUS_A_MAX
#define TORUS_OP_DO(id, do_fn)					\
	{ TORUS_OP_POLICY(id), .doit = do_fn }
#define TORUS_OP_DUMP(id, start_fn, dump_fn)			\
	{ TORUS_OP_POLICY(id), .start = start_fn, .dumpit = dump_fn }
#define TORUS_OP_DO_DUMP(id, do_fn, start_fn, dump_fn)		\
	{ TORUS_OP_POLICY(id), .doit = do_fn, .start = start_fn, .dumpit = dump_fn }
#define TORUS_FAMILY_OPS(table, pre, post)				\
	.ops = table, .n_ops = ARRAY_SIZE(table), .pre_doit = pre, .post_doit = post,

#endif

/*
 * Flags of a multicast group that only CAP_NET_ADMIN may join; before Linux 6.7 and 6.1.74 every
 * user can.
 */
#ifdef GENL_MCAST_CAP_NET_ADMIN
#define TORUS_MCAST_ADMIN	.flags = GENL_MCAST_CAP_NET_ADMIN
#else
#define TORUS_MCAST_ADMIN
#endif

/* Return: the attributes in the request of a dump. */
static inline struct nlattr **torus_dump_attrs(struct netlink_callback *cb)
{
#ifdef TORUS_HAS_GENL_INFO_DUMP
	return genl_info_dump(cb)->attrs;
#else
	return genl_dumpit_info(cb)->attrs;
#endif
}

#endif /* TORUS_COMPAT_GENETLINK_H */
