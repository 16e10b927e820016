// SPDX-License-Identifier: GPL-2.0-only
/* The arguments of torusemu, as torusemu(8) and --help describe them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <cmocka.h>

#include "tools/torusemu/args.h"
#include "tools/torusemu/log.h"
#include "tools/torusemu/param.h"

static char manual[64 * 1024];

static int read_manual(void **state)
{
	FILE *f = fopen("tools/torusemu/torusemu.8", "r");
	size_t n;

	(void)state;
	if (!f)
		return -1;
	n = fread(manual, 1, sizeof(manual) - 1, f);
	fclose(f);
	/* Without the backslashes before hyphens */
	for (char *to = manual, *from = manual; from <= manual + n; from++)
		if (*from != '\\')
			*to++ = *from;
	return !n;
}

static void parse(struct args *a)
{
	static char words[][12] = { "torusemu", "--name=x", "--ports=2", "--socket=/x" };
	char *argv[] = { words[0], words[1], words[2], words[3], NULL };
	char why[ARGS_WHY_MAX];

	assert_int_equal(args_parse(a, 4, argv, why, sizeof(why)), ARGS_RUN);
}

/* The manual has the default value of each parameter. */
static void manual_has_default_of_each_parameter(void **state)
{
	char name[64], set[64], why[PARAM_WHY_MAX];
	struct args a;

	(void)state;
	parse(&a);
	for (const struct tn_param *p = tn_param_list; p < tn_param_list + TN_PARAMS; p++) {
		const char *at;
		uint64_t v;

		/* its default is that of the devices */
		if (p == &tn_param_list[TN_PARAM_FRAME_MAX])
			continue;
		snprintf(name, sizeof(name), " %s \" (", p->name);
		at = strstr(manual, name);
		if (!at)
			fail_msg("%s: not in the manual", p->name);
		at += strlen(name);
		snprintf(set, sizeof(set), "%s=%.*s", p->name, (int)strcspn(at, ")"), at);
		if (!param_parse(set, &v, why, sizeof(why)))
			fail_msg("%s", why);
		if (v != tn_param_get(&a.params, p))
			fail_msg("%s: the default is %llu", set,
				 (unsigned long long)tn_param_get(&a.params, p));
	}
	assert_non_null(strstr(manual, "default\n.BR info ."));
	assert_int_equal(a.log_level, LOG_INFO);
	assert_non_null(strstr(manual, "default\n.BR torus0 ."));
	assert_string_equal(a.tun, "torus0");
}

static void log_level_is_read_by_name(void **state)
{
	(void)state;
	assert_int_equal(log_level("error"), LOG_ERR);
	assert_int_equal(log_level("warning"), LOG_WARNING);
	assert_int_equal(log_level("info"), LOG_INFO);
	assert_int_equal(log_level("debug"), LOG_DEBUG);
	assert_int_equal(log_level("notice"), -1);
}

/* Return: true if a heading of the manual begins with this option, alone or with others. */
static bool has_heading(const char *option)
{
	static const char *const forms[] = { ".TP\n.B %s\n", ".TP\n.BI %s \" ", ".TP\n.BR %s \", \"" };
	char heading[64];

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		snprintf(heading, sizeof(heading), forms[i], option);
		if (strstr(manual, heading))
			return true;
	}
	return false;
}

/* Each option of the short help has a paragraph in the manual. */
static void manual_has_each_option_of_help(void **state)
{
	unsigned int n = 0;
	char option[32];

	(void)state;
	for (const char *p = args_help; (p = strstr(p, "\n  --")); p++) {
		assert_int_equal(sscanf(p, " %31[a-z-]", option), 1);
		if (!has_heading(option))
			fail_msg("%s: not in the manual", option);
		n++;
	}
	assert_int_equal(n, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(manual_has_default_of_each_parameter),
		cmocka_unit_test(manual_has_each_option_of_help),
		cmocka_unit_test(log_level_is_read_by_name),
	};

	return cmocka_run_group_tests(tests, read_manual, NULL);
}
