// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>

#include "ask.h"
#include "json.h"
#include "output.h"
#include "replace.h"
#include "tools/metrics/metrics.h"

static bool openmetrics;
static const char *output;

static int show_metrics(const struct ctl *ctl, const json_t *answer)
{
	char *text;
	int status = OK;

	if (ctl->json) {
		json_show(metrics_families(answer));
		return OK;
	}
	text = metrics_text(answer, openmetrics ? METRICS_OPENMETRICS : METRICS_PROMETHEUS);
	if (!text)
		return fail("out of memory");
	if (output)
		status = replace_file(output, text);
	else
		fputs(text, stdout);
	free(text);
	return status;
}

static int ask_metrics(struct ask *a, const char *node, json_t **data)
{
	json_t *request = json_pack("{ss}", "cmd", "metrics");
	char coords[TORUS_TEXT_MAX];
	int status = OK;

	if (node)
		status = ask_node(a, node, coords);
	if (status != OK) {
		json_decref(request);
		return status;
	}
	if (node)
		json_object_set_new(request, "node", json_string(coords));
	return ask(a, request, data);
}

static int cmd_metrics(struct ctl *ctl, int argc, char **argv)
{
	struct ask a;
	json_t *data;
	int status;

	if (ctl->json && (openmetrics || output))
		return fail("--json prints JSON: leave out %s",
			    output ? "--output" : "--openmetrics");
	status = ask_open(ctl, &a);
	if (status != OK)
		return status;
	status = ask_metrics(&a, argc ? argv[0] : NULL, &data);
	if (status == OK) {
		status = show_metrics(ctl, data);
		json_decref(data);
	}
	ask_close(&a);
	return status;
}

static const struct opt opts[] = {
	{ OPT_FLAG, "openmetrics", 0, NULL, &openmetrics, 0, 0,
	  "in the format of OpenMetrics 1.0" },
	{ OPT_TEXT, "output", 'o', "FILE", &output, 0, 0,
	  "write FILE, at once as a whole, for a collector that reads files" },
	{ .kind = OPT_END },
};

COMMAND(cmd_metrics) = {
	.name = "metrics",
	.args = "[NODE]",
	.brief = "Counters of a node's NIC and manager for Prometheus",
	.help = "Without NODE, of the node whose manager is asked: it answers without the root.\n"
		"Those of the root's manager have the whole fabric summed up, too.",
	.opts = opts,
	.max = 1,
	.asks = true,
	.json = true,
	.run = cmd_metrics,
};
