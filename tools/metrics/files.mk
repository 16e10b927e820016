# SPDX-License-Identifier: GPL-2.0-only
metrics-objs := tools/metrics/families.o tools/metrics/samples.o tools/metrics/text.o
$(B)/tools/metrics/%.o: CPPFLAGS += $(call pkg-cflags,jansson)
