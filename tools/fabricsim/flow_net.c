// SPDX-License-Identifier: GPL-2.0-only
/* Parameters that can be simulated, the memory of a network, and whole runs. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/deps/invariant.h"
#include "flow_policy.h"
#include "lib/util/clock.h"

#define DEADLOCK_EVERY 1024	/* cycles between two searches for a deadlock */
#define CALM_MAX 200000		/* a trace ends after this number of cycles without a delivery */
#define DELAY_MAX 65536

const char *const flow_patterns[] = { "uniform", "distribute", "transpose", "hotregion",
	"bit-complement", "tornado", "neighbour", "trace", NULL };
const char *const flow_tests[] = { "downstream", "local", "either", NULL };
const char *const flow_freeds[] = { "tail", "head", NULL };
const char *const flow_arbiters[] = { "round-robin", "random", "oldest", "transit", NULL };
const char *const flow_sinks[] = { "single", "multiple", NULL };
const char *const flow_ties[] = { "random", "plus", NULL };
const char *const flow_places[] = { "random", "even", NULL };

/* --- parameters ------------------------------------------------------------ */

static int check_rule(const struct flow_params *p, char *why)
{
	const struct flow_policy *policy = p->policy;

	if (policy->leaves_one && p->queue < 2)
		return snprintf(why, 256, "%s needs a queue of 2 packets at least: a packet that "
				"enters a ring leaves one buffer free", policy->name), -1;
	if (policy->tests && p->test != FLOW_DOWNSTREAM && p->hop > p->packet)
		return snprintf(why, 256, "the local test is not safe with --hop %u beyond the "
				"packet's %u phits: two packets may be under way to an input",
				p->hop, p->packet), -1;
	if (!policy->bubbles)
		return 0;
	for (unsigned int d = 0; d < p->shape.ndims; d++) {
		unsigned int k = p->shape.size[d];

		if (k > 1 && p->bubbles >= k * p->queue)
			return snprintf(why, 256, "%u critical bubbles leave no buffer to enter a "
					"ring of %u x %u = %u buffers: must be 1 to %u",
					p->bubbles, k, p->queue, k * p->queue, k * p->queue - 1),
			       -1;
	}
	return 0;
}

static int check_pattern(const struct flow_params *p, char *why)
{
	if (p->load < 0 || p->load > 1)
		return snprintf(why, 256, "a load of %g: must be 0 to 1 phit a node and cycle",
				p->load), -1;
	for (unsigned int d = 0; p->pattern == FLOW_TRANSPOSE && d < p->shape.ndims; d++)
		if (p->shape.size[d] != p->shape.size[p->shape.ndims - 1 - d])
			return snprintf(why, 256, "transpose needs a shape that is the same read "
					"backwards"), -1;
	return 0;
}

int flow_check_params(const struct flow_params *p, char *why)
{
	u32 nodes = torus_nodes(&p->shape);

	if (nodes < 2)
		return snprintf(why, 256, "a fabric of %u nodes has no traffic", nodes), -1;
	if (nodes > 1u << 24)
		return snprintf(why, 256, "%u nodes: must be at most %u", nodes, 1u << 24), -1;
	if (!p->queue)
		return snprintf(why, 256, "a queue of 0 is smaller than a packet"), -1;
	if (p->queue > 4096 || p->source_queue > 4096 || !p->source_queue)
		return snprintf(why, 256, "queues have 1 to 4096 packets"), -1;
	if (!p->packet || !p->hop || !p->timer || !p->response || p->packet > DELAY_MAX ||
	    p->hop > DELAY_MAX || p->timer > DELAY_MAX || p->response > DELAY_MAX ||
	    p->credit_delay > DELAY_MAX)
		return snprintf(why, 256, "packet, hop, timer and response are 1 to %u, the "
				"credit delay 0 to %u", DELAY_MAX, DELAY_MAX), -1;
	return check_rule(p, why) || check_pattern(p, why) ? -1 : 0;
}

uint64_t flow_buffers(const struct flow_params *p)
{
	u64 ports = 0;

	for (unsigned int d = 0; d < p->shape.ndims; d++)
		ports += p->shape.size[d] > 1 ? 2 : 0;
	return ports * torus_nodes(&p->shape) * p->queue * p->policy->vcs;
}

/* --- making a network ------------------------------------------------------ */

static void *net_alloc(struct flow_net *net, size_t n, size_t size)
{
	void *m = calloc(n, size);

	if (!m)
		net->failed = true;
	net->bytes += n * size;
	return m;
}

