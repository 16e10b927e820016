/* SPDX-License-Identifier: GPL-2.0-only */
/* A report on a day of the fabric, put together from its events and from what is wrong now. */
#ifndef REPORT_H
#define REPORT_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

/**
 * struct report_facts - the data of a report
 * @from, @to: the day, unix time in seconds
 * @until: the end of the day, or the present time if that is earlier
 * @events: events of the day, in the order in which they happened
 * @fabric: name of the fabric; or NULL
 * @faulty: cables that are down now; NULL: not known
 * @degraded: degraded links, in the form of "links"; NULL: not known
 * @orders: exclusions that are in force
 */
struct report_facts {
	double from, to, until;
	const char *fabric;
	const json_t *events, *faulty, *degraded;
	json_t *orders;
};

#define REPORT_REASONS 128	/* bytes of room for the reasons of one cable */

/** report_make() - Return: the report, as schema/report.json describes it */
json_t *report_make(const struct report_facts *facts);
/** report_cable_text() - write both ends with their names. Return: @buf */
char *report_cable_text(const json_t *link, char *buf, size_t room);
/**
 * report_reasons_text() - write the reasons with commas between them; "-" if there is none. Return:
 * @buf
 */
char *report_reasons_text(const json_t *reasons, char *buf, size_t room);

/** report_html() - write the report as a page that needs no other file and no script */
void report_html(FILE *f, const json_t *report);

#endif /* REPORT_H */
