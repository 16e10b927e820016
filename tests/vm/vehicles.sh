# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# The machines that guests run on; sourced by tests/vm/guest. launch_KIND starts the kernel in
# $kernel with $here/init as its first process and its console on standard input and output, and
# ends with it: status 0 if the guest switched itself off. Call it in a subshell, which it may
# replace. Callers set: kind, kernel (a directory of tests/vm/kernel), results, mem (MiB), cpus,
# cpu (a model of QEMU), extra (words for the kernel's command line), icount (not empty: the
# clock counts instructions), work (a directory for files of the run), shell (1: a user is at the
# console).

# Directories that each guest has for itself (init): it does not see those of the host.
own=(/dev /run /tmp /var/tmp)

# All reports, not only the first; no devices that were not asked for.
boot=(kasan_multi_shot no_hash_pointers fb_tunnels=none dummy.numdummies=0 random.trust_cpu=on
	"VM_OWN=$(IFS=,; echo "${own[*]}")")

# A directory for the guest's memory, a sparse file that is mapped executable
memory_dir() {
	local d
	for d in /dev/shm "${TMPDIR:-/tmp}" /tmp; do
		[[ -d $d && $(findmnt -no OPTIONS -T "$d") != *noexec* ]] || continue
		(($(df --output=avail -m "$d" | tail -n 1) > mem)) || continue
		echo "$d"
		return
	done
	die "no directory with $mem MiB for the guest's memory (/dev/shm, TMPDIR, /tmp)"
}

# stay_on_one_processor: keeps this process and its children on a processor on which no other guest
# stays, or on any. UML and the processes of its guest take turns at each system call and page fault,
# and to wake a process on another processor takes long. The lock ends with the guest.
stay_on_one_processor() {
	local all cpu lock
	mapfile -t all < <(sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status | tr ',-' '\n ' |
		while read -r a b; do seq "$a" "${b:-$a}"; done | shuf)
	mkdir -p /run/lock
	for cpu in "${all[@]}"; do
		exec {lock}>>"/run/lock/torus-guest-$cpu"
		flock -n "$lock" && break
		exec {lock}>&-
	done
	taskset -cp "$cpu" "$BASHPID" >/dev/null
}

launch_uml() {
	# VAR=value words that the kernel does not know become init's environment. UML makes
	# itself a process group, so exec replaces the shell, whose process id the caller knows.
	# No core files: KASAN's shadow memory is terabytes large, and after a panic the kernel
	# would walk it for many minutes.
	ulimit -c 0
	stay_on_one_processor
	exec env TMPDIR="$(memory_dir)" "$kernel/kernel" "mem=${mem}M" root=/dev/root rootfstype=hostfs \
		rootflags=/ ro "init=$here/init" con=null con0=fd:0,fd:1 \
		"${boot[@]}" VM_KIND=uml "VM_DIR=$results" "${extra[@]}"
}

# The stock kernel has all drivers as modules; those needed to reach the host's files
# go into the initramfs, in the order of their dependencies.
initramfs_modules() {
	local root=$work/initramfs m file name
	[[ -e $kernel/modules ]] || return 0
	for m in virtio_pci 9pnet_virtio 9p overlay; do
		# lines "insmod /path/x.ko"; the tree's name ends in lib/modules/RELEASE
		modprobe -S "$(basename "$(readlink "$kernel/modules")")" \
			-d "$(readlink "$kernel/modules" | sed 's,lib/modules/.*,,')" \
			--show-depends "$m" | awk '$1 == "insmod" { print $2 }'
	done | awk '!seen[$0]++' >"$work/order"
	while read -r file; do
		name=$(basename "$file" .xz)
		if [[ $file == *.xz ]]; then xz -dc "$file"; else cat "$file"; fi >"$root/lib/$name"
		echo "$name" >>"$root/lib/order"
	done <"$work/order"
}

initramfs() {
	local root=$work/initramfs
	mkdir -p "$root"/{bin,lib,dev,proc,lower,upper,new}
	cp "$(command -v busybox)" "$root/bin/busybox"
	: >"$root/lib/order"
	initramfs_modules
	cat >"$root/init" <<-'INIT'
		#!/bin/busybox sh
		bb=/bin/busybox
		$bb mount -t devtmpfs devtmpfs /dev
		[ -n "$VM_SHELL" ] || exec </dev/null >/dev/kmsg 2>&1
		for m in $($bb cat /lib/order); do $bb insmod /lib/$m; done
		$bb mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=262144 root /lower
		$bb mount -t tmpfs tmpfs /upper
		$bb mkdir /upper/up /upper/work
		$bb mount -t overlay -o lowerdir=/lower,upperdir=/upper/up,workdir=/upper/work root /new
		$bb mount -o move /dev /new/dev
		exec $bb switch_root /new $VM_INIT
	INIT
	chmod +x "$root/init"
	(cd "$root" && find . | busybox cpio -o -H newc 2>/dev/null) >"$work/initrd"
}

# launch_qemu [WORD...]: the words are for the kernel's command line. A busy host may not run the
# guest for half a minute and more, which is no stall of the guest itself. If the processor
# claimed fast string instructions, the kernel would copy and clear pages byte by byte, which is
# slow here. A fifth level of page tables makes each miss of the emulated TLB slower: without it
# a boot takes an eighth less.
launch_qemu() {
	local rc=0 clockwork=(-accel 'tcg,thread=multi')
	[[ -z $icount ]] || clockwork=(-accel 'tcg,thread=single' -icount 'shift=0,sleep=on')
	initramfs
	qemu-system-x86_64 -M q35 "${clockwork[@]}" -cpu "$cpu" -m "$mem" -smp "$cpus" \
		-nodefaults -display none -serial stdio -no-reboot \
		-kernel "$kernel/kernel" -initrd "$work/initrd" \
		-fsdev local,id=root,path=/,security_model=none,readonly=on,multidevs=remap \
		-device virtio-9p-pci,fsdev=root,mount_tag=root \
		-fsdev "local,id=results,path=$results,security_model=none" \
		-device virtio-9p-pci,fsdev=results,mount_tag=results \
		-device isa-debug-exit,iobase=0xf4,iosize=0x04 \
		-append "panic=-1 mitigations=off nokaslr no_timer_check \
printk.devkmsg=on rcupdate.rcu_cpu_stall_timeout=120 ${boot[*]} VM_KIND=$kind VM_DIR=$results VM_INIT=$here/init VM_SHELL=$shell \
$* ${extra[*]}" || rc=$?
	((rc == 33)) && return 0
	return $((rc ? rc : 1))
}

launch_stock() {
	launch_qemu console=ttyS0
}

launch_next() {
	launch_qemu console=ttyS0
}

# Lockdep sees the locks of the serial port's terminal and of the log in two orders, and then
# turns itself off; this has nothing to do with the driver. So the log is written as in early
# boot, without these locks, and there is no terminal except for a shell.
launch_smp() {
	if [[ $shell ]]; then
		launch_qemu console=ttyS0
	else
		launch_qemu earlycon=uart8250,io,0x3f8,115200 keep_bootcon console=null
	fi
}
