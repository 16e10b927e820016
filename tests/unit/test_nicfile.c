// SPDX-License-Identifier: GPL-2.0-only
/* The file of a NIC: valid files are read, invalid ones are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tools/fabricctl/nicfile.h"

const struct program this_program = { .name = "test_nicfile" };

static int nicfile_of(struct nicfile *f, const char *text)
{
	char path[] = "/tmp/nicfileXXXXXX";
	int fd = mkstemp(path), status;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	status = nicfile_read(f, path, "torus0");
	unlink(path);
	return status;
}

static void missing_keys_have_defaults(void **state)
{
	struct nicfile f;

	(void)state;
	assert_int_equal(nicfile_of(&f, ""), OK);
	assert_string_equal(f.spec.ifname, "torus0");
	assert_null(f.spec.name);
	assert_int_equal(f.spec.ports, 6);
	assert_int_equal(f.spec.guid, 0);
	assert_false(f.spec.bootstrap);
	assert_int_equal(f.mtu, 9000);
	for (unsigned int p = 0; p < TORUS_MAX_PORTS; p++)
		assert_string_equal(f.lower[p], "");
}

/* Ports may be given before their number. */
static void right_file_sets_each_value(void **state)
{
	struct nicfile f;

	(void)state;
	assert_int_equal(nicfile_of(&f, "# a comment\n"
				    "+x = eth1 ; why\n-x=eth2\n  +y = eth3 \n-y = eth4\n"
				    "ports = 4\nbootstrap = yes\nguid = 1f\nname = left\n"
				    "park_bytes = 16M\nsilence = 2s\nmtu = 4144"), OK);
	assert_int_equal(f.spec.ports, 4);
	assert_true(f.spec.bootstrap);
	assert_int_equal(f.spec.guid, 0x1f);
	assert_string_equal(f.spec.name, "left");
	assert_string_equal(f.spec.sets[0], "park_bytes=16M");
	assert_string_equal(f.spec.sets[1], "silence=2s");
	assert_null(f.spec.sets[2]);
	assert_int_equal(f.mtu, 4144);
	assert_string_equal(f.lower[0], "eth1");
	assert_string_equal(f.lower[1], "eth3");
	assert_string_equal(f.lower[2], "eth2");
	assert_string_equal(f.lower[3], "eth4");
}

static unsigned int param_number(const char *name)
{
	for (unsigned int i = 0; i < TN_PARAMS; i++)
		if (!strcmp(tn_param_list[i].name, name))
			return i;
	fail_msg("no parameter %s", name);
	return 0;
}

/* A parameter is compared with the file, if that names it. */
static void only_named_parameters_are_compared(void **state)
{
	unsigned int silence = param_number("silence"), park = param_number("park_bytes");
	struct nicfile f;
	uint64_t wanted;

	(void)state;
	assert_int_equal(nicfile_of(&f, "silence = 2s\npark_bytes = 32M\n"), OK);
	for (unsigned int i = 0; i < TN_PARAMS; i++) {
		assert_int_equal(nicfile_differs(&f, i, 350000000, &wanted), i == silence || i == park);
		assert_false(nicfile_differs(&f, i, UINT64_MAX, &wanted));
	}
	assert_true(nicfile_differs(&f, silence, 2000000001, &wanted));
	assert_int_equal(wanted, 2000000000);
	assert_false(nicfile_differs(&f, silence, 2000000000, &wanted));
	assert_true(nicfile_differs(&f, park, 16 << 20, &wanted));
	assert_int_equal(wanted, 32 << 20);
	assert_false(nicfile_differs(&f, park, 32 << 20, &wanted));
}

/*
 * Parameters are compared with each other. Defaults of times and sizes differ between NICs: a
 * parameter that contradicts a default of some NIC is not refused.
 */
static void parameters_are_checked_against_each_other(void **state)
{
	static const char *const text[] = {
		"slots = 1\nbubble = mbs", "bubble = cbs\nslots = 2", "slots = 4",
		"silence = 2s\nkeepalive = 1s", "keepalive = 400ms", "silence = 50ms",
		"ack_delay = 30ms", "replay_timeout = 30ms\nack_delay = 25ms", "margin_train = 90",
	};
	static const char *const sets[] = { "slots=4", "bubble=cbs", "slots=1", NULL };
	char why[PARAM_WHY_MAX];
	struct nicfile f;

	(void)state;
	for (unsigned int i = 0; i < sizeof(text) / sizeof(text[0]); i++)
		if (nicfile_of(&f, text[i]) != OK)
			fail_msg("'%s' is refused", text[i]);
	assert_ptr_equal(params_compare(sets, why, sizeof(why)), &tn_param_list[param_number("slots")]);
	assert_string_equal(why, "slots: 1 is out of range, must be 2 to 1024 with bubble=cbs");
	assert_null(params_compare(sets + 3, why, sizeof(why)));
}