static void init_node(struct flow_net *net, u32 id)
{
	const struct torus_shape *s = &net->p.shape;
	struct node *n = &net->node[id];
	struct torus_coords at;

	torus_node_coords(s, id, &at);
	n->random = net->p.seed + SPLITMIX64_STEP * (id + 1ull);
	n->random = random64(&n->random);
	n->idle = (2u << net->dirs) - 1;
	for (unsigned int d = 0; d < net->dims; d++) {
		n->at[d] = at.c[d];
		n->wrap |= (u16)((at.c[d] == s->size[d] - 1) << d);
		n->wrap |= (u16)((at.c[d] == 0) << (d + net->dims));
	}
	for (unsigned int dir = 0; dir < net->dirs; dir++)
		net->neighbour[id * net->dirs + dir] = torus_neighbour(s, id, dir);
	for (unsigned int i = 0; i < net->host; i++)
		net->output[channel_of(net, id, i)].bubble.free = (u16)net->p.queue;
	if (net->backlog)
		net->backlog[2 * (size_t)id] = NONE;
}

/* Chooses the buffers of the ring that leaves @node by @dir that are critical at first. */
static void place_bubbles(struct flow_net *net, u32 node, unsigned int dir, u64 *random)
{
	u32 k = net->p.shape.size[dir % net->dims], at = node;
	u32 buffers = k * net->p.queue, seen = 0;
	u32 bubbles = flow_ring_bubbles(&net->p, dir % net->dims), left = bubbles;

	for (u32 i = 0; i < k; i++) {
		struct tn_bubble *b = &net->output[channel_of(net, at, dir)].bubble;

		for (u32 q = 0; q < net->p.queue; q++, seen++) {
			/* even placement: one at each buffer at which the line passes an integer */
			bool here = net->p.place == FLOW_PLACE_EVEN ?
				    (u64)(seen + 1) * bubbles / buffers >
				    (u64)seen * bubbles / buffers :
				    below(random, buffers - seen) < left;

			left -= here;
			b->critical = (u16)(b->critical + here);
		}
		at = net->neighbour[at * net->dirs + dir];
	}
}

static void place_all_bubbles(struct flow_net *net)
{
	u64 random = ~net->p.seed;

	for (u32 id = 0; id < net->nodes; id++)
		for (unsigned int dir = 0; dir < net->dirs; dir++)
			if (!net->node[id].at[dir % net->dims] &&
			    net->p.shape.size[dir % net->dims] > 1)
				place_bubbles(net, id, dir, &random);
}

static void start_timers(struct flow_net *net)
{
	net->now = FIRST - 1;
	for (u32 c = 0; net->rule == TN_BUBBLE_MBS && c < net->nodes << net->shift; c++)
		if (tn_bubble_watch(net->rule, &net->output[c].bubble, net->now)) {
			net->output[c].timer = true;
			wheel_add(net, &net->ask, net->now + net->p.timer,
				  (u64)EV_TIMER << 32 | c);
		}
}

static u32 max_u32(u32 a, u32 b)
{
	return a > b ? a : b;
}

static int make_wheels(struct flow_net *net)
{
	const struct flow_params *p = &net->p;

	return wheel_make(net, &net->leave, max_u32(p->packet, p->hop + p->response)) ||
	       wheel_make(net, &net->arrive, p->hop) ||
	       wheel_make(net, &net->late, max_u32(net->p.credit_delay, p->response)) ||
	       wheel_make(net, &net->ask, max_u32(p->timer, p->hop));
}

static void size_up(struct flow_net *net)
{
	const struct flow_params *p = &net->p;

	net->dims = p->shape.ndims;
	net->dirs = 2 * net->dims;
	net->vcs = p->policy->vcs;
	net->host = net->dirs * net->vcs;
	while (1u << net->shift <= net->host)
		net->shift++;
	net->nodes = torus_nodes(&p->shape);
	net->rule = p->policy->rule;
	net->slots = p->queue + (p->freed == FLOW_HEAD);
	net->source_slots = p->source_queue;
	net->free_packet = NONE;
}

struct flow_net *flow_new(const struct flow_params *p)
{
	struct flow_net *net = calloc(1, sizeof(*net));
	size_t channels;

