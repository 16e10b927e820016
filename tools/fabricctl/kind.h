/* SPDX-License-Identifier: GPL-2.0-only */
/* Maps errors to exit statuses, such as DENIED, UNREACHABLE and TIMEOUT. No other file does so. */
#ifndef KIND_H
#define KIND_H

#include "command.h"

/**
 * kind_of_errno() - exit status of an error of a connection to a manager or a NIC
 * @err: a negative errno
 * Return: DENIED, UNREACHABLE, TIMEOUT; CANNOT for all others, which are errors of this machine.
 */
enum status kind_of_errno(int err);

/**
 * kind_of_code() - exit status of a manager's refusal
 * @code: the member "code" of fabricd-control(7); NULL: the refusal has no code
 * Return: CANNOT for "usage", DENIED, UNREACHABLE; PROBLEM for all others.
 */
enum status kind_of_code(const char *code);

#endif /* KIND_H */