/* A list of DSCPs is a mask with a bit for each, and is written as it is read. */
static void list_of_dscps_is_mask(void **state)
{
	static const struct { const char *list; uint64_t mask; const char *written; } t[] = {
		{ "none", 0, "none" }, { "0", 1, "0" }, { "63", 1ull << 63, "63" },
		{ "0-63", UINT64_MAX, "0-63" }, { "8,10-12", 0x1d00, "8,10-12" },
		{ "12,8,10-11,8", 0x1d00, "8,10-12" }, { "5-5", 0x20, "5" },
	};
	static const char *const wrong[] = {
		"", "64", "-1", "8,", ",8", "8-", "9-8", "8,,9", "8 9", "8-64", "0x8", "none,8", "8-9-10",
		"99999999999999999999",
	};
	const struct tn_param *vca = &tn_param_list[param_number("dscp_vca")];
	char text[NICFILE_SET_MAX], why[PARAM_WHY_MAX];
	uint64_t v = 7;

	(void)state;
	for (unsigned int i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		snprintf(text, sizeof(text), "dscp_vca=%s", t[i].list);
		assert_ptr_equal(param_parse(text, &v, why, sizeof(why)), vca);
		assert_true(v == t[i].mask);
		assert_string_equal(param_text(vca, v, why), t[i].written);
	}
	assert_true(strlen(param_text(vca, 0x5555555555555555ull, why)) < PARAM_TEXT_MAX);
	for (unsigned int i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(text, sizeof(text), "dscp_vca=%s", wrong[i]);
		assert_null(param_parse(text, &v, why, sizeof(why)));
		assert_non_null(strstr(why, "is not none, or DSCPs from 0 to 63 such as 8,10-12"));
	}
}

/* Every port of a NIC of every size has its number. */
static void each_port_of_each_nic_has_its_number(void **state)
{
	static const char letter[] = "xyzabc";
	char text[256], want[IFNAMSIZ];
	struct nicfile f;

	(void)state;
	for (unsigned int n = 1; n <= TORUS_MAX_DIMS; n++) {
		int len = snprintf(text, sizeof(text), "ports = %u\n", 2 * n);

		for (unsigned int d = 0; d < n; d++)
			len += snprintf(text + len, sizeof(text) - (size_t)len,
					"-%c = e%u\n+%c = e%u\n", letter[d], n + d, letter[d], d);
		assert_int_equal(nicfile_of(&f, text), OK);
		for (unsigned int p = 0; p < 2 * n; p++) {
			snprintf(want, sizeof(want), "e%u", p);
			assert_string_equal(f.lower[p], want);
		}
	}
}

static void each_wrong_line_is_refused(void **state)
{
	static const char *const text[] = {
		"ports = 3", "ports = 0", "ports = 14", "ports = four", "ports =",
		"bootstrap = 1", "bootstrap", "guid = 0", "guid = xyz",
		"guid = 10000000000000000", "name =", "retry = pcie", "retry = 1", "park_bytes = 0", "park_bytes = 16Q", "silence = 350", "silence = 2h",
		"mtu = 1071", "mtu = 65536", "mtu = -1",
		"+x =", "+x = a/b", "+x = sixteen_bytes_xx", "+q = eth1", "x = eth1",
		"+y = eth1\nports = 2", "+x = eth1\n-x = eth1", "+x = eth1\n+x = eth2",
		"slots = 3", "slots = 1\nbubble = cbs", "keepalive = 2s\nsilence = 2s",
		"payload_max = 16368\npark_bytes = 16K",
		"ports = 4\nports = 4", "shape = 4x4", "[nic]\nports = 4", "??",
	};
	struct nicfile f;
	char longest[256];

	(void)state;
	for (unsigned int i = 0; i < sizeof(text) / sizeof(text[0]); i++)
		if (nicfile_of(&f, text[i]) != CANNOT)
			fail_msg("'%s' is taken", text[i]);
	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	memcpy(longest, "name = ", 7);
	assert_int_equal(nicfile_of(&f, longest), CANNOT);
	assert_int_equal(nicfile_read(&f, "/nonexistent/torus0.conf", "torus0"), CANNOT);
	assert_int_equal(nicfile_read(&f, "/", "torus0"), CANNOT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing_keys_have_defaults),
		cmocka_unit_test(right_file_sets_each_value),
		cmocka_unit_test(only_named_parameters_are_compared),
		cmocka_unit_test(parameters_are_checked_against_each_other),
		cmocka_unit_test(list_of_dscps_is_mask),
		cmocka_unit_test(each_port_of_each_nic_has_its_number),
		cmocka_unit_test(each_wrong_line_is_refused),
	};

	return cmocka_run_group_tests_name("nicfile", tests, NULL, NULL);
}
