/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The statements of a node in its HELLOs that matter for a claim and a quorum, and its reports of
 * its disk.
 */
#ifndef FM_STATEMENTS_H
#define FM_STATEMENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <torus/torus.h>

/**
 * struct fm_disk_report - the last report of a node about its disk
 * @keeps: the node has a disk for the table
 * @term, @version: epoch and version of the table whose configuration is on that disk
 * @failed: that configuration is not on the disk, because the disk fails
 */
struct fm_disk_report {
	bool keeps, failed;
	uint64_t term, version;
};

/**
 * struct fm_statements - the statements of a node in the roster; most are from its last HELLO
 * @received: when it last sent HELLO; 0: never
 * @again: ns after which it was asked to repeat HELLO
 * @claimed: last epoch in which this root asked the node to obey it
 * @table, @term, @root: version of the node's table, and epoch and GUID of the root that made it
 * @rows, @rows_term: version of its NIC's rows, and the epoch of their root
 * @life: epoch of its NIC, which differs after each restart
 * @votes: mask of the sets that contain this node, of those in which a claim with its table needs a
 *	quorum: bit 0 the nodes that are up in the table, then the table's voters
 * @chose: the same for the table with which this root claimed
 * @at, @shape: node id of the node, and the shape in which that is valid
 * @admin, @across, @clean: as in fm_hello
 * @since, @until: it was up in the tables of this root from version @since on and before @until;
 *	@since 0: in no table; @until 0: it still is up
 * @disk: the report about its disk
 */
struct fm_statements {
	uint64_t received, again, claimed;
	uint64_t table, term, root;
	uint64_t rows, rows_term;
	uint32_t life;
	uint16_t votes, chose;
	uint32_t at;
	struct torus_shape shape;
	uint16_t admin, across;
	uint8_t clean;
	uint64_t since, until;
	struct fm_disk_report disk;
};

#endif /* FM_STATEMENTS_H */
