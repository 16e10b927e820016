// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "json.h"
#include "kind.h"
#include "lab.h"
#include "netns.h"
#include "nic.h"
#include "number.h"
#include "output.h"
#include "table.h"
#include "traffic_judge.h"
#include "traffic_rma.h"

#define FLOWS 3
#define RMA_FLOW 2
#define LOOK_US 50000
#define GONE_S 3		/* time without a NIC after which a node counts as gone */
#define BUFFER (8 << 20)
#define DSCP_ADAPTIVE 8		/* CS1, which selects the adaptive channel: packets may overtake
				 * each other */

static uint64_t size = 1400, rate;
static const char *seconds_text = "5", *dscp_text;
static bool only_tcp, only_udp, only_rma;
static uint64_t dscp;

static int open_socket(void *arg)
{
	int fd = socket(AF_INET, *(int *)arg | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

/* Opens a socket in the namespace of a node; this process stays outside of it. */
static int node_socket(const struct lab *lab, uint32_t node, int type)
{
	char name[LAB_TEXT_MAX];

	return netns_visit(lab_netns(lab, node, name), open_socket, &type);
}

static void prepare_socket(int fd, int type)
{
	struct timeval patience = { .tv_sec = TRAFFIC_PATIENCE_S };
	int buffer = BUFFER, tos = (int)dscp << 2;

	setsockopt(fd, IPPROTO_IP, IP_TOS, &tos, sizeof(tos));
	if (type == SOCK_STREAM) {
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
		return;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof(buffer));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &buffer, sizeof(buffer));
}

static int bind_to(int fd, struct in_addr a, struct sockaddr_in *out)
{
	socklen_t len = sizeof(*out);

	*out = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr = a };
	if (bind(fd, (struct sockaddr *)out, sizeof(*out)) ||
	    getsockname(fd, (struct sockaddr *)out, &len))
		return -errno;
	return 0;
}

/* The accepted socket becomes @to[1]; the caller closes both sockets. */
static int join_tcp(int from, int to[2], const struct sockaddr_in *there)
{
	if (listen(to[0], 1) ||
	    connect(from, (const struct sockaddr *)there, sizeof(*there)))
		return errno == EINPROGRESS || errno == EAGAIN ? -ETIMEDOUT : -errno;
	to[1] = accept4(to[0], NULL, NULL, SOCK_CLOEXEC);
	return to[1] < 0 ? -errno : 0;
}

static int join_udp(int from, int to[2], const struct sockaddr_in *here,
		    const struct sockaddr_in *there)
{
	if (connect(from, (const struct sockaddr *)there, sizeof(*there)) ||
	    connect(to[0], (const struct sockaddr *)here, sizeof(*here)))
		return -errno;
	to[1] = dup(to[0]);
	return to[1] < 0 ? -errno : 0;
}

/* Return: 0 with both ends in @fd, or a negative errno. */
static int connect_ends(const struct lab *lab, const uint32_t node[2], int type, int fd[2])
{
	struct sockaddr_in here, there;
	int from = node_socket(lab, node[0], type), to[2] = { -1, -1 }, err;

	to[0] = node_socket(lab, node[1], type);
	err = from < 0 ? from : to[0] < 0 ? to[0] : 0;
	if (!err) {
		prepare_socket(from, type);
		prepare_socket(to[0], type);
		err = bind_to(from, torus_plan_addr4(&lab->plan, &lab->shape, node[0]), &here);
		err = err ? err : bind_to(to[0], torus_plan_addr4(&lab->plan, &lab->shape, node[1]),
					  &there);
	}
	if (!err)
		err = type == SOCK_STREAM ? join_tcp(from, to, &there) :
					    join_udp(from, to, &here, &there);
	if (to[0] >= 0)
		close(to[0]);
	if (err && from >= 0)
		close(from);
	if (!err)
		prepare_socket(to[1], type);
	fd[0] = from;
	fd[1] = to[1];
	return err;
}

static pid_t fork_child(void)
{
	pid_t parent = getpid(), pid = fork();

	/*
	 * The child ends when its parent ends, because without the parent its counts are not read.
	 */
	if (pid == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent))
		_exit(1);
	return pid;
}