	if (!net)
		return NULL;
	net->bytes = sizeof(*net);
	net->p = *p;
	if (!p->policy->tests)
		net->p.test = FLOW_DOWNSTREAM;
	size_up(net);
	channels = (size_t)net->nodes << net->shift;
	net->node = net_alloc(net, net->nodes, sizeof(*net->node));
	net->input = net_alloc(net, channels, sizeof(*net->input));
	net->output = net_alloc(net, channels, sizeof(*net->output));
	net->slot = net_alloc(net, (size_t)net->nodes * net->host * net->slots, sizeof(u32));
	net->source = net_alloc(net, (size_t)net->nodes * net->source_slots, sizeof(u32));
	net->neighbour = net_alloc(net, (size_t)net->nodes * net->dirs, sizeof(u32));
	net->active = net_alloc(net, net->nodes / 64 + 1, sizeof(u64));
	net->backlog = p->trace ? net_alloc(net, 2 * (size_t)net->nodes, sizeof(u32)) : NULL;
	if (net->failed || make_wheels(net)) {
		flow_free(net);
		return NULL;
	}
	for (u32 id = 0; id < net->nodes; id++)
		init_node(net, id);
	place_all_bubbles(net);
	start_timers(net);
	births_begin(net);
	return net;
}

void flow_free(struct flow_net *net)
{
	if (!net)
		return;
	wheel_free(&net->leave);
	wheel_free(&net->arrive);
	wheel_free(&net->late);
	wheel_free(&net->ask);
	free(net->node);
	free(net->input);
	free(net->output);
	free(net->slot);
	free(net->source);
	free(net->neighbour);
	free(net->active);
	free(net->backlog);
	free(net->packet);
	free(net);
}

void flow_on_delivery(struct flow_net *net,
		      void (*fn)(void *arg, uint32_t now, uint32_t src, uint32_t dst,
				 uint32_t born), void *arg)
{
	net->on_delivery = fn;
	net->on_arg = arg;
}

uint64_t flow_inside(const struct flow_net *net)
{
	return net->inside;
}

void flow_false_packets(const struct flow_net *net, uint64_t *requests, uint64_t *responses)
{
	*requests = net->requests;
	*responses = net->responses;
}

/* --- a run ----------------------------------------------------------------- */

/* Return: the latency that 99 of 100 packets do not exceed: the upper end of its bin. */
static u32 percentile_99(const struct flow_net *net)
{
	u64 want = net->got - net->got / 100, seen = 0;
	u32 bin = 0;

	if (!net->got)
		return 0;
	while ((seen += net->histogram[bin]) < want)
		bin++;
	invariant(bin < LATENCIES);
	if (bin < 16)
		return bin;
	return ((bin % 16 + 17) << (bin / 16 - 1)) - 1;
}

static void still_waiting(struct flow_net *net)
{
	for (u32 c = 0; c < net->nodes << net->shift; c++) {
		const struct input *in = &net->input[c];

		if (in->count && !in->sending && net->now - in->since > net->wait_max)
			net->wait_max = net->now - in->since;
	}
}

/* Return: true if the run has to continue. */
static bool is_unfinished(struct flow_net *net, bool *deadlock, u64 *seen, u32 *since)
{
	if (net->now % DEADLOCK_EVERY == 0 && flow_deadlocked(net)) {
		*deadlock = true;
		return false;
	}
	if (!net->p.trace)
		return true;
	if (net->traced == net->p.trace->n && !net->inside)
		return false;
	if (*seen != net->delivered || net->traced < net->p.trace->n) {
		*seen = net->delivered;
		*since = net->now;
	}
	return net->now - *since < CALM_MAX;
}

int flow_run(struct flow_net *net, struct flow_result *r)
{
	u32 begin = net->now, warm = begin + (net->p.trace ? 0 : net->p.warmup);
	u32 end = net->p.trace ? UINT32_MAX : warm + net->p.cycles, since = begin;
	u64 seen = 0;
	double t = seconds_of(CLOCK_THREAD_CPUTIME_ID);

	*r = (struct flow_result){ .deadlock = false };
	net->measuring = warm == begin;
	while (net->now != end && is_unfinished(net, &r->deadlock, &seen, &since)) {
		if (flow_step(net))
			return -ENOMEM;
		if (net->now == warm)
			net->measuring = true;
	}
	still_waiting(net);
	r->cpu = seconds_of(CLOCK_THREAD_CPUTIME_ID) - t;
	r->end = net->now - begin;
	/* a deadlocked run would deliver nothing in the remaining time */
	if (net->measuring && net->now > warm)
		r->accepted = (double)net->got * net->p.packet / net->nodes /
			      (r->deadlock && !net->p.trace ? net->p.cycles : net->now - warm);
	r->latency = net->got ? (double)net->latency_sum / (double)net->got : 0;
	r->p99 = percentile_99(net);
	r->born = net->born;
	r->refused = net->refused;
	r->delivered = net->got;
	r->requests = net->requests;
	r->responses = net->responses;
	r->wait_max = net->wait_max;
	r->consistent = flow_consistent(net);
	r->bytes = net->bytes;
	return net->failed ? -ENOMEM : 0;
}
