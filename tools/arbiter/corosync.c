// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * torus-arbiter-corosync: grants a claim if the corosync cluster, as this host sees it, is quorate.
 * Two parts of a cluster are never quorate at the same time. Corosync stores no epochs: the fabric
 * alone decides which node of the quorate part leads, as without an arbiter.
 */
#include <corosync/corotypes.h>
#include <corosync/quorum.h>
#include "claim.h"

static const char help[] =
	"usage: torus-arbiter-corosync claim EPOCH GUID\n"
	"\n"
	"Lets a node of a torus network become root if its corosync is quorate; see\n"
	"torus-arbiter(7). TORUS_FABRIC in the environment is the name of the fabric.\n"
	"\n"
	"  --help, --version\n";

int main(int argc, char **argv)
{
	quorum_handle_t quorum;
	uint32_t type;
	int quorate = 0;
	cs_error_t err;

	claim_read(argc, argv, help, 0);
	err = quorum_initialize(&quorum, NULL, &type);
	if (err != CS_OK)
		claim_answer("unknown corosync: %s", cs_strerror(err));
	if (type != QUORUM_SET)
		claim_answer("unknown corosync: no quorum provider is configured");
	err = quorum_getquorate(quorum, &quorate);
	quorum_finalize(quorum);
	if (err != CS_OK)
		claim_answer("unknown corosync: %s", cs_strerror(err));
	if (quorate)
		claim_answer("granted");
	claim_answer("refused not quorate");
}