static int start_flow(int type, const int fd[2], const struct load *load, struct flow *f,
		      pid_t pid[2])
{
	f->protocol = type == SOCK_STREAM ? "tcp" : "udp";
	f->any_order = type == SOCK_DGRAM && dscp == DSCP_ADAPTIVE;
	pid[0] = fork_child();
	if (pid[0] == 0) {
		close(fd[0]);	/* this process must not keep the stream open after its sender
				 * has ended */
		if (type == SOCK_STREAM)
			traffic_tcp_receive(fd[1], f);
		else
			traffic_udp_receive(fd[1], f);
		_exit(0);
	}
	pid[1] = fork_child();
	if (pid[1] == 0) {
		close(fd[1]);
		if (type == SOCK_STREAM)
			traffic_tcp_send(fd[0], load, f);
		else
			traffic_udp_send(fd[0], load, f);
		_exit(0);
	}
	close(fd[0]);
	close(fd[1]);
	return pid[0] < 0 || pid[1] < 0 ? -errno : 0;
}

/* The device of a NIC of the kernel is found inside the node. Return: 0 or a negative errno */
static int enter_rma_node(const struct lab *lab, uint32_t node)
{
	char name[LAB_TEXT_MAX];
	int ns = lab->kernel[node] ? netns_open(lab_netns(lab, node, name)) : -1, err;

	if (!lab->kernel[node])
		return 0;
	err = ns < 0 ? ns : netns_enter(ns);
	if (ns >= 0)
		close(ns);
	return err;
}

/* Runs in a process of its own. */
static int open_rma_end(const struct lab *lab, uint32_t node, bool owns, uint32_t bytes,
			struct rma_end *end)
{
	char path[LAB_TEXT_MAX], text[TORUS_TEXT_MAX];
	int err = enter_rma_node(lab, node);

	torus_node_text(&lab->shape, node, text);
	if (err)
		return fail("cannot enter node %s: %s", text, strerror(-err));
	err = traffic_rma_open(end, lab_rma(lab, node, path), owns, bytes);
	if (!err)
		return OK;
	return fail_as(kind_of_errno(err), "node %s offers no remote memory: %s", text,
		       torus_rma_error(end->rma));
}

/* Runs one end of the flow in a child, which reports through @pipe that it has opened its end. */
__attribute__((noreturn))
static void run_rma_end(const struct lab *lab, uint32_t node, const struct rma_owner *owner,
			const struct load *load, struct flow *f, int pipe)
{
	struct rma_end end;
	struct rma_owner name;
	int status = open_rma_end(lab, node, !owner, load->size, &end);

	if (status != OK)
		_exit(status);
	name = traffic_rma_name(&end);
	if (write(pipe, &name, sizeof(name)) < 0)
		_exit(CANNOT);
	close(pipe);
	if (owner)
		traffic_rma_send(&end, owner, load, f);
	else
		traffic_rma_receive(&end, load, f);
	_exit(0);
}

/* Starts one end. @owner: names of the other one, or NULL. Return: OK and its own names in @own */
static int start_rma_end(const struct lab *lab, uint32_t node, const struct rma_owner *owner,
			 const struct load *load, struct flow *f, struct rma_owner *own, pid_t *pid)
{
	int ends[2], status = 0;
	ssize_t n;

	if (pipe2(ends, O_CLOEXEC))
		return fail("pipe: %s", strerror(errno));
	*pid = fork_child();
	if (*pid == 0) {
		close(ends[0]);
		run_rma_end(lab, node, owner, load, f, ends[1]);
	}
	close(ends[1]);
	n = *pid > 0 ? read(ends[0], own, sizeof(*own)) : -1;
	close(ends[0]);
	if (n == sizeof(*own))
		return OK;
	if (*pid < 0 || waitpid(*pid, &status, 0) < 0 || !WIFEXITED(status))
		status = -1;
	*pid = 0;
	return status < 0 ? fail("a process for the flow cannot be started") : WEXITSTATUS(status);
}

static int start_rma(const struct lab *lab, const uint32_t node[2], const struct load *load,
		     struct flow *f, pid_t pid[2])
{
	struct rma_owner owner, initiator;
	int status;

