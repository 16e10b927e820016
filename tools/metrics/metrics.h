/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Families of samples for monitoring, from the answer of the manager's command "metrics"
 * (fabricd-control(7)).
 *
 * A family is {name, type, unit, help, samples}. name is without the ending "_total" of a counter;
 * type is "counter", "gauge", "histogram" or "info"; unit is the unit with which the name ends, or
 * "". A sample is {labels, value}. A sample of a histogram is {labels, le, count, sum}: le has the
 * upper bounds except the infinite one; count has, for each bound and for the infinite one, the
 * number of values up to it.
 */
#ifndef METRICS_H
#define METRICS_H

#include <jansson.h>

/**
 * enum metrics_format - how families are printed
 * @METRICS_PROMETHEUS: text format 0.0.4 of Prometheus
 * @METRICS_OPENMETRICS: OpenMetrics 1.0
 */
enum metrics_format {
	METRICS_PROMETHEUS,
	METRICS_OPENMETRICS,
};

/**
 * metrics_families() - make the families of one node, as JSON
 * @answer: the data of the command "metrics"; keys that are missing make no samples, so that
 *	managers of other releases can be asked
 * Return: an array of families with at least one sample each, a new reference; NULL if out of
 * memory.
 */
json_t *metrics_families(const json_t *answer);

/**
 * metrics_text() - make the families of one node, as text
 * Return: the text, freed by the caller; NULL if out of memory.
 */
char *metrics_text(const json_t *answer, enum metrics_format format);

/** metrics_type() - Return: the media type of a format, for HTTP */
const char *metrics_type(enum metrics_format format);

#endif /* METRICS_H */
