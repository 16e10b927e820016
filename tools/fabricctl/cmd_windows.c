// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <torus/rma.h>

#include "command.h"
#include "json.h"
#include "memory.h"
#include "number.h"
#include "output.h"
#include "table.h"

static const char *where;

/** struct rows - rows of the windows of all users */
struct rows {
	struct torus_rma_region_info *row;
	size_t n;
};

/* Keeps a region that has an address. Return: 0 or -ENOMEM */
static int keep_row(void *ctx, const struct torus_rma_region_info *r)
{
	struct rows *rows = ctx;
	struct torus_rma_region_info *row;

	if (!(r->flags & TORUS_RMA_AT))
		return 0;
	row = realloc(rows->row, (rows->n + 1) * sizeof(*row));
	if (!row)
		return -ENOMEM;
	rows->row = row;
	row[rows->n++] = *r;
	return 0;
}

static int by_user_and_address(const void *a, const void *b)
{
	const struct torus_rma_region_info *x = a, *y = b;

	if (x->job != y->job)
		return x->job < y->job ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void window_cells(struct table *t, const struct torus_rma_region_info *r)
{
	char access[ACCESS_TEXT_MAX], bytes[32];

	table_cell(t, STRONG, "%u", r->job);
	table_cell(t, PLAIN, "0x%012llx", (unsigned long long)r->addr);
	table_cell(t, PLAIN, "0x%012llx", (unsigned long long)(r->addr + r->bytes - 1));
	table_cell(t, PLAIN, "%s", bytes_text(r->bytes, bytes));
	table_cell(t, PLAIN, "%u", r->region);
	table_cell(t, PLAIN, "%s", access_text(r->access, access));
}

static void print_windows(const struct rows *rows)
{
	static const char *const columns[] = { ">USER", "FROM", "TO", ">SIZE", ">REGION",
					       "ACCESS", NULL };
	struct table *t = table_new(columns);

	for (size_t i = 0; i < rows->n; i++)
		window_cells(t, &rows->row[i]);
	table_print(t, "no region has an address");
}

static void show_windows_json(const struct rows *rows)
{
	json_t *list = json_array();

	for (size_t i = 0; i < rows->n; i++) {
		const struct torus_rma_region_info *r = &rows->row[i];

		json_array_append_new(list, json_pack("{si sI sI si so}", "user", r->job, "address",
						      (json_int_t)r->addr, "bytes",
						      (json_int_t)r->bytes, "region", r->region,
						      "access", access_json(r->access)));
	}
	json_show(list);
}

static int cmd_windows(struct ctl *ctl, int argc, char **argv)
{
	struct rows rows = { 0 };
	int err = torus_rma_regions(where, keep_row, &rows);

	(void)argc, (void)argv;
	if (err) {
		free(rows.row);
		return err == -ENOMEM ? fail("out of memory") :
		       memory_fail(where, err);
	}
	if (rows.n)
		qsort(rows.row, rows.n, sizeof(*rows.row), by_user_and_address);
	if (ctl->json)
		show_windows_json(&rows);
	else
		print_windows(&rows);
	free(rows.row);
	return OK;
}

static const struct opt opts[] = {
	{ OPT_TEXT, "rma", 0, "NIC", &where, 0, 0,
	  "the NIC: unix:PATH or dev:NAME; default: $TORUS_RMA, or the only one of this node" },
	{ .kind = OPT_END },
};

COMMAND(cmd_windows) = {
	.name = "windows",
	.args = "",
	.brief = "Addresses of remote memory at this node, and the regions behind them",
	.help = "Shows by which table the NIC translates addresses that other nodes use: for each\n"
		"user, the addresses that regions have, in order. Only root sees those of other\n"
		"users.\n"
		"Regions without an address, which others name by number and key, are in\n"
		"'regions'.",
	.opts = opts,
	.json = true,
	.run = cmd_windows,
};