	f->protocol = "rma";
	status = start_rma_end(lab, node[1], NULL, load, f, &owner, &pid[0]);
	if (status == OK)
		status = start_rma_end(lab, node[0], &owner, load, f, &initiator, &pid[1]);
	if (status != OK)
		f->protocol = NULL;
	return status;
}

static double bit_rate(const struct flow *f)
{
	return f->seconds > 0 ? 8 * (double)f->bytes / f->seconds : 0;
}

static json_t *traffic_json(const struct flow *f)
{
	/* "doubled" is the former name of "duplicates", for scripts that were written with it */
	return json_pack("{ss sI sI sI sI sI sI sI sI sI sI sf sf sf sb so}",
			 "protocol", f->protocol, "sent", (json_int_t)f->sent,
			 "received", (json_int_t)f->received,
			 "lost", (json_int_t)flow_lost(f), "duplicates", (json_int_t)f->duplicates,
			 "doubled", (json_int_t)f->duplicates, "reordered",
			 (json_int_t)f->reordered, "corrupt", (json_int_t)f->corrupt, "bytes",
			 (json_int_t)f->bytes, "retransmits", (json_int_t)f->retransmits,
			 "needless_retransmits", (json_int_t)f->needless, "seconds", f->seconds,
			 "bits_per_second", bit_rate(f), "longest_gap_ms", f->gap_max_ms, "clean",
			 flow_is_clean(f), "error",
			 f->err ? json_string(strerror(-f->err)) : json_null());
}

static void show_json(const struct lab *lab, const uint32_t node[2], const struct flow *flow)
{
	json_t *list = json_array();

	for (int i = 0; i < FLOWS; i++)
		if (flow[i].protocol)
			json_array_append_new(list, traffic_json(&flow[i]));
	json_show(json_pack("{so so so}", "from", json_node(&lab->shape, node[0]), "to",
			    json_node(&lab->shape, node[1]), "flows", list));
}

static void loss_cell(struct table *t, uint64_t n)
{
	table_cell(t, n ? BAD : PLAIN, "%llu", (unsigned long long)n);
}

static void show_traffic(const struct flow *flow)
{
	static const char *const titles[] = { "FLOW", ">SENT", ">RECEIVED", ">LOST", ">DUPLICATES",
					      ">REORDERED", ">CORRUPT", ">RETRANSMITS",
					      ">NEEDLESS", ">LONGEST PAUSE", ">RATE", "VERDICT",
					      NULL };
	struct table *t = table_new(titles);

	for (int i = 0; i < FLOWS; i++) {
		const struct flow *f = &flow[i];

		if (!f->protocol)
			continue;
		table_cell(t, STRONG, "%s", f->protocol);
		table_cell(t, PLAIN, "%llu", (unsigned long long)f->sent);
		table_cell(t, PLAIN, "%llu", (unsigned long long)f->received);
		loss_cell(t, flow_lost(f));
		loss_cell(t, f->duplicates);
		table_cell(t, flow_is_disordered(f) ? BAD : PLAIN, "%llu",
			   (unsigned long long)f->reordered);
		loss_cell(t, f->corrupt);
		table_cell(t, f->retransmits ? DOUBTFUL : PLAIN, "%llu",
			   (unsigned long long)f->retransmits);
		table_cell(t, PLAIN, "%llu", (unsigned long long)f->needless);
		table_cell(t, PLAIN, "%.1f ms", f->gap_max_ms);
		table_cell(t, PLAIN, "%.2f Gbit/s", bit_rate(f) / 1e9);
		table_cell(t, flow_is_clean(f) ? GOOD : BAD, "%s", flow_is_clean(f) ? "clean" :
			   f->err ? strerror(-f->err) : "not clean");
	}
	table_print(t, "no flows");
}

static int no_nic(const struct lab *lab, uint32_t node)
{
	char text[TORUS_TEXT_MAX];

	torus_node_text(&lab->shape, node, text);
	return fail_as(PROBLEM, "node %s has no NIC: it has no power, or its NIC was killed or "
		       "ended; 'fabricctl lab revive %s' starts it", text, text);
}

