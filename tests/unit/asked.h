/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests to a manager, and its complete answers. The manager is that of node [2,1] of a torus
 * of 3x2 nodes. Its state machine, its NIC, its service network and the other nodes are fakes, in
 * which each value differs from all others, so an answer that takes one value for another is wrong.
 */
#ifndef TESTS_ASKED_H
#define TESTS_ASKED_H

#include "daemon/fabricd.h"
#include "daemon/history.h"
#include "daemon/nic.h"

#define NODES	6
#define OWN	5		/* [2,1] */
#define PORTS	4
#define WALL	1700000050.0	/* the time of day of the test, s since 1970 */
#define NOW	(50 * SEC)

/**
 * struct asked - the fakes
 * @root, @own, @status, @outline, @entry, @hold, @nholds, @candidate, @ncandidates: what the
 *	manager says
 * @nowhere: it does not know where it is
 * @pending: the table is not in force yet; @kept: by candidates, on disk
 * @cut_off: time since which the root is lost
 * @alive_at, @lately: when each node was heard last, and whether that is within the bound
 * @passed: ns since NOW
 * @no_nic: the NIC is gone, but the manager does not know it yet
 * @busy: too many questions wait for the NIC
 * @rows_read: how often rows of it were read; @equal_rows: all are as the first one
 * @nic_error: what each call of the NIC returns; @flows_error: one of parked flows
 * @test_error: what the beginning of a test of a link returns; @tested: there is one of token 7,
 *	in this role; else none
 * @plug, @plug_error: the state of each LED and plug, and why it failed
 * @link: of the NIC
 * @stats: of the service network
 * @no_change: what it is told is so already; @same: what it is told of node @same - 1 is
 * @change_error: what the manager returns when it is told to change something; @once: the first time
 * @privileged: whoever asks may change things; @uid, @at: who and where that is
 * @severs: this many nodes would be cut off by exclusions of ports -y; @severed: the first of them
 * @intact: if not 0, these are the only ports of this node that are not excluded
 * @went, @left: by exclusions of whole nodes: that go out of service, and that would be left
 * @parts: if not 0, into this many parts the exclusion of a port +x would divide the job
 * @more_faulty: cables of a dead node, beside the first two that are faulty
 * @answer_by: JSON that a node answers to a question of the root; NULL: it is silent
 * @twice: node @twice - 1 answers each question twice
 * @root_says: reply of the root to what is passed on to it; NULL: it is silent
 * @sent: there is a connection on which questions to the root are sent
 * @did: what the NIC and the manager were told to do, one line each
 * @passed_on: the last question to other nodes
 * @keeps: it has a history; @found, @found_arg: who waits for a search in it
 * @enough: its remaining answers are not awaited
 */
struct asked {
	struct fabricd d;
	bool root, no_nic, no_links, busy, privileged, pending, nowhere;
	bool own_out;		/* this node is out of service */
	bool jobs;		/* whoever asks may start jobs */
	int choose_error;	/* result of the choice of nodes for a job */
	int growth, growth_later;	/* state of a job that grows, and after it was asked for */
	bool job_gone;		/* the job does not exist */
	uint32_t uid, at;
	struct fm_kept_count kept;
	unsigned int mixed;	/* connections to managers of another release */
	uint64_t passed;
	uint32_t own;
	struct fm_status status;
	struct fm_outline outline;
	struct fm_entry entry[NODES];
	struct fm_hold hold[3];
	unsigned int nholds;
	uint64_t cut_off, alive_at[NODES];
	bool lately[NODES];
	struct fm_candidate_status candidate[3];
	unsigned int ncandidates;
	unsigned int rows_read, more_faulty, severs, went, left, intact, parts;
	uint32_t severed;
	int severs_error;
	bool equal_rows;
	int nic_error, flows_error, change_error, test_error;
	bool once, no_change;
	uint32_t same;
	int tested, plug, plug_error;
	struct torus_link link[PORTS];
	struct svc_stats stats;
	const char *answer_by[NODES];
	uint32_t twice;
	const char *root_says;
	char did[512], passed_on[256];
	bool sent, enough, keeps;
	void (*found)(void *arg, const struct history_found *found);
	void *found_arg;
};

extern struct asked a;
extern const struct torus_shape asked_shape;

/** asked_setup() - before each test: a root in a fabric that is degraded */
int asked_setup(void **state);
int asked_teardown(void **state);

/*
 * In requests and answers here ' stands for ", as in C it needs no backslash.
 * replies() - expects the answer @wanted, a whole one, to @request
 * replies_json() - the same, and frees @wanted; replies_data() - an answer of nothing but @data
 * serves() - as replies(), to a request that another node passed on to this root
 * waits() - as replies(), but the answer comes when the table is in force; @ns: at that time
 * drops() - such a request, for the answer to which nobody waits any more
 * refuses() - expects an error with exactly this code and text
 * forgets() - as refuses(), and time is over before the NIC is asked
 */
void replies(const char *request, const char *wanted);
void replies_json(const char *request, json_t *wanted);
void replies_data(const char *request, json_t *data);
void serves(const char *request, const char *wanted);
void drops(const char *request);
void forgets(const char *request, const char *code, const char *text);
void waits(const char *request, uint64_t ns, const char *wanted);
/* waits_refused() - as waits(), and the request is refused then */
void waits_refused(const char *request, uint64_t ns, const char *code, const char *text);
/* As waits(), until @kept or @ns; the table is in force from the beginning. */
void waits_kept(const char *request, uint64_t ns, const struct fm_kept_count *kept,
		const char *wanted);
/*
 * As waits(), until a search in the history finds @found; NULL: until the time for the disk is
 * over.
 */
void waits_found(const char *request, const struct history_found *found, const char *wanted);
void refuses(const char *request, const char *code, const char *text);
/** does() - expects exactly these lines in @did, and forgets them */
void does(const char *wanted);
/** nic_answers() - lets the NIC answer its question, if there is one */
void nic_answers(void);
/**
 * answer_question() - gives all answers to the question to nodes, and its end; or the root's reply
 */
void answer_question(void);
/** answers_root() - the root asks this node @cmd, which answers @wanted; NULL: it has no answer */
void answers_root(const char *cmd, const char *wanted);
/** forgets_root() - the root asks this node @cmd, and its question is forgotten */
void forgets_root(const char *cmd);
/** nodes_answer() - lets nodes answer their questions, and those that follow from the answers */
void nodes_answer(void);
/** json_of() - parses @text, with ' for " */
json_t *json_of(const char *text);
/** pass_to_root() - passes @msg of another node to the root */
void pass_to_root(const struct svc_msg *msg);

#endif /* TESTS_ASKED_H */
