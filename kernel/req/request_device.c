// SPDX-License-Identifier: GPL-2.0-only
/* DEVICE_GET, DEVICE_SET: the NIC, its name, its place in the torus. */
#include "../core/plan.h"
#include "../core/topo.h"
#include "request.h"

/* Attributes that a NIC has only after it got a place in a torus, and those of an address plan. */
#define PLACE_ATTRS (1ULL << TORUS_A_NODE % 64 | 1ULL << TORUS_A_VERSION % 64 | \
		     1ULL << TORUS_A_ROW_COUNT % 64 | 1ULL << TORUS_A_ROWS_EPOCH % 64)
#define PLAN_ATTRS (1ULL << TORUS_A_NET4 % 64 | 1ULL << TORUS_A_NET4_LEN % 64 | \
		    1ULL << TORUS_A_NET6 % 64 | 1ULL << TORUS_A_NET6_LEN % 64)

static const struct torus_attrs no_place = { { [TORUS_A_NODE / 64] = PLACE_ATTRS } };
static const struct torus_attrs no_plan = { { [TORUS_A_NET4 / 64] = PLAN_ATTRS } };
static const struct torus_attrs neither = { {
	[TORUS_A_NODE / 64] = PLACE_ATTRS,
	[TORUS_A_NET4 / 64] = PLAN_ATTRS,
} };

/* Return: the attributes that a reply about this NIC must omit; NULL if there is none. */
static const struct torus_attrs *attrs_lacked(const struct torus_hw *hw)
{
	if (hw->placed)
		return hw->ops->plan ? NULL : &no_plan;
	return hw->ops->plan ? &no_place : &neither;
}

int torus_req_device_get(struct torus_hw *hw, struct torus_req *r)
{
	struct torus_device *out = &hw->reply.device;
	u64 version = 0;

	_Static_assert(TORUS_A_NODE / 64 == TORUS_A_ROW_COUNT / 64 &&
		       TORUS_A_NODE / 64 == TORUS_A_ROWS_EPOCH / 64 &&
		       TORUS_A_NODE / 64 != TORUS_A_NET4 / 64 &&
		       TORUS_A_NET4 / 64 == TORUS_A_NET6_LEN / 64, "one word each");
	*out = (struct torus_device) {
		.ifindex = hw->ifindex,
		.guid = hw->guid,
		.epoch = hw->epoch,
		.nports = hw->nports,
		.bootstrap = hw->bootstrap,
		.placed = hw->placed,
		.node = hw->node,
		.root_epoch = hw->root_epoch,
		.root_guid = hw->root_guid,
		.rows_epoch = hw->rows_epoch,
	};
	memcpy(out->name, hw->name, sizeof(out->name));
	memcpy(out->ifname, hw->ifname, sizeof(out->ifname));
	memcpy(out->driver, hw->driver, strnlen(hw->driver, sizeof(out->driver) - 1));
	if (hw->placed) {
		out->shape = hw->shape;
		out->coords = hw->at;
	}
	if (hw->ops->plan)
		out->plan = hw->plan;
	hw->ops->rows(hw, &out->row_count, &version);
	out->version = version;
	hw->ops->device_get(hw, out);
	r->without = attrs_lacked(hw);
	return torus_req_answer(r, &torus_tree_device_get, 0);
}

static int request_shape(const struct torus_hw *hw, struct torus_req *r, struct torus_shape *shape)
{
	const struct nlattr *s = r->tb[TORUS_A_SHAPE], *c = r->tb[TORUS_A_COORDS];
	unsigned int n;

	if (!s || !c)
		return torus_refuse(&r->why, -EINVAL, s ? s : c,
				    "SHAPE and COORDS must be given together");
	n = torus_attr_len(s) / sizeof(u16);
	if (torus_attr_len(c) != torus_attr_len(s))
		return torus_refuse(&r->why, -EINVAL, c, "COORDS has %u entries, SHAPE %u",
				    torus_attr_len(c) / (unsigned int)sizeof(u16), n);
	if (n > hw->nports / 2u)
		return torus_refuse(&r->why, -EINVAL, s,
				    "SHAPE has %u dimensions, %u ports allow 1 to %u", n,
				    hw->nports, hw->nports / 2u);
	*shape = (struct torus_shape) { .ndims = (u8)n };
	for (unsigned int i = 0; i < TORUS_MAX_DIMS; i++)
		shape->size[i] = 1;
	memcpy(shape->size, torus_attr_data(s), n * sizeof(u16));
	if (!tn_shape_nodes(shape))
		return torus_refuse(&r->why, -EINVAL, s,
				    "SHAPE: sizes must be 1 to %d, %d nodes at most",
				    TORUS_MAX_SIZE, TORUS_MAX_NODES);
	return 0;
}

static int get_coords(struct torus_req *r, const struct torus_shape *shape,
		      struct torus_coords *at)
{
	const struct nlattr *c = r->tb[TORUS_A_COORDS];

	*at = (struct torus_coords) { 0 };
	memcpy(at->c, torus_attr_data(c), torus_attr_len(c));
	for (unsigned int i = 0; i < shape->ndims; i++)
		if (at->c[i] >= shape->size[i])
			return torus_refuse(&r->why, -ERANGE, c,
					    "COORDS[%u] is %u, must be 0 to %u", i, at->c[i],
					    shape->size[i] - 1u);
	return 0;
}

