// SPDX-License-Identifier: GPL-2.0-only
/* DEVICE_GET, DEVICE_SET: the NIC, its name, its place in the torus. */
#include "../core/topo.h"
#include "request.h"

/* Attributes that a NIC has only after it got a place in a torus. */
static const struct torus_attrs place_attrs = { {
	[TORUS_A_NODE / 64] = 1ULL << TORUS_A_NODE % 64 | 1ULL << TORUS_A_VERSION % 64 |
		1ULL << TORUS_A_ROW_COUNT % 64 | 1ULL << TORUS_A_ROWS_EPOCH % 64,
} };

int torus_req_device_get(struct torus_hw *hw, struct torus_req *r)
{
	struct torus_device *out = &hw->reply.device;
	u64 version = 0;

	_Static_assert(TORUS_A_NODE / 64 == TORUS_A_ROW_COUNT / 64 &&
		       TORUS_A_NODE / 64 == TORUS_A_ROWS_EPOCH / 64, "one word");
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
	hw->ops->rows(hw, &out->row_count, &version);
	out->version = version;
	hw->ops->device_get(hw, out);
	r->without = hw->placed ? NULL : &place_attrs;
	return torus_req_answer(r, &torus_tree_device_get, 0);
}

static int request_shape(const struct torus_hw *hw, struct torus_req *r, struct torus_shape *shape)
{
	const struct nlattr *s = r->tb[TORUS_A_SHAPE], *c = r->tb[TORUS_A_COORDS];
	unsigned int n;

	if (!s || !c)
		return torus_refuse(&r->why, -EINVAL, s ? s : c, "SHAPE and COORDS go together");
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
					    "COORDS[%u] is %u, allowed 0 to %u", i, at->c[i],
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

int torus_req_device_place(struct torus_hw *hw, struct torus_req *r)
{
	struct torus_coords at;
	struct torus_shape shape;
	int err;

	if (!r->tb[TORUS_A_SHAPE] && !r->tb[TORUS_A_COORDS])
		return 0;
	err = request_shape(hw, r, &shape);
	if (!err)
		err = get_coords(r, &shape, &at);
	if (err || is_device_there(hw, &shape, &at))
		return err;
	if (!hw->ops->place)
		return -EOPNOTSUPP;
	err = hw->ops->place(hw, &shape, &at);
	if (err)
		return torus_refuse(&r->why, err, NULL, err == -ENOMEM ?
				    "no memory for tables of this shape" :
				    "the NIC refused its place");
	hw->shape = shape;
	hw->at = at;
	hw->node = tn_node_id(&shape, &at);
	hw->placed = true;
	hw->rows_epoch = 0;
	hw->rows_gen++;
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
