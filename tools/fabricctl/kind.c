// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "kind.h"

enum status kind_of_errno(int err)
{
	switch (-err) {
	case EACCES:
	case EPERM:
		return DENIED;
	case ENOENT:		/* there is no socket, or no manager has made it */
	case ENOTDIR:
	case ENOTSOCK:
	case EPROTOTYPE:
	case ECONNREFUSED:	/* a socket, but no manager behind it */
	case ECONNRESET:	/* the manager has ended meanwhile */
	case EPIPE:
	case ENOTCONN:
	case ENODEV:
	case EHOSTUNREACH:
	case ENETUNREACH:
		return UNREACHABLE;
	case ETIMEDOUT:
	case EAGAIN:		/* the manager's queue of connections is full */
		return TIMEOUT;
	default:
		return CANNOT;
	}
}

enum status kind_of_code(const char *code)
{
	static const struct {
		const char *code;
		enum status status;
	} kinds[] = {
		{ "usage", CANNOT },
		{ "denied", DENIED },
		{ "unreachable", UNREACHABLE },
	};

	for (size_t i = 0; code && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(code, kinds[i].code))
			return kinds[i].status;
	return PROBLEM;
}
