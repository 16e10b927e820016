// SPDX-License-Identifier: GPL-2.0-only
/*
 * Families and their text from answers that are written here; histograms and counts of the manager.
 * That real answers make text which Prometheus reads is in tests/netns/test_metrics.sh.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/meter.h"
#include "lib/util/times.h"
#include "tools/metrics/metrics.h"

static char *text_of(const char *json, enum metrics_format format)
{
	json_t *answer = json_loads(json, 0, NULL);
	char *text;

	assert_non_null(answer);
	text = metrics_text(answer, format);
	assert_non_null(text);
	json_decref(answer);
	return text;
}

static void has_line(const char *text, const char *line)
{
	size_t n = strlen(line);

	for (const char *p = text; (p = strstr(p, line)); p += n)
		if ((p == text || p[-1] == '\n') && p[n] == '\n')
			return;
	fail_msg("no line '%s' in:\n%s", line, text);
}

static void has_no(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("'%s' in:\n%s", part, text);
}

/* --- units ---------------------------------------------------------------------------- */

#define LINK(more) "{\"node\":[1,0],\"links\":[{\"port\":\"+x\",\"state\":\"up\"" more "}]}"

static void units_become_base_units(void **state)
{
	char *text = text_of(LINK(",\"ns_up\":1500000000,\"ns_down\":2,\"rate\":6250,\"margin\":110,"
				  "\"line_ber\":2000,\"waited\":250000000,\"tx_bytes\":7,"
				  "\"state_age\":3000000000,\"crc_errors\":18446744073"), METRICS_PROMETHEUS);

	(void)state;
	has_line(text, "torus_port_state_seconds_total{port=\"+x\",state=\"up\"} 1.5");
	has_line(text, "torus_port_state_seconds_total{port=\"+x\",state=\"down\"} 2e-09");
	has_line(text, "torus_port_rate_bytes_per_second{port=\"+x\"} 781250000");
	has_line(text, "torus_port_margin_ratio{port=\"+x\"} 1.1");
	has_line(text, "torus_port_line_ber_ratio{port=\"+x\"} 2e-15");
	has_line(text, "torus_port_waited_seconds{port=\"+x\"} 0.25");
	has_line(text, "torus_port_tx_bytes_total{port=\"+x\"} 7");
	has_line(text, "torus_link_state_age_seconds{port=\"+x\"} 3");
	has_line(text, "torus_port_crc_errors_total{port=\"+x\"} 18446744073");
	has_line(text, "# TYPE torus_port_state_seconds_total counter");
	free(text);
	text = text_of("{\"nic\":{\"host_bytes_tx\":9,\"uptime\":1.25}}", METRICS_PROMETHEUS);
	has_line(text, "torus_node_host_tx_bytes_total 9");
	has_line(text, "torus_node_uptime_seconds 1.25");
	free(text);
}

/* Samples of a family stand together below its head, though ports are read one after the other. */
static void families_stay_together(void **state)
{
	char *text = text_of("{\"links\":[{\"port\":\"+x\",\"state\":\"up\",\"retries\":1,\"tx_vca\":2,\"tx_vcd0\":3},"
			     "{\"port\":\"-x\",\"state\":\"faulty\",\"retries\":4,\"tx_vca\":5}]}", METRICS_PROMETHEUS);
	const char *head = strstr(text, "# TYPE torus_port_retries_total counter\n");

	(void)state;
	assert_non_null(head);
	assert_ptr_equal(strstr(head, "torus_port_retries_total{port=\"+x\"} 1\n"
				"torus_port_retries_total{port=\"-x\"} 4\n#"), strchr(head, '\n') + 1);
	assert_null(strstr(head + 1, "# TYPE torus_port_retries_total"));
	has_line(text, "torus_port_vc_tx_packets_total{port=\"+x\",vc=\"vcd0\"} 3");
	has_line(text, "torus_port_vc_tx_packets_total{port=\"-x\",vc=\"vca\"} 5");
	has_line(text, "torus_link_up{port=\"+x\"} 1");
	has_line(text, "torus_link_up{port=\"-x\"} 0");
	free(text);
}

/* --- text ------------------------------------------------------------------------------- */

#define HOSTILE "{\"node\":[0],\"name\":\"a\\\"b\\\\c\\nd\",\"links\":[],\"manager\":{\"epoch\":1}}"

