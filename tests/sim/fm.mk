# SPDX-License-Identifier: GPL-2.0-only
# The world they watch is fabricsim's.
series-objs := tests/sim/series.o tools/fabricsim/jobs.o tools/fabricctl/output.o
sim-objs := $(addprefix tests/sim/,check_flow.o check_fate.o check_hold.o check_where.o \
	check_epoch.o check_order.o check_admin.o check_takeover.o \
	check_drain.o check_end.o check_tally.o trial.o) $(sim-world-objs)

tests += tests/sim/test_bootstrap
tests/sim/test_bootstrap-objs := tests/sim/test_bootstrap.o $(sim-objs)
tests/sim/test_bootstrap-deps := $(B)/libtorus.a
tests/sim/test_bootstrap-libs := $(svc-libs) $(call pkg-libs,cmocka)

tests += tests/sim/test_recovery
tests/sim/test_recovery-objs := tests/sim/test_recovery.o $(sim-objs)
tests/sim/test_recovery-deps := $(B)/libtorus.a
tests/sim/test_recovery-libs := $(svc-libs) $(call pkg-libs,cmocka)

tests += tests/sim/test_members
tests/sim/test_members-objs := tests/sim/test_members.o $(sim-objs)
tests/sim/test_members-deps := $(B)/libtorus.a
tests/sim/test_members-libs := $(svc-libs) $(call pkg-libs,cmocka)

tests += tests/sim/test_grow
tests/sim/test_grow-objs := tests/sim/test_grow.o $(sim-objs)
tests/sim/test_grow-deps := $(B)/libtorus.a
tests/sim/test_grow-libs := $(svc-libs) $(call pkg-libs,cmocka)

tests += tests/sim/test_damp
tests/sim/test_damp-objs := tests/sim/test_damp.o $(sim-objs)
tests/sim/test_damp-deps := $(B)/libtorus.a
tests/sim/test_damp-libs := $(svc-libs) $(call pkg-libs,cmocka)

tests += tests/sim/test_liar
tests/sim/test_liar-objs := tests/sim/test_liar.o $(sim-objs)
tests/sim/test_liar-deps := $(B)/libtorus.a
tests/sim/test_liar-libs := $(svc-libs) $(call pkg-libs,cmocka)

tests += tests/sim/test_random_lines
tests/sim/test_random_lines-objs := tests/sim/random_lines.o $(series-objs) $(sim-objs)
tests/sim/test_random_lines-deps := $(B)/libtorus.a
tests/sim/test_random_lines-libs := $(svc-libs) -lpthread

tests += tests/sim/test_random_faults
tests/sim/test_random_faults-objs := tests/sim/random_faults.o $(series-objs) $(sim-objs)
tests/sim/test_random_faults-deps := $(B)/libtorus.a
tests/sim/test_random_faults-libs := $(svc-libs) -lpthread

tests += tests/sim/test_random_relays
tests/sim/test_random_relays-objs := tests/sim/random_relays.o $(series-objs) $(sim-objs)
tests/sim/test_random_relays-deps := $(B)/libtorus.a
tests/sim/test_random_relays-libs := $(svc-libs) -lpthread

tests += tests/sim/test_relays
tests/sim/test_relays-objs := tests/sim/test_relays.o $(sim-objs)
tests/sim/test_relays-deps := $(B)/libtorus.a
tests/sim/test_relays-libs := $(svc-libs) $(call pkg-libs,cmocka)

tests += tests/sim/test_service
tests/sim/test_service-objs := tests/sim/test_service.o tests/sim/ends.o $(sim-objs)
tests/sim/test_service-deps := $(B)/libtorus.a
tests/sim/test_service-libs := $(svc-libs) $(call pkg-libs,cmocka)

tests += tests/sim/test_dead
tests/sim/test_dead-objs := tests/sim/test_dead.o $(sim-objs)
tests/sim/test_dead-deps := $(B)/libtorus.a
tests/sim/test_dead-libs := $(svc-libs) $(call pkg-libs,cmocka)

