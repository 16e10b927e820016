/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The next step for each fault that a status has: a command, and a text about what to do with its
 * result.
 */
#ifndef NEXT_H
#define NEXT_H

#include <jansson.h>

#include "command.h"

/**
 * next_steps() - find the next step for each fault
 * @ctl: options that select the manager; the commands get the same options
 * Return: an array of {command, text}, each command once, the most urgent first.
 */
json_t *next_steps(const struct ctl *ctl, const json_t *status);
/** next_member_works() - Return: true if this member of a job is up, and not excluded as a whole */
bool next_member_works(const json_t *member);
/** next_job() - as next_steps(), for a job with these members, of which some may not work */
json_t *next_job(const struct ctl *ctl, const json_t *job, const json_t *members);
/** next_command() - print one step */
void next_command(const struct ctl *ctl, const char *command, const char *text);
/** next_show() - print such an array */
void next_show(const json_t *list);

#endif /* NEXT_H */
