// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "flow_sweep.h"
#include "jobs.h"
#include "tools/fabricctl/command.h"
#include "tools/fabricctl/output.h"

struct sweep {
	struct flow_point *point;
	size_t n;
	unsigned int seeds;
	uint64_t seed;
	struct flow_result *result;	/* results, by point * seeds + seed */
	uint64_t *undelivered;
};

/* 97.5 % points of Student's distribution for 1 to 30 degrees of freedom. */
static const double student[] = {
	12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179,
	2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
	2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
};

struct mean mean_of(const double *sample, size_t n)
{
	double sum = 0, square = 0, t;
	struct mean m = { NAN, NAN };

	for (size_t i = 0; i < n; i++)
		sum += sample[i];
	if (n)
		m.mean = sum / (double)n;
	if (n < 2)
		return m;
	for (size_t i = 0; i < n; i++)
		square += (sample[i] - m.mean) * (sample[i] - m.mean);
	/* beyond the table: the first term of the expansion in 1 / degrees of freedom */
	t = n - 1 <= sizeof(student) / sizeof(student[0]) ? student[n - 2] :
	    1.960 + 2.4 / (double)(n - 1);
	m.ci95 = t * sqrt(square / (double)(n - 1) / (double)n);
	return m;
}

static int run_job(void *arg, size_t job)
{
	struct sweep *s = arg;
	/* high loads are last in the list and take longest, so the jobs begin with them */
	size_t i = s->n * s->seeds - 1 - job;
	struct flow_params p = s->point[i / s->seeds].params;
	struct flow_net *net;
	int err;

	p.seed = jobs_seed(s->seed, i % s->seeds);
	net = flow_new(&p);
	if (!net)
		return -ENOMEM;
	err = flow_run(net, &s->result[i]);
	s->undelivered[i] = flow_inside(net);
	flow_free(net);
	return err;
}

static int sum_up(struct flow_point *p, const struct flow_result *r, const uint64_t *undelivered,
		  unsigned int seeds, double *sample)
{
	double cpu = 0, born = 0, refused = 0;
	size_t n = 0;

	for (unsigned int k = 0; k < seeds; k++) {
		if (!r[k].consistent)
			return fail("%s: packets or buffers are lost: this is a fault of the "
				    "simulator", flow_policy_name(p->params.policy));
		sample[k] = r[k].accepted;
		cpu += r[k].cpu;
		born += (double)r[k].born;
		refused += (double)r[k].refused;
		p->p99 += (double)r[k].p99 / seeds;
		p->cycles += r[k].end;
		p->delivered += r[k].delivered;
		p->undelivered += undelivered[k];
		p->requests += r[k].requests;
		p->responses += r[k].responses;
		p->deadlocks += r[k].deadlock;
		p->bytes = r[k].bytes > p->bytes ? r[k].bytes : p->bytes;
		p->wait_max = r[k].wait_max > p->wait_max ? r[k].wait_max : p->wait_max;
	}
	p->accepted = mean_of(sample, seeds);
	for (unsigned int k = 0; k < seeds; k++)
		if (r[k].delivered)
			sample[n++] = r[k].latency;
	p->latency = mean_of(sample, n);
	p->refused = born + refused > 0 ? refused / (born + refused) : 0;
	p->cycles_per_s = cpu > 0 ? (double)p->cycles / cpu : 0;
	return OK;
}

int flow_sweep(struct flow_point *point, size_t n, unsigned int seeds, uint64_t seed,
	       unsigned int threads)
{
	struct sweep s = {
		.point = point, .n = n, .seeds = seeds, .seed = seed,
		.result = calloc(n * seeds, sizeof(*s.result)),
		.undelivered = calloc(n * seeds, sizeof(*s.undelivered)),
	};
	double *sample = calloc(seeds, sizeof(*sample));
	int status = OK;

	if (!s.result || !s.undelivered || !sample ||
	    jobs_run(n * seeds, threads, "simulating", run_job, &s))
		status = fail("out of memory");
	for (size_t i = 0; status == OK && i < n; i++)
		status = sum_up(&point[i], s.result + i * seeds, s.undelivered + i * seeds, seeds,
				sample);
	free(s.result);
	free(s.undelivered);
	free(sample);
	return status;
}
