/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files of the page, which are part of the program. */
#ifndef FABRICWEB_FILES_H
#define FABRICWEB_FILES_H

/** struct web_file - a file: its name below /, its media type, and where it begins and ends */
struct web_file {
	const char *name, *type;
	const unsigned char *start, *end;
};

/** files_find() - Return: the file; NULL if there is none of that name */
const struct web_file *files_find(const char *name);

#endif /* FABRICWEB_FILES_H */
