/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Schemas of the service network (svc.proto): which of them this fabricd speaks, so that nodes can
 * be updated one after the other.
 *
 * Both ends of a connection say in AUTH which ones they speak, and use the newest that both know.
 * The one that connects speaks its oldest first, which any peer understands that it can talk to at
 * all; an earlier release, which says nothing of others, speaks that alone. The listener's answer
 * is of the schema that both will use. AUTH and REFUSE mean the same in all schemas; a peer of none
 * of ours is told so by a REFUSE in its own.
 *
 * A schema is a new number if a receiver of the one before could not do with what is sent. A new
 * member of a message needs none if a receiver that skips it, and a sender that leaves it out, do
 * no harm, also when tables pass through managers of an earlier release, which drop it. A new
 * message needs one: it is sent only where it is understood (svc_msg_since()).
 *
 * 6 has KEPT and the AUTH that names the newest schema, 5 the roots that take over. Those before
 * are not spoken any more.
 */
#ifndef SCHEMA_H
#define SCHEMA_H

#define SCHEMA_FILES 5	/* in files, where it means nothing: earlier releases read no other */

extern const unsigned int schema_oldest, schema_newest;

#endif /* SCHEMA_H */
