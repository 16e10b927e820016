/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FABRICWEB_LOGLINE_H
#define FABRICWEB_LOGLINE_H

/** log_line() - write a line to standard error; what is not printable ASCII becomes '?' */
__attribute__((format(printf, 1, 2)))
void log_line(const char *fmt, ...);

#endif /* FABRICWEB_LOGLINE_H */
