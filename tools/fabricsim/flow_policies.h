/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All policies of fabricsim flow, in the order in which users see them. Who includes this file
 * defines FLOW_POLICY(name) before and says with it what becomes of each; so it has no guard.
 */
FLOW_POLICY(flow_bloc)
FLOW_POLICY(flow_cbs)
FLOW_POLICY(flow_mbs)
FLOW_POLICY(flow_dateline)
FLOW_POLICY(flow_adaptive)
FLOW_POLICY(flow_none)
#undef FLOW_POLICY
