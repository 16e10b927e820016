#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tests the checks of guests: makes each kind of mistake that they should detect, on purpose, and
# expects a report. Lock orders come before memory, because a report about memory turns lockdep
# off.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
VM=${VM:-uml}
# shellcheck source=tests/check.sh
. "$TOP/tests/check.sh"
out=$tmp/out

# caught NAME REGEX: the run reported it
caught() { check "a kernel check catches: $1" grep -qE "$2" "$out"; }
# shellcheck disable=SC2317
explain() { cat "$out"; }

guest() {
	! "$TOP/tests/vm/guest" --hurry --no-driver "$@" >"$out" 2>&1 ||
		check "a run with mistakes fails" false
}

# shellcheck disable=SC2016 # for the guest's shell
guest --no-plan --leaks --module "$TOP/tests/vm/faulty" "$VM" bash -c '
	for m in sleep rcu shift bounds list lock-order timer overrun use-after-free leak; do
		insmod "$KMOD2/faulty.ko" "mistake=$m" 2>/dev/null
	done
	exit 0'
caught 'sleeping under a spinlock' 'BUG: sleeping function called from invalid context'
caught 'RCU pointer read without the lock' 'suspicious RCU usage.*faulty\.c'
caught 'shift too far' 'UBSAN: shift-out-of-bounds in .*faulty\.c'
caught 'index out of bounds' 'UBSAN: array-index-out-of-bounds in .*faulty\.c'
caught 'list entry added twice' 'WARNING: .*(lib/list_debug|__list_add_valid)'
caught 'locks in two orders' 'possible circular locking dependency'
caught 'armed timer freed' 'ODEBUG: free active'
caught 'write past the end' 'KASAN: slab-out-of-bounds in overrun'
caught 'use after free' 'KASAN: slab-use-after-free in use_after|KASAN: use-after-free in use_after'
caught 'lockdep turned off' 'not ok - lockdep watches to the end'
caught 'memory leak' 'not ok - no memory is leaked: unreferenced object .*size 1024'

# shellcheck disable=SC2016
guest --no-plan --module "$TOP/tests/vm/faulty" "$VM" bash -c 'insmod "$KMOD2/faulty.ko" mistake=panic'
caught 'panic' 'not ok - ends by itself: the guest died'
# shellcheck disable=SC2016
guest --no-plan --module "$TOP/tests/vm/faulty" "$VM" bash -c '
	echo 0 >"$VM_DIR/status"
	sync
	insmod "$KMOD2/faulty.ko" mistake=panic'
caught 'panic after the script' 'the guest died \(exit status [0-9]+; its script had ended with 0\)'
guest "$VM" echo 1..0
caught 'a script that tells no tests' 'not ok - script: it ended without a plan'
guest "$VM" tests/vm/inside/each /dev/null
caught 'one of several that ends early' 'not ok - /dev/null ends with its plan'
guest --no-plan "$VM" false
caught 'a script that fails' 'not ok - script: exit status 1'
B=/tmp/build guest --no-plan "$VM" true
caught 'files that the guest cannot see' '/tmp/build is below /tmp, which each guest has for itself'
guest --no-plan --limit 8 "$VM" bash -c "while :; do :; done"
caught 'a script that hangs' 'not ok - ends by itself: ended by the limit'

# Kernel messages of UML about the processes and memory of the host that its guests consist of are
# caught.
while read -r line; do
	echo "[    3.140000] $line" | awk -f "$TOP/tests/vm/scan.awk" >"$out"
	caught "UML: $line" "${line//[()]/.}"
done <<'LINES'
wait_stub_done : failed to wait for SIGTRAP, pid = 42, n = 42, errno = 0, status = 0xb7f
Failed to get registers from stub, errno = 3
handle_trap - failed to wait at end of syscall, errno = 10, status = 9
userspace - ptrace set regs failed, errno = 3
userspace - child stopped with signal 15
start_userspace : clone failed, errno = 11
copy_context_skas0 - stub-parent reports error 12
fix_range_common: failed, killing current process: 42
Bus error - the host /dev/shm or /tmp mount likely just ran out of space
LINES
[[ $VM == uml ]] || done_testing

# shellcheck disable=SC2016
guest --no-plan --boot con0=null --module "$TOP/tests/vm/faulty" uml bash -c 'insmod "$KMOD2/faulty.ko" mistake=panic'
caught 'panic that no console tells' 'not ok - the kernel does not complain: Kernel panic: '
# shellcheck disable=SC2317
halts_late() {
	LD_PRELOAD=$B/tests/vm/latetick.so LATETICK_FILE=$tmp/late \
		"$TOP/tests/vm/guest" --no-driver --no-plan uml true >"$out" 2>&1 && [[ -e $tmp/late ]]
}
check "the clock ticks while UML halts" halts_late
done_testing
