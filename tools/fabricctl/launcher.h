/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lets MPI runtimes start processes across a lab. Open MPI takes its launcher
 * as a command with arguments, MPICH as one file to execute: that is a link to
 * this program in the lab's directory, and its name says what to do (a script
 * would not do: /run is often mounted noexec).
 */
#ifndef LAUNCHER_H
#define LAUNCHER_H

#include <stdbool.h>

#include "lab.h"

/** launcher_make() - make the link in @lab's directory. Return: 0 or a negative errno */
int launcher_make(const struct lab *lab);
/** launcher_called() - Return: true if this program was called by that link */
bool launcher_called(const char *argv0);
/** launcher_environment() - set variables for the runtimes, unless the user has set them */
void launcher_environment(const struct lab *lab);

#endif /* LAUNCHER_H */
