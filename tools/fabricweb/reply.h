/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the parts of a manager's reply, which are passed on as they are. */
#ifndef FABRICWEB_REPLY_H
#define FABRICWEB_REPLY_H

#include <stdbool.h>
#include <stddef.h>

/** struct part - a value within the text of a reply; len 0: there is none */
struct part {
	const char *at;
	size_t len;
};

/**
 * struct reply - the parts of a reply of the control socket (fabricd-control(7))
 * @ok: the request was carried out, and @data is the answer
 * @code: kind of the error as a text of JSON, with its quotation marks
 */
struct reply {
	bool ok;
	struct part data, missing, rootless, code, error;
};

/**
 * reply_find() - find the parts of a reply
 * Return: false if the text is no object, or has neither data nor an error. Only its structure is
 * looked at, not whether all of it is JSON.
 */
bool reply_find(const char *text, size_t len, struct reply *reply);

/** reply_code() - Return: the kind of the error in @buf of @size bytes; "failed" if unknown */
const char *reply_code(const struct reply *reply, char *buf, size_t size);

#endif /* FABRICWEB_REPLY_H */
