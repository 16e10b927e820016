# SPDX-License-Identifier: GPL-2.0-only
# A library for each MPI that is installed: libtorus-ompi, libtorus-mpich. They contain libtorus.
# "make mpi-kinds=" makes none.
mpi-kinds := $(if $(shell pkg-config --exists ompi-c && echo y),ompi) \
	$(if $(shell pkg-config --exists mpich && echo y),mpich)
mpi-pkg-ompi := ompi-c
mpi-pkg-mpich := mpich
mpi-sources := places mpix order shim traffic
mpi-map := lib/mpi/libtorus-mpi.map
mpi-targets := $(foreach k,$(mpi-kinds),$(B)/libtorus-$(k).so)
mpi-dir = $(DESTDIR)$(LIBDIR)/torus

define mpi-library
$$(B)/lib/mpi/$(1)/%.o: CPPFLAGS += $$(patsubst -I%,-isystem %,$$(call pkg-cflags,$$(mpi-pkg-$(1))))
$$(B)/lib/mpi/$(1)/%.o: lib/mpi/%.c
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)
	$$(Q)$$(CC) $$(CPPFLAGS) $$(CFLAGS) -MMD -MP $$(both-names) -MF $$@.d -c -o $$@ $$<
$$(B)/libtorus-$(1).so: $$(mpi-sources:%=$$(B)/lib/mpi/$(1)/%.o) $$(B)/libtorus.a $$(mpi-map)
	$$(call say,LINK,$$@)
	$$(Q)$$(CC) -shared $$(LDFLAGS) -Wl,-soname,$$(@F) -Wl,--version-script,$$(mpi-map) \
		$$(if $$(SANFLAGS),,-Wl,-z,defs) -Wl,--as-needed -o $$@ $$(filter %.o %.a,$$^) \
		$$(lib-libs) $$(filter-out -Wl%,$$(call pkg-libs,$$(mpi-pkg-$(1)))) -ldl
endef
$(foreach k,$(mpi-kinds),$(eval $(call mpi-library,$(k))))

all: $(mpi-targets)

install-mpi: $(mpi-targets)
	install -d $(mpi-dir) $(DESTDIR)$(PREFIX)/share/man/man7
	install -m 644 $(mpi-targets) $(mpi-dir)/
	install -m 644 lib/mpi/libtorus-mpi.7 $(DESTDIR)$(PREFIX)/share/man/man7/

install: $(if $(strip $(mpi-kinds)),install-mpi)
.PHONY: install-mpi