tests += tests/sim/test_replace
tests/sim/test_replace-objs := tests/sim/test_replace.o $(sim-objs)
tests/sim/test_replace-deps := $(B)/libtorus.a
tests/sim/test_replace-libs := $(svc-libs) $(call pkg-libs,cmocka)

tests += tests/sim/test_slow
tests/sim/test_slow-objs := tests/sim/test_slow.o $(sim-objs)
tests/sim/test_slow-deps := $(B)/libtorus.a
tests/sim/test_slow-libs := $(svc-libs) $(call pkg-libs,cmocka)

tests += tests/sim/test_vanish
tests/sim/test_vanish-objs := tests/sim/test_vanish.o $(sim-objs)
tests/sim/test_vanish-deps := $(B)/libtorus.a
tests/sim/test_vanish-libs := $(svc-libs) $(call pkg-libs,cmocka)

tests += tests/sim/test_keep
tests/sim/test_keep-objs := tests/sim/test_keep.o $(sim-objs)
tests/sim/test_keep-deps := $(B)/libtorus.a
tests/sim/test_keep-libs := $(svc-libs) $(call pkg-libs,cmocka)

tests += tests/sim/test_takeover
tests/sim/test_takeover-objs := tests/sim/test_takeover.o tests/sim/ends.o $(sim-objs)
tests/sim/test_takeover-deps := $(B)/libtorus.a
tests/sim/test_takeover-libs := $(svc-libs) $(call pkg-libs,cmocka)

tests += tests/sim/test_calls
tests/sim/test_calls-objs := tests/sim/test_calls.o tests/sim/ends.o $(sim-objs)
tests/sim/test_calls-deps := $(B)/libtorus.a
tests/sim/test_calls-libs := $(svc-libs) $(call pkg-libs,cmocka)

tests += tests/sim/test_arbiter
tests/sim/test_arbiter-objs := tests/sim/test_arbiter.o $(sim-objs)
tests/sim/test_arbiter-deps := $(B)/libtorus.a
tests/sim/test_arbiter-libs := $(svc-libs) $(call pkg-libs,cmocka)

tests += tests/sim/test_foreign
tests/sim/test_foreign-objs := tests/sim/test_foreign.o $(sim-objs)
tests/sim/test_foreign-deps := $(B)/libtorus.a
tests/sim/test_foreign-libs := $(svc-libs) $(call pkg-libs,cmocka)

tests += tests/sim/test_follow
tests/sim/test_follow-objs := tests/sim/test_follow.o $(sim-objs)
tests/sim/test_follow-deps := $(B)/libtorus.a
tests/sim/test_follow-libs := $(svc-libs) $(call pkg-libs,cmocka)

tests += tests/sim/test_check
tests/sim/test_check-objs := tests/sim/test_check.o $(sim-objs)
tests/sim/test_check-deps := $(B)/libtorus.a
tests/sim/test_check-libs := $(svc-libs) $(call pkg-libs,cmocka)

tests += tests/sim/test_check_fate
tests/sim/test_check_fate-objs := tests/sim/test_check_fate.o $(sim-objs)
tests/sim/test_check_fate-deps := $(B)/libtorus.a
tests/sim/test_check_fate-libs := $(svc-libs) $(call pkg-libs,cmocka)

tests += tests/sim/test_live
tests/sim/test_live-objs := tests/sim/test_live.o $(sim-objs)
tests/sim/test_live-deps := $(B)/libtorus.a
tests/sim/test_live-libs := $(svc-libs) $(call pkg-libs,cmocka)

tests += tests/sim/test_random_roots
tests/sim/test_random_roots-objs := tests/sim/random_roots.o $(series-objs) $(sim-objs)
tests/sim/test_random_roots-deps := $(B)/libtorus.a
tests/sim/test_random_roots-libs := $(svc-libs) -lpthread

