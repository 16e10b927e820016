/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* Units of time, wherever a time is a number of ns. Programs include lib/util/times.h. */
#ifndef TN_TIMES_H
#define TN_TIMES_H

#define US	1000ULL
#define MS	1000000ULL
#define SEC	1000000000ULL

#endif /* TN_TIMES_H */
