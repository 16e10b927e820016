/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traces: a packet a line, "TIME SRC DST", TIME in cycles, SRC and DST node numbers
 * or coordinates (3,0,1); blank lines and what follows # are comments.
 */
#ifndef FLOW_TRACE_H
#define FLOW_TRACE_H

#include "flow.h"

/**
 * flow_trace_read() - read @file, in any order of time
 * Return: OK; the caller frees t->entry. CANNOT after it has printed the error.
 */
int flow_trace_read(const char *file, const struct torus_shape *shape, struct flow_trace *t);

#endif /* FLOW_TRACE_H */