tests += tests/sim/test_unfit
tests/sim/test_unfit-objs := tests/sim/test_unfit.o $(sim-objs)
tests/sim/test_unfit-deps := $(B)/libtorus.a
tests/sim/test_unfit-libs := $(svc-libs) $(call pkg-libs,cmocka)

# Its NICs can be told to keep credits.
tests += tests/sim/test_stall
tests/sim/test_stall-objs := tests/sim/test_stall.o daemon/stall_walk.o $(sim-objs)
tests/sim/test_stall-deps := $(B)/libtorus.a
tests/sim/test_stall-libs := $(svc-libs) $(call pkg-libs,cmocka) -Wl,--wrap=tn_credit_report

tests += tests/sim/test_candidates
tests/sim/test_candidates-objs := tests/sim/test_candidates.o tests/sim/ends.o $(sim-objs)
tests/sim/test_candidates-deps := $(B)/libtorus.a
tests/sim/test_candidates-libs := $(svc-libs) $(call pkg-libs,cmocka)

tests += tests/sim/test_rings
tests/sim/test_rings-objs := tests/sim/test_rings.o tests/sim/ends.o $(sim-objs)
tests/sim/test_rings-deps := $(B)/libtorus.a
tests/sim/test_rings-libs := $(svc-libs) $(call pkg-libs,cmocka)

tests += tests/sim/test_address_plan
tests/sim/test_address_plan-objs := tests/sim/test_address_plan.o tests/sim/ends.o $(sim-objs)
tests/sim/test_address_plan-deps := $(B)/libtorus.a
tests/sim/test_address_plan-libs := $(svc-libs) $(call pkg-libs,cmocka)
tests += tests/sim/test_lost
tests/sim/test_lost-objs := tests/sim/test_lost.o tests/sim/ends.o $(sim-objs)
tests/sim/test_lost-deps := $(B)/libtorus.a
tests/sim/test_lost-libs := $(svc-libs) $(call pkg-libs,cmocka)

tests += tests/sim/test_scarce
tests/sim/test_scarce-objs := tests/sim/test_scarce.o $(sim-objs)
tests/sim/test_scarce-deps := $(B)/libtorus.a
tests/sim/test_scarce-libs := $(svc-libs) $(call pkg-libs,cmocka)

tests += tests/sim/test_large
tests/sim/test_large-objs := tests/sim/test_large.o tests/sim/ends.o $(sim-objs)
tests/sim/test_large-deps := $(B)/libtorus.a
tests/sim/test_large-libs := $(svc-libs) $(call pkg-libs,cmocka)

tests += tests/sim/test_wave
tests/sim/test_wave-objs := tests/sim/test_wave.o $(sim-objs)
tests/sim/test_wave-deps := $(B)/libtorus.a
tests/sim/test_wave-libs := $(svc-libs) $(call pkg-libs,cmocka)

tests += tests/sim/test_pause
tests/sim/test_pause-objs := tests/sim/test_pause.o $(sim-objs)
tests/sim/test_pause-deps := $(B)/libtorus.a
tests/sim/test_pause-libs := $(svc-libs) $(call pkg-libs,cmocka)

tests += tests/sim/test_split
tests/sim/test_split-objs := tests/sim/test_split.o $(sim-objs)
tests/sim/test_split-deps := $(B)/libtorus.a
tests/sim/test_split-libs := $(svc-libs) $(call pkg-libs,cmocka)

tests += tests/sim/test_job
tests/sim/test_job-objs := tests/sim/test_job.o tests/sim/ends.o $(sim-objs)
tests/sim/test_job-deps := $(B)/libtorus.a
tests/sim/test_job-libs := $(svc-libs) $(call pkg-libs,cmocka)
tests += tests/sim/test_job_grow
tests/sim/test_job_grow-objs := tests/sim/test_job_grow.o tests/sim/ends.o $(sim-objs)
tests/sim/test_job_grow-deps := $(B)/libtorus.a
tests/sim/test_job_grow-libs := $(svc-libs) $(call pkg-libs,cmocka)
