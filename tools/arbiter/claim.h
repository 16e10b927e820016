/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code that all arbiter programs share: reading the question, and printing the answer
 * (torus-arbiter(7)).
 */
#ifndef ARBITER_CLAIM_H
#define ARBITER_CLAIM_H

#include <stdint.h>

/**
 * struct claim - the question
 * @fabric: name of the fabric
 * @config: configuration file (--config); NULL: the default file
 * The other members are the arguments.
 */
struct claim {
	const char *fabric;
	const char *config;
	uint64_t epoch;
	uint64_t guid;
};

/**
 * claim_read() - read the question from arguments and environment
 * @argc: of main()
 * @argv: of main()
 * @help: the text of --help
 * @config: nonzero if there is an option --config
 * If arguments or environment are invalid, this function ends the program with status 2; after
 * --help and --version, with status 0.
 * Return: the question.
 */
struct claim claim_read(int argc, char **argv, const char *help, int config);

/** claim_answer() - print the answer, one line, and end the program with status 0 */
_Noreturn void claim_answer(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif /* ARBITER_CLAIM_H */
