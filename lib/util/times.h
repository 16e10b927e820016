/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* Units of time: those of the core (kernel/core). */
#ifndef UTIL_TIMES_H
#define UTIL_TIMES_H

#include "kernel/core/times.h"

#endif /* UTIL_TIMES_H */
