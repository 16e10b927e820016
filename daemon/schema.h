/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Schemas of the service network (svc.proto) that this fabricd speaks. Nodes can be updated one
 * after the other, because releases that follow each other have a schema in common.
 *
 * In AUTH both ends of a connection name the schemas that they speak, and they use the newest
 * schema that both know. The end that connects speaks its oldest schema first, which each peer
 * understands that has a schema in common with it. An earlier release does not name its schemas,
 * and speaks only one. The answer of the listener is in the schema that both will use. AUTH and
 * REFUSE mean the same in all schemas; a peer that has no schema in common with this manager gets a
 * REFUSE in the schema of its own message.
 *
 * A schema gets a new number if a receiver of the former one would misunderstand a message. A new
 * member of a message needs no new number if it does no harm when a receiver skips it, or a sender
 * leaves it out, also when tables pass through managers of an earlier release, which drop it. A new
 * message needs a new number, and is sent only to peers that understand it (svc_msg_since()).
 *
 * Orders of a table, and the user of a question, are such members: managers of a release that does
 * not know them drop them, but the exclusions stay.
 *
 * Schema 7 has GROW and GROWN; schema 6 has KEPT, and the AUTH that names the newest schema; schema
 * 5 has roots that take over. Earlier schemas are not used any more.
 *
 * Tests: tests/unit/test_svc.c, ends with and without a schema in common.
 */
#ifndef SCHEMA_H
#define SCHEMA_H

#define SCHEMA_FILES	5	/* schema of files: earlier releases read no other schema; this
				 * release ignores it */

extern const unsigned int schema_oldest, schema_newest;

#endif /* SCHEMA_H */
