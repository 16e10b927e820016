/* SPDX-License-Identifier: GPL-2.0-only */
/* Statements of a node that count in a claim and a quorum, and on its disk. */
#ifndef FM_VOICE_H
#define FM_VOICE_H

#include <stdbool.h>
#include <stdint.h>
#include <torus/torus.h>

/**
 * struct fm_disk_said - what a node says of its disk
 * @keeps: it has a disk for what must survive
 * @term, @version: the table whose content is on that disk; @failed: it is not, for the disk fails
 */
struct fm_disk_said {
	bool keeps, failed;
	uint64_t term, version;
};

/**
 * struct fm_voice - of a node in the roster
 * @heard: when it said HELLO last; 0: never. @again: it was told to say it again after that
 * @claimed: epoch in which it was told last to obey this root
 * @table, @term, @root: the table that it has, as in HELLO
 * @life: of its NIC; @rows, @rows_term: version of its rows, and of which root, as in HELLO
 * @votes: mask of the sets of which a claim with that table needs a quorum, those in which it is:
 *	bit 0 the nodes that are up in the table, then its voters
 * @chose: the same, of the table with which the root was claimed
 * @at, @shape: its node id, and in which shape; @admin, @across, @clean: as in HELLO
 * @since, @until: versions in which it was up: from @since on, 0: none; before @until, 0: all
 */
struct fm_voice {
	uint64_t heard, again, claimed;
	uint64_t table, term, root;
	uint64_t rows, rows_term;
	uint32_t life;
	uint16_t votes, chose;
	uint32_t at;
	struct torus_shape shape;
	uint16_t admin, across;
	uint8_t clean;
	uint64_t since, until;
	struct fm_disk_said disk;
};

#endif /* FM_VOICE_H */