/* Notes the error of a process that was killed: its counts do not include the whole flow. */
static void judge_exit(struct flow *f, bool sends, int status)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return;
	warn("%s: the %s ended early: %s", f->protocol, sends ? "sender" : "receiver",
	     WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it failed");
	if (!f->err)
		f->err = -ECANCELED;
}

/* Return: true if one of these processes still runs. */
static bool any_runs(pid_t pid[FLOWS][2], struct flow *flow)
{
	bool any = false;
	int status = 0;

	for (int i = 0; i < FLOWS; i++)
		for (int end = 0; end < 2; end++) {
			if (pid[i][end] > 0 && waitpid(pid[i][end], &status, WNOHANG)) {
				pid[i][end] = 0;
				judge_exit(&flow[i], end == 1, status);
			}
			any |= pid[i][end] > 0;
		}
	return any;
}

static void end_all(pid_t pid[FLOWS][2])
{
	for (int i = 0; i < FLOWS; i++)
		for (int end = 0; end < 2; end++) {
			if (pid[i][end] <= 0)
				continue;
			kill(pid[i][end], SIGKILL);
			waitpid(pid[i][end], NULL, 0);
		}
}

/*
 * Waits for the flows. Flows have a long timeout, because the fabric may need long until it
 * delivers packets again. So this function ends them when a node has lost its NIC. In a bare lab,
 * no node has a NIC.
 */
static int await_flows(const struct lab *lab, const uint32_t node[2], pid_t pid[FLOWS][2],
		       struct flow *flow)
{
	double seen[2] = { traffic_now(), traffic_now() };

	while (any_runs(pid, flow)) {
		usleep(LOOK_US);
		for (int end = 0; end < 2; end++) {
			if (lab->bare || nic_running(lab, node[end]))
				seen[end] = traffic_now();
			if (traffic_now() < seen[end] + GONE_S)
				continue;
			end_all(pid);
			for (int i = 0; i < FLOWS; i++)
				if (flow[i].protocol)
					flow[i].err = -ENODEV;
			return no_nic(lab, node[end]);
		}
	}
	return OK;
}

static int run_flows(const struct lab *lab, const uint32_t node[2], const struct load *load,
		     struct flow *flow)
{
	static const int types[RMA_FLOW] = { SOCK_STREAM, SOCK_DGRAM };
	pid_t pid[FLOWS][2] = { { 0 } };
	int fd[2], err = 0, status;

	signal(SIGCHLD, SIG_DFL);	/* if SIGCHLD were ignored, waitpid() would return no
					 * exit status */
	if (only_rma) {
		status = start_rma(lab, node, load, &flow[RMA_FLOW], pid[RMA_FLOW]);
		if (status == OK)
			return await_flows(lab, node, pid, flow);
		end_all(pid);
		return status;
	}
	for (int i = 0; !err && i < RMA_FLOW; i++) {
		if ((types[i] == SOCK_STREAM && only_udp) || (types[i] == SOCK_DGRAM && only_tcp))
			continue;
		err = connect_ends(lab, node, types[i], fd);
		err = err ? err : start_flow(types[i], fd, load, &flow[i], pid[i]);
	}
	if (!err)
		return await_flows(lab, node, pid, flow);
	end_all(pid);
	if (err == -EADDRNOTAVAIL)
		return fail_as(PROBLEM, lab->bare ?
			       "one of the two nodes has no address: the lab is bare, without "
			       "NICs" :
			       "one of the two nodes has no address yet: it has no place "
			       "in the fabric; 'fabricctl nodes' shows which have");
	return fail_as(kind_of_errno(err), "cannot open a connection through the fabric: %s; "
		       "'fabricctl trace' shows the way", strerror(-err));
}

