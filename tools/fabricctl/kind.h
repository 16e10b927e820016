/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The exit status by the kind of an error: the one place that decides what is denied, cannot be
 * reached, or came too late.
 */
#ifndef KIND_H
#define KIND_H

#include "command.h"

/**
 * kind_of_errno() - of a connection to a manager or a NIC, and of what was done with it
 * @err: a negative errno
 * Return: DENIED, UNREACHABLE, TIMEOUT; CANNOT for all others: the error is here.
 */
enum status kind_of_errno(int err);

/**
 * kind_of_code() - of a manager's refusal: "code" in daemon/CONTROL.md
 * @code: NULL: it has none
 * Return: CANNOT for "usage", DENIED, UNREACHABLE; PROBLEM for all others.
 */
enum status kind_of_code(const char *code);

#endif /* KIND_H */
