# SPDX-License-Identifier: GPL-2.0-only
#
# awk -f tests/vm/scan.awk [-v allow=REGEX] CONSOLE...
#
# Prints the complaints in a kernel's log and exits with 1 if there are any. One known report is
# ignored: UML's own first fork accesses two trees without the lock that RCU's check demands. A
# report consists of its headline and all lines up to the headline of the next one; known reports
# are recognised by the function named on the line after the headline.

function complain(line) {
	if (allow == "" || line !~ allow) {
		print line
		found++
	}
}

{ sub(/\r$/, "") }

pending != "" {
	if ($0 ~ /^(\[[ 0-9.]*\] )?[0-9.]+[^ ]* (Not tainted|#)/ || $0 ~ /-----/ || /Not tainted|Tainted/)
		next
	if ($0 !~ /(lib\/maple_tree\.c|kernel\/fork\.c|include\/linux\/sched\/signal\.h).*suspicious/)
		complain(pending " " $0)
	pending = ""
	next
}

/WARNING: suspicious RCU usage/ { pending = $0; next }

/BUG: |BUG\(|kernel BUG at|WARNING: |Oops|Kernel panic|general protection|divide error/ ||
/KASAN: |UBSAN: |ODEBUG: |refcount_t: |(list_add|list_del) corruption/ ||
/INFO: (possible|inconsistent|task .* blocked|rcu|trying to register non-static)/ ||
/(circular|recursive) locking|inconsistent lock state|bad unlock balance|held lock freed/ ||
/unregister_netdevice: waiting|ref_tracker: |leaked reference/ ||
/soft lockup|hard LOCKUP|stall(s)? on CPU|detected stalls|hung_task/ ||
/sleeping function called|scheduling while atomic|Unable to handle|Bad page/ ||
/invalid opcode|segfault at|page allocation failure|[0-9] new suspected memory leaks/ {
	complain($0)
	next
}

# UML's own complaints about the processes and memory of the host that its guest consists of
/(wait_stub_done|start_userspace|copy_context_skas0|do_syscall_stub|fix_range_common) ?[:-]/ ||
/(handle_trap|userspace|userspace_tramp|init_new_context_skas|flush_thread) - / ||
/Failed to (get registers|continue stub|continue new process|flush page)/ ||
/mapping (mmap stub|segfault stack) at|_fp_registers returned|corrupt mm_context/ ||
/ran out of memory on the host side|Bus error - the host|setup_physmem - mapping/ ||
/Bad sigsetjmp return|impossible long jump/ {
	complain($0)
}

END {
	if (pending != "")
		complain(pending)
	exit found > 0
}
