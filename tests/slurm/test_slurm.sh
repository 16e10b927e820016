#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2016,SC2317
#
# Debian's Slurm in a lab, with a slurmd at each node: it takes the topology that fabricctl exports, the
# nodes of its jobs have cables of their own, and an MPI program loses nothing when one is cut. It drains a
# node that the fabric has lost, and resumes it.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
lab=slurm$$
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
export SLURM_CONF=$tmp/slurm/slurm.conf
dir=$tmp/slurm
pids=()

explain() { tail -n 8 "$dir"/*.log; }
cleanup() {
	local p
	for p in "${pids[@]}"; do kill "$p" 2>/dev/null; done
	until_true 10 eval '! kill -0 "${pids[@]}" 2>/dev/null'
	"$B/fabricctl" lab down --name "$lab" >/dev/null 2>&1
}

installs() {
	dpkg-query -W -f '${Status}\n' slurmctld slurmd slurm-client munge 2>/dev/null | grep -c ' installed$' | grep -qx 4 && return
	(flock 9 && apt-get -q update && apt-get -q -y --no-install-recommends install slurmctld slurmd slurm-client munge) \
		9>/run/lock/torus-tests.lock </dev/null >"$tmp/apt.log" 2>&1
}

# at NODE COMMAND...: runs it at a node
at() { "$bin/fabricctl" lab exec --name "$lab" "$1" -- "${@:2}"; }
names() { "$bin/fabricctl" nodes --lab "$lab" --json | jq -r '.[].name'; }

# Prologs of Slurm get no environment: these set what a site has in its standard places.
script() {
	printf '%s\n' '#!/bin/sh' "export PATH=$B:/usr/bin:/bin SLURM_CONF=$SLURM_CONF TORUS_LAB=$lab" \
		"logger() { cat >>$dir/$1.log; }" ". $TOP/tools/fabricctl/slurm-$1" >"$dir/$1" && chmod 755 "$dir/$1"
}
configured() {
	local hosts
	chmod 755 "$tmp" && mkdir -p "$dir/state" && hosts=$(names | paste -sd,) && script prolog && script epilog && script hook &&
		printf 'CgroupPlugin=cgroup/v1\n' >"$dir/cgroup.conf" &&
		printf 'PMIxCliTmpDirBase=%s/pmix\n' "$dir" >"$dir/mpi.conf" && mkdir "$dir/pmix" && head -c 64 /dev/urandom >"$dir/munge.key" &&
		chmod 600 "$dir/munge.key" && cat >"$SLURM_CONF" <<-END
			ClusterName=torus
			SlurmctldHost=n0-0
			SlurmUser=root
			SlurmdUser=root
			AuthType=auth/munge
			AuthInfo=socket=$dir/munge
			CredType=cred/munge
			StateSaveLocation=$dir/state
			SlurmdSpoolDir=$dir/spool.%n
			SlurmctldPidFile=$dir/slurmctld.pid
			SlurmdPidFile=$dir/%n.pid
			SlurmctldLogFile=$dir/slurmctld.log
			SlurmdLogFile=$dir/%n.log
			ProctrackType=proctrack/linuxproc
			TaskPlugin=task/none
			SelectType=select/cons_tres
			SelectTypeParameters=CR_CPU
			SlurmdParameters=config_overrides
			TopologyPlugin=topology/tree
			PrologSlurmctld=$dir/prolog
			EpilogSlurmctld=$dir/epilog
			PropagateResourceLimits=NONE
			NodeName=$hosts CPUs=4
			PartitionName=all Nodes=$hosts Default=YES State=UP
		END
}
starts() {
	local n
	munged --foreground --force --socket="$dir/munge" --key-file="$dir/munge.key" --pid-file="$dir/munged.pid" \
		--seed-file="$dir/munge.seed" --log-file="$dir/munged.log" >"$dir/munge.log" 2>&1 & pids+=($!)
	until_true 10 test -S "$dir/munge" && at 0,0 slurmctld -f "$SLURM_CONF" && until_true 20 test -s "$dir/slurmctld.pid" &&
		pids+=("$(<"$dir/slurmctld.pid")") || return 1
	# Each node has temporary files of PMIx, as another machine has.
	for n in $(names); do
		at "${n:1:1},${n:3:1}" unshare -m sh -c 'mount -t tmpfs tmpfs "$0" && exec "$@"' "$dir/pmix" \
			slurmd -f "$SLURM_CONF" -N "$n" || return 1
	done
	for n in $(names); do until_true 20 test -s "$dir/$n.pid" && pids+=("$(<"$dir/$n.pid")") || return 1; done
	until_true 60 all_idle
}
all_idle() { [[ $(at 0,0 sinfo -h -o '%t %D') == 'idle 8' ]]; }

up() { lab up 4x2 "${patience[@]}" && until_true 20 is .state running && mkdir -p "$dir"; }
# Slurm shows each switch of the exported file.
exported() {
	ctl export slurm --lab "$lab" -o "$dir/topology.conf" && configured && starts || return 1
	at 0,0 scontrol show topology >"$tmp/topology" && cat "$tmp/topology" &&
		[[ $(grep -c '^SwitchName=x-[01] Level=0 .*Nodes=n0-[01],n1-[01],n2-[01],n3-[01]$' "$tmp/topology") == 2 ]] &&
		grep 'SwitchName=xy Level=1 .*Switches=x-\[0-1\]\|SwitchName=xy Level=1 .*Switches=x-0,x-1' "$tmp/topology"
}

# The script of a job of four nodes: ranks in the order of the fabric's job, and an MPI program
job_script() {
	cat >"$dir/job" <<-END
		#!/bin/sh
		export PATH=$B:\$PATH TORUS_LAB=$lab OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=torus0
		fabricctl job verify slurm-\$SLURM_JOB_ID || exit 1
		fabricctl job hosts slurm-\$SLURM_JOB_ID --format slurm --slots 2 >$dir/hosts || exit 1
		export SLURM_HOSTFILE=$dir/hosts
		srun --mpi=none -n 8 -m arbitrary sh -c 'echo \$SLURM_PROCID \$(hostname)' | sort -n | cut -d' ' -f2 >$dir/ran
		srun --mpi=pmix_v4 -n 8 -m arbitrary $tmp/ring 8
	END
	chmod 755 "$dir/job" && mpicc.openmpi -O1 -o "$tmp/ring" "$TOP/tools/demo_mpi.c"
}
runs_mpi() {
	job_script && at 0,0 sbatch -N 4 --ntasks-per-node=2 --switches=1 -o "$dir/out" "$dir/job" || return 1
	until_true 60 job_of_fabric || { cat "$dir/prolog.log"; return 1; }
	until_true 60 test -s "$dir/ran" && rest 2 && lab cut 0,0:+x || return 1
	until_true 90 grep 'words wrong' "$dir/out"
	cat "$dir/out"
	diff "$dir/hosts" "$dir/ran" && grep '8 ranks, [1-9][0-9]* rounds, 0 words wrong' "$dir/out" &&
		[[ $("$bin/fabricctl" events --job slurm-1 --lab "$lab" --json | jq -r '[.[].kind] | unique | join(" ")') == *link* ]] || return 1
	lab mend 0,0:+x
}
job_of_fabric() { "$bin/fabricctl" job list --lab "$lab" --json | jq -e '.[] | select(.name == "slurm-1" and .nodes == 4)'; }
# The fabric's job ends with Slurm's.
ends() { until_true 60 eval '[[ $("$bin/fabricctl" job list --lab "$lab" --json) == "[]" ]]' && until_true 30 all_idle; }

state_is() { [[ $(at 0,0 sinfo -h -n "$1" -o '%T %E') =~ ^$2$ ]]; }
# A node that an administrator has drained stays so.
drains() {
	at 0,0 "$bin/fabricctl" events --follow --exec "$dir/hook" --lab "$lab" 2>"$dir/hook.log" & pids+=($!)
	at 0,0 scontrol update NodeName=n1-1 State=DRAIN Reason=fan && rest 1 && lab kill --power 3,1 &&
		until_true 60 state_is n3-1 'dr.* torus: dead' && lab revive 3,1 && until_true 60 state_is n3-1 'idle.? none' &&
		state_is n1-1 'drained fan' || { at 0,0 sinfo -N -o '%N %T %E'; return 1; }
}

check "Debian's Slurm is there" installs || { done_testing; exit 1; }
check "a lab comes up" up
check "slurmctld takes the exported topology" exported
check "an MPI program of Slurm runs on its own cables, in the order of the fabric, through a cut" runs_mpi
check "the nodes are free when the job has ended" ends
check "a dead node is drained until it is up again" drains
cleanup
done_testing