static void text_is_escaped(void **state)
{
	char *text = text_of(HOSTILE, METRICS_PROMETHEUS);

	(void)state;
	has_line(text, "torus_node_info{node=\"0\",name=\"a\\\"b\\\\c\\nd\",guid=\"\",fabric=\"\",software=\"\"} 1");
	free(text);
}

static void each_format_has_its_own_headers_and_suffixes(void **state)
{
	const char *answer = "{\"name\":\"a\",\"manager\":{\"became_root\":2,\"rootless_for\":null}}";
	char *text = text_of(answer, METRICS_PROMETHEUS);

	(void)state;
	has_line(text, "# TYPE torus_manager_became_root_total counter");
	has_line(text, "# TYPE torus_node_info gauge");
	has_no(text, "# UNIT");
	has_no(text, "# EOF");
	free(text);
	text = text_of(answer, METRICS_OPENMETRICS);
	has_line(text, "# TYPE torus_manager_became_root counter");
	has_line(text, "torus_manager_became_root_total 2");
	has_line(text, "# TYPE torus_node info");
	has_line(text, "# UNIT torus_manager_rootless_seconds seconds");
	has_line(text, "torus_manager_rootless_seconds 0");
	assert_string_equal(text + strlen(text) - 6, "# EOF\n");
	free(text);
	assert_string_equal(metrics_type(METRICS_PROMETHEUS), "text/plain; version=0.0.4; charset=utf-8");
}

/* Managers of other releases lack keys, or have others; a NIC or a root may be away. */
static void missing_keys_make_no_samples(void **state)
{
	static const char *const answers[] = {
		"{}", "[]", "null", "{\"nic\":null,\"links\":null,\"manager\":null,\"fabric\":null}",
		"{\"nic\":{},\"links\":[{},{\"port\":\"+x\"},7],\"manager\":{},\"fabric\":{}}",
		"{\"nic\":{\"injected\":\"text\",\"flow\":{\"injected\":[\"x\"]}},\"links\":{},\"manager\":[]}",
		"{\"fabric\":{\"recoveries\":{\"duration\":{\"le\":7,\"count\":{},\"sum\":\"x\"}}}}",
	};
	char *text;

	(void)state;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		json_t *answer = json_loads(answers[i], JSON_DECODE_ANY, NULL);
		json_t *families = metrics_families(answer);

		assert_true(json_array_size(families));
		text = metrics_text(answer, METRICS_OPENMETRICS);
		assert_non_null(text);
		has_no(text, "torus_port_");
		has_no(text, "injected");
		free(text);
		json_decref(families);
		json_decref(answer);
	}
	text = text_of("{\"nic\":null}", METRICS_PROMETHEUS);
	has_line(text, "torus_node_nic_answers 0");
	free(text);
}

