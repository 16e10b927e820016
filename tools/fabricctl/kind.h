/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exit statuses of errors: DENIED, UNREACHABLE, TIMEOUT and so on are decided here only.
 */
#ifndef KIND_H
#define KIND_H

#include "command.h"

/**
 * kind_of_errno() - exit status of an error of a connection to a manager or a NIC
 * @err: a negative errno
 * Return: DENIED, UNREACHABLE, TIMEOUT; CANNOT for all others: the error is here.
 */
enum status kind_of_errno(int err);

/**
 * kind_of_code() - exit status of a manager's refusal
 * @code: "code" in fabricd-control(7); NULL: it has none
 * Return: CANNOT for "usage", DENIED, UNREACHABLE; PROBLEM for all others.
 */
enum status kind_of_code(const char *code);

#endif /* KIND_H */
