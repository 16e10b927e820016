// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>
#include <torus/rma.h>

#include "command.h"
#include "json.h"
#include "memory.h"
#include "number.h"
#include "output.h"
#include "table.h"

static const char *where;
static bool waiting;

static const char *const states[] = { "empty", "full", "any state", "?" };

/* --- regions ------------------------------------------------------------------------ */

static void region_cells(struct table *t, const struct torus_rma_region_info *r)
{
	char text[ACCESS_TEXT_MAX], bytes[32], addr[32] = "";

	table_cell(t, STRONG, "%u", r->region);
	table_cell(t, PLAIN, "%u", r->job);
	table_cell(t, PLAIN, "%u", r->context);
	if (r->flags & TORUS_RMA_AT)
		snprintf(addr, sizeof(addr), "0x%llx", (unsigned long long)r->addr);
	table_cell(t, PLAIN, "%s", table_or_dash(addr));
	table_cell(t, PLAIN, "%s", bytes_text(r->bytes, bytes));
	table_cell(t, PLAIN, "%s", access_text(r->access, text));
	table_cell(t, PLAIN, "%s", r->flags & TORUS_RMA_HAS_FE ? "full/empty" : "-");
	table_cell(t, PLAIN, "%u", r->waits);
}

static int add_region(void *ctx, const struct torus_rma_region_info *r)
{
	region_cells(ctx, r);
	return 0;
}

static int append_region(void *ctx, const struct torus_rma_region_info *r)
{
	json_t *region = json_pack("{si si si sI so sb si}", "region", r->region, "user", r->job,
				   "context", r->context, "bytes", (json_int_t)r->bytes, "access",
				   access_json(r->access), "full_empty",
				   !!(r->flags & TORUS_RMA_HAS_FE), "waiting", r->waits);

	if (r->flags & TORUS_RMA_AT)
		json_object_set_new(region, "address", json_integer((json_int_t)r->addr));
	json_array_append_new(ctx, region);
	return 0;
}

/* --- requests that wait ---------------------------------------------------------------- */

/* Writes what a request waits for. Return: @buf */
static char *condition_text(const struct torus_rma_wait_info *w, char *buf, size_t size)
{
	static const char *const compares[] = { "==", "!=", "<", "<=", ">", ">=", "?", "?" };

	if ((w->word & 7) == TORUS_RMA_WAIT && w->word & 1 << 14)
		snprintf(buf, size, "%s %lld", compares[w->word >> 7 & 7], (long long)w->operand);
	else if ((w->word & 7) == TORUS_RMA_WAIT)
		snprintf(buf, size, "%s %llu", compares[w->word >> 7 & 7],
			 (unsigned long long)w->operand);
	else
		snprintf(buf, size, "%s", states[w->word >> 3 & 3]);
	return buf;
}

static const char *operation_text(const struct torus_rma_wait_info *w)
{
	static const char *const names[] = { "read", "write", "update", "wait" };

	return (w->word & 7) < 4 ? names[w->word & 7] : "?";
}

static int add_wait_row(void *ctx, const struct torus_rma_wait_info *w)
{
	char condition[48], since[32];

	table_cell(ctx, STRONG, "%u", w->region);
	table_cell(ctx, PLAIN, "%llu", (unsigned long long)w->offset);
	table_cell(ctx, PLAIN, "%llu", (unsigned long long)w->value);
	table_cell(ctx, PLAIN, "%s", states[w->full]);
	table_cell(ctx, PLAIN, "%u", w->node);
	table_cell(ctx, PLAIN, "%u", w->job);
	table_cell(ctx, PLAIN, "%s", operation_text(w));
	table_cell(ctx, PLAIN, "%s", condition_text(w, condition, sizeof(condition)));
	table_cell(ctx, PLAIN, "%s", duration_text((double)w->age_ns / 1e9, since));
	return 0;
}

static int append_wait(void *ctx, const struct torus_rma_wait_info *w)
{
	char condition[48];

	json_array_append_new(ctx, json_pack("{si sI sI sb si si ss ss sf}", "region", w->region,
					     "offset", (json_int_t)w->offset, "value",
					     (json_int_t)w->value, "full", w->full, "node_id",
					     w->node, "user", w->job, "operation",
					     operation_text(w), "until",
					     condition_text(w, condition, sizeof(condition)),
					     "seconds", (double)w->age_ns / 1e9));
	return 0;
}

static int cmd_regions(struct ctl *ctl, int argc, char **argv)
{
	static const char *const regions[] = { ">REGION", ">USER", ">CONTEXT", ">ADDRESS", ">SIZE",
					       "ACCESS", "BITS", ">WAITING", NULL };
	static const char *const waits[] = { ">REGION", ">OFFSET", ">WORD", "STATE", ">NODE",
					     ">USER", "OPERATION", "WAITS FOR", ">SINCE", NULL };
	struct table *t = ctl->json ? NULL : table_new(waiting ? waits : regions);
	json_t *list = ctl->json ? json_array() : NULL;
	int err;

	(void)argc, (void)argv;
	if (waiting)
		err = torus_rma_waits(where, list ? append_wait : add_wait_row,
				      list ? (void *)list : t);
	else
		err = torus_rma_regions(where, list ? append_region : add_region,
					list ? (void *)list : t);
	if (err) {
		json_decref(list);
		table_free(t);
		return memory_fail(where, err);
	}
	if (list)
		json_show(list);
	else
		table_print(t, waiting ? "nothing waits" : "no regions");
	return OK;
}

static const struct opt opts[] = {
	{ OPT_FLAG, "waiting", 'w', NULL, &waiting, 0, 0,
	  "requests that wait for a word, oldest first" },
	{ OPT_TEXT, "rma", 0, "NIC", &where, 0, 0,
	  "the NIC: unix:PATH or dev:NAME; default: $TORUS_RMA, or the only one of this node" },
	{ .kind = OPT_END },
};

COMMAND(cmd_regions) = {
	.name = "regions",
	.args = "",
	.brief = "Memory that processes of this node share with other nodes",
	.help = "Shows the regions of this user, or of all users if you are root: whose they are,\n"
		"at which address and how large, what others may do with them, if their words\n"
		"have full/empty bits, and how many requests wait for a word. In a lab,\n"
		"'fabricctl lab exec NODE -- fabricctl regions' shows those of a node. NODE:\n"
		"number of the node from which a request came.",
	.opts = opts,
	.json = true,
	.run = cmd_regions,
};