static bool is_device_there(const struct torus_hw *hw, const struct torus_shape *shape,
			    const struct torus_coords *at)
{
	return hw->placed && hw->shape.ndims == shape->ndims &&
	       !memcmp(hw->shape.size, shape->size, sizeof(shape->size)) &&
	       !memcmp(hw->at.c, at->c, sizeof(at->c));
}

static int take_place(struct torus_hw *hw, struct torus_req *r, const struct torus_shape *shape,
		      const struct torus_coords *at)
{
	int err;

	if (is_device_there(hw, shape, at))
		return 0;
	if (!hw->ops->place)
		return -EOPNOTSUPP;
	err = hw->ops->place(hw, shape, at);
	if (err)
		return torus_refuse(&r->why, err, NULL, err == -ENOMEM ?
				    "no memory for tables of this shape" :
				    "the NIC refused its place");
	hw->shape = *shape;
	hw->at = *at;
	hw->node = tn_node_id(shape, at);
	hw->placed = true;
	hw->rows_epoch = 0;
	hw->rows_gen++;
	return 0;
}

/*
 * Gets the address plan of a request. If the request has none, it is the present plan; but if it
 * sets a new place (@moves), it comes from a manager that supports only the default plan.
 */
static int request_plan(const struct torus_hw *hw, struct torus_req *r, bool moves,
			struct torus_plan *plan)
{
	const struct nlattr *net4 = r->tb[TORUS_A_NET4], *len4 = r->tb[TORUS_A_NET4_LEN];
	const struct nlattr *net6 = r->tb[TORUS_A_NET6], *len6 = r->tb[TORUS_A_NET6_LEN];

	*plan = moves && hw->ops->plan ? tn_plan_default : hw->plan;
	if (!net4 && !len4 && !net6 && !len6)
		return 0;
	if (!net4 || !len4 || !net6 || !len6)
		return torus_refuse(&r->why, -EINVAL, net4 ? net4 : net6,
				    "NET4, NET4_LEN, NET6 and NET6_LEN must be given together");
	if (!hw->ops->plan)
		return -EOPNOTSUPP;
	memcpy(plan->net4, torus_attr_data(net4), sizeof(plan->net4));
	plan->len4 = (u8)torus_attr_number(len4);
	memcpy(plan->net6, torus_attr_data(net6), sizeof(plan->net6));
	plan->len6 = (u8)torus_attr_number(len6);
	if (!tn_plan_valid4(plan))
		return torus_refuse(&r->why, -EINVAL, net4,
				    "NET4: must be a prefix of unicast addresses, without bits after NET4_LEN");
	if (!tn_plan_valid6(plan))
		return torus_refuse(&r->why, -EINVAL, net6,
				    "NET6: must be a prefix of unicast addresses, without bits after NET6_LEN");
	return 0;
}

/* Refuses a plan that has no address for some node of the NIC's shape. */
static int check_plan(const struct torus_hw *hw, struct torus_req *r,
		      const struct torus_plan *plan, const struct torus_shape *shape)
{
	if (!hw->ops->plan || !shape->ndims)
		return 0;
	if (!tn_plan_holds4(plan, shape))
		return torus_refuse(&r->why, -EINVAL, r->tb[TORUS_A_NET4_LEN],
				    "NET4_LEN is %u: too long a prefix for %u nodes", plan->len4,
				    tn_shape_nodes(shape));
	if (!tn_plan_holds6(plan, shape))
		return torus_refuse(&r->why, -EINVAL, r->tb[TORUS_A_NET6_LEN],
				    "NET6_LEN is %u: too long a prefix for %u nodes", plan->len6,
				    tn_shape_nodes(shape));
	return 0;
}

int torus_req_device_place(struct torus_hw *hw, struct torus_req *r)
{
	bool places = r->tb[TORUS_A_SHAPE] || r->tb[TORUS_A_COORDS];
	struct torus_shape shape = { 0 };
	struct torus_coords at;
	struct torus_plan plan;
	int err = 0;

	if (places)
		err = request_shape(hw, r, &shape);
	else if (hw->placed)
		shape = hw->shape;
	if (!err && places)
		err = get_coords(r, &shape, &at);
	if (!err)
		err = request_plan(hw, r, places && !is_device_there(hw, &shape, &at), &plan);
	if (!err)
		err = check_plan(hw, r, &plan, &shape);
	if (!err && places)
		err = take_place(hw, r, &shape, &at);
	if (err || !memcmp(&plan, &hw->plan, sizeof(plan)))
		return err;
	hw->ops->plan(hw, &plan);
	hw->plan = plan;
	return 0;
}

void torus_req_label(struct torus_hw *hw, const struct torus_req *r)
{
	const struct nlattr *name = r->tb[TORUS_A_NAME], *bootstrap = r->tb[TORUS_A_BOOTSTRAP];

	if (name) {
		const char *text = torus_attr_data(name);

		memset(hw->name, 0, sizeof(hw->name));
		memcpy(hw->name, text, strnlen(text, sizeof(hw->name) - 1));
	}
	if (bootstrap)
		hw->bootstrap = torus_attr_number(bootstrap);
}