/* The same samples in both forms: names, labels and values as JSON are those of the text. */
static void families_as_json_have_the_samples_of_the_text(void **state)
{
	json_t *answer = json_loads(LINK(",\"retries\":3,\"ns_up\":500000000,\"lane\":[{\"state\":\"on\",\"margin\":110},"
					 "{\"state\":\"dead\",\"margin\":5}]"), 0, NULL);
	json_t *families = metrics_families(answer), *samples = NULL;
	static const char *const wanted[][2] = {
		{ "torus_port_retries", "[{\"labels\":{\"port\":\"+x\"},\"value\":3}]" },
		{ "torus_port_state_seconds", "[{\"labels\":{\"port\":\"+x\",\"state\":\"up\"},\"value\":0.5}]" },
		{ "torus_lane_margin_ratio", "[{\"labels\":{\"port\":\"+x\",\"lane\":\"0\"},\"value\":1.1}]" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		json_t *want = json_loads(wanted[i][1], 0, NULL), *family;
		size_t k;

		samples = NULL;
		json_array_foreach(families, k, family)
			if (!strcmp(json_string_value(json_object_get(family, "name")), wanted[i][0]))
				samples = json_object_get(family, "samples");
		if (!json_equal(samples, want))
			fail_msg("%s: %s", wanted[i][0], json_dumps(samples, 0));
		json_decref(want);
	}
	json_decref(families);
	json_decref(answer);
}

/* --- histograms -------------------------------------------------------------------------- */

static void histogram_is_cumulative(void **state)
{
	char *text = text_of("{\"manager\":{\"nic_call\":{\"le\":[0.001,0.5,null],\"count\":[3,0,2],\"sum\":4.5}},"
			     "\"fabric\":{\"recoveries\":{\"steps\":{\"drain\":{\"le\":[1,null],\"count\":[1,1],\"sum\":7}}}}}",
			     METRICS_PROMETHEUS);

	(void)state;
	has_line(text, "# TYPE torus_manager_nic_call_seconds histogram");
	has_line(text, "torus_manager_nic_call_seconds_bucket{le=\"0.001\"} 3");
	has_line(text, "torus_manager_nic_call_seconds_bucket{le=\"0.5\"} 3");
	has_line(text, "torus_manager_nic_call_seconds_bucket{le=\"+Inf\"} 5");
	has_line(text, "torus_manager_nic_call_seconds_sum 4.5");
	has_line(text, "torus_manager_nic_call_seconds_count 5");
	has_line(text, "torus_fabric_recovery_step_duration_seconds_bucket{step=\"drain\",le=\"+Inf\"} 2");
	has_line(text, "torus_fabric_recovery_step_duration_seconds_count{step=\"drain\"} 2");
	free(text);
}

static void value_equal_to_bound_counts_below_it(void **state)
{
	struct histogram h = { 0 };

	(void)state;
	for (unsigned int i = 0; i < HISTOGRAM_BOUNDS; i++) {
		assert_true(!i || histogram_bounds[i] > histogram_bounds[i - 1]);
		histogram_add(&h, histogram_bounds[i]);
		assert_int_equal(h.count[i], 1);
		histogram_add(&h, histogram_bounds[i] + 1);
		assert_int_equal(h.count[i + 1], 1);
		h.count[i + 1] = 0;
	}
	histogram_add(&h, 0);
	assert_int_equal(h.count[0], 2);
	assert_int_equal(histogram_total(&h), HISTOGRAM_BOUNDS + 1);
}

static void recoveries_are_counted_by_step(void **state)
{
	struct fm_recovery r = { .version = 1, .parked = 5, .replayed = 4, .lost = 1, .bounded = true };
	struct meter m = { 0 };

	(void)state;
	r.at[FM_AT_DETECTED] = 1 * SEC;
	r.at[FM_AT_TABLE] = 1 * SEC + 2 * MS;
	r.at[FM_AT_REBUILT] = 1 * SEC + 5 * MS;
	r.at[FM_AT_DRAINED] = 1 * SEC + 5 * MS;
	r.at[FM_AT_RESUMED] = 1 * SEC + 9 * MS;	/* nothing was parked: no replay */
	meter_recovery(&m, &r);
	assert_int_equal(m.step[FM_AT_TABLE].sum, 2 * MS);
	assert_int_equal(m.step[FM_AT_REBUILT].sum, 3 * MS);
	assert_int_equal(m.step[FM_AT_DRAINED].sum, 0);
	assert_int_equal(histogram_total(&m.step[FM_AT_DRAINED]), 1);
	assert_int_equal(histogram_total(&m.step[FM_AT_REPLAYED]), 0);
	assert_int_equal(m.step[FM_AT_RESUMED].sum, 4 * MS);
	assert_int_equal(m.recovery.sum, 9 * MS);
	r.bounded = false;
	meter_recovery(&m, &r);
	assert_int_equal(histogram_total(&m.recovery), 2);
	assert_int_equal(m.bounded, 1);
	assert_int_equal(m.parked, 10);
	assert_int_equal(m.replayed, 8);
	assert_int_equal(m.lost, 2);
}

static void becoming_root_is_counted_once(void **state)
{
	struct meter m = { 0 };

	(void)state;
	meter_root(&m, false);
	meter_root(&m, true);
	meter_root(&m, true);
	meter_root(&m, false);
	meter_root(&m, true);
	assert_int_equal(m.became_root, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(units_become_base_units),
		cmocka_unit_test(families_stay_together),
		cmocka_unit_test(text_is_escaped),
		cmocka_unit_test(each_format_has_its_own_headers_and_suffixes),
		cmocka_unit_test(missing_keys_make_no_samples),
		cmocka_unit_test(families_as_json_have_the_samples_of_the_text),
		cmocka_unit_test(histogram_is_cumulative),
		cmocka_unit_test(value_equal_to_bound_counts_below_it),
		cmocka_unit_test(recoveries_are_counted_by_step),
		cmocka_unit_test(becoming_root_is_counted_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
