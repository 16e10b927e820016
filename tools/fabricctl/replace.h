/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes files that other programs read at any time. */
#ifndef REPLACE_H
#define REPLACE_H

/**
 * replace_file() - write a file, with mode 0644, as a whole: a reader has the former text or @text
 * @path: of the option --output, which the error names
 * Return: OK, or CANNOT after printing the error.
 */
int replace_file(const char *path, const char *text);

#endif /* REPLACE_H */