static int run_traffic(const struct ctl *ctl, const struct lab *lab, char **argv,
		       const struct load *load)
{
	struct flow *flow = mmap(NULL, FLOWS * sizeof(*flow), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint32_t node[2];
	int status = OK;

	if (flow == MAP_FAILED)
		return fail("out of memory");
	if (lab_node_parse(lab, argv[0], &node[0]) || lab_node_parse(lab, argv[1], &node[1]))
		return CANNOT;
	if (node[0] == node[1])
		return fail("'%s' and '%s' are one node", argv[0], argv[1]);
	for (int end = 0; end < 2; end++)
		if (!lab->bare && (lab->killed[node[end]] & LAB_NO_POWER ||
				   !nic_running(lab, node[end])))
			return no_nic(lab, node[end]);
	status = run_flows(lab, node, load, flow);
	if (status != OK && status != PROBLEM)
		return status;
	if (ctl->json)
		show_json(lab, node, flow);
	else
		show_traffic(flow);
	for (int i = 0; i < FLOWS; i++)
		if (flow[i].protocol && !flow_is_clean(&flow[i]))
			status = PROBLEM;
	munmap(flow, FLOWS * sizeof(*flow));
	return status;
}

static int lab_traffic(struct ctl *ctl, int argc, char **argv)
{
	struct load load;
	struct lab lab;
	int status;

	(void)argc;
	if (only_tcp && only_udp)
		return fail("--tcp and --udp exclude each other; without them both run");
	if (only_rma && (only_tcp || only_udp || dscp_text))
		return fail("--rma excludes --tcp, --udp and --dscp");
	if (seconds_parse(seconds_text, &load.seconds))
		return fail("--seconds '%s': must be 0.01 to 86400", seconds_text);
	if (dscp_text && number_parse(dscp_text, 0, 63, &dscp))
		return fail("--dscp '%s': must be 0 to 63", dscp_text);
	if (geteuid())
		return fail_as(DENIED, "lab traffic needs root: run it with sudo");
	status = lab_open(&lab, ctl->lab, LAB_READ);
	if (status != OK)
		return status;
	load.size = (uint32_t)size;
	load.rate = rate;
	status = lab.tun || only_rma ? run_traffic(ctl, &lab, argv, &load) :
			   fail("lab '%s' is packed: its nodes have no torus0 to send by; "
				"raise it with --tun as well, or send by --rma",
				lab.name);
	lab_free(&lab);
	return status;
}

static const struct opt opts[] = {
	{ OPT_TEXT, "seconds", 's', "SECONDS", &seconds_text, 0, 0, "how long, default 5" },
	{ OPT_NUMBER, "size", 0, "BYTES", &size, sizeof(struct record), TRAFFIC_MAX,
	  "of a record, default 1400" },
	{ OPT_NUMBER, "rate", 0, "NUMBER", &rate, 1, TRAFFIC_RATE_MAX,
	  "records a second of each flow; default: as many as it can" },
	{ OPT_TEXT, "dscp", 0, "NUMBER", &dscp_text, 0, 0,
	  "mark: 32 (CS4) takes VCD1, 8 (CS1) VCA, in any order; default 0, VCD0" },
	{ OPT_FLAG, "tcp", 0, NULL, &only_tcp, 0, 0, "a TCP flow only" },
	{ OPT_FLAG, "udp", 0, NULL, &only_udp, 0, 0, "a UDP flow only" },
	{ OPT_FLAG, "rma", 0, NULL, &only_rma, 0, 0,
	  "remote memory instead: puts, tickets, counters, full/empty words, messages" },
	{ .kind = OPT_END },
};

COMMAND(lab_traffic) = {
	.family = "lab",
	.name = "traffic",
	.args = "FROM TO",
	.brief = "Send TCP and UDP, or puts, from one node to another, and check what arrives",
	.help = "Every record has a number and a CRC. Counts lost, duplicated, reordered and\n"
		"corrupted records, and measures the longest pause; exit status 1 if there were\n"
		"any. UDP keeps at most 64 datagrams under way, less than any queue holds: the\n"
		"fabric has lost those that are missing. In TCP a loss shows as a retransmission;\n"
		"NEEDLESS ones are those whose first copy arrived as well, only late. With --rma\n"
		"a record is put into memory of the other node; DUPLICATES counts tickets\n"
		"and additions that are too many.",
	.opts = opts,
	.min = 2,
	.max = 2,
	.in_lab = true,
	.json = true,
	.run = lab_traffic,
};
