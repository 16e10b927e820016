/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All policies of fabricsim flow, in the order in which users see them. A file defines
 * FLOW_POLICY(name), which is expanded for each policy, and then includes this one. It may do so
 * several times, so there is no include guard.
 */
FLOW_POLICY(flow_bloc)
FLOW_POLICY(flow_cbs)
FLOW_POLICY(flow_mbs)
FLOW_POLICY(flow_dateline)
FLOW_POLICY(flow_adaptive)
FLOW_POLICY(flow_none)
#undef FLOW_POLICY
