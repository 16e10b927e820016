// SPDX-License-Identifier: GPL-2.0-only
#include "flow_policy.h"

const struct flow_policy *const flow_policies[] = {
#define FLOW_POLICY(name) &name,
#include "flow_policies.h"
	NULL,
};

const char *flow_policy_name(const struct flow_policy *policy)
{
	return policy->name;
}

bool flow_policy_has_bubbles(const struct flow_policy *policy)
{
	return policy->bubbles;
}

unsigned int flow_ring_bubbles(const struct flow_params *p, unsigned int dim)
{
	if (!p->policy->bubbles)
		return 0;
	return p->bubbles ? p->bubbles : p->policy->bubbles(p, dim);
}
