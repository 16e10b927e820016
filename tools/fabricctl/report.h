/* SPDX-License-Identifier: GPL-2.0-only */
/* A report on a day of the fabric, put together from its events and from what is wrong now. */
#ifndef REPORT_H
#define REPORT_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

/**
 * struct report_facts - what a report is made from
 * @from, @to: the day, unix time in seconds
 * @until: the end of the day, or now if that is yet to come
 * @events: those of the day, in the order in which they happened
 * @fabric: its name; or NULL
 * @faulty: cables that are down now; NULL: not known
 * @degraded: links as of "links" that are up, but not as they should be; NULL: not known
 * @orders: exclusions that are in force
 */
struct report_facts {
	double from, to, until;
	const char *fabric;
	const json_t *events, *faulty, *degraded;
	json_t *orders;
};

#define REPORT_REASONS 128	/* room for reasons that are enough */

/** report_make() - Return: the report, as schema/report.json describes it */
json_t *report_make(const struct report_facts *facts);
/** report_cable_text() - both ends with their names. Return: @buf */
char *report_cable_text(const json_t *link, char *buf, size_t room);
/** report_reasons_text() - the reasons with commas between them; "-" if there is none. Return: @buf */
char *report_reasons_text(const json_t *reasons, char *buf, size_t room);

/** report_html() - write the report as a page that needs no other file and no script */
void report_html(FILE *f, const json_t *report);

#endif /* REPORT_H */
