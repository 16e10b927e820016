# SPDX-License-Identifier: GPL-2.0-only
# The manager as a state machine (fm-objs), the growth of partitions (growth-objs) and the codec of its messages
# (svc-objs, needs svc-libs). The machine itself needs lib/topology and lib/route.
growth-objs := $(addprefix daemon/fm/grow/,edge.o release.o growth.o packet.o)
fm-objs := $(addprefix daemon/fm/,fm.o config.o status.o wire/init.o wire/plan.o \
	$(addprefix node/,log.o spare.o random.o lag.o port.o square.o wave.o bootstrap.o tree.o conns.o reports.o \
		uplink.o children.o called.o follow.o try.o home.o candidate.o verdict.o handover.o keep.o orders.o jobs.o library.o table.o nic_actions.o job_rows.o rows.o task.o grower.o member.o) \
	$(addprefix root/,root.o claim.o calls.o arbiter.o quorum.o epoch.o roster.o join.o base.o changes.o tally.o sums.o demand.o recall.o plan.o parts.o \
		judge.o settle.o news.o corner.o discover.o wiring.o dispute.o vanish.o damp.o cables.o isolated.o service.o guard.o apart.o \
		publish.o ranks.o recovery.o leftover.o ended.o admin.o box.o job.o grown.o term.o resign.o extend.o grow.o)) lib/util/hash.o $(growth-objs)
svc-objs := daemon/codec.o daemon/codec_unpack.o daemon/codec_table.o daemon/codec_orders.o daemon/codec_jobs.o \
	daemon/texts.o gen/daemon/svc.pb-c.o
svc-libs := $(call pkg-libs,libprotobuf-c)

gen-files += $(B)/gen/daemon/svc.pb-c.h
$(B)/gen/daemon/svc.pb-c.h $(B)/gen/daemon/svc.pb-c.c &: daemon/svc.proto
	@mkdir -p $(@D)
	protoc-c --c_out=$(B)/gen daemon/svc.proto
