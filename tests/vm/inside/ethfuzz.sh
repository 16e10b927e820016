#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# In a guest: COUNT requests (4000) as ethtool makes them, to a NIC that sends all the time, so
# that waiting times and offloads change while it sends; as root, and as a user without
# privileges. No packet of the stream may be lost, duplicated or reordered by that.
#
#	n0:torus0 --e--w-- n1:torus0

# shellcheck source=tests/vm/inside/lib.sh
. "$TOP/tests/vm/inside/lib.sh"

COUNT=${COUNT:-4000}
SEED=${SEED:-1}
stop=/tmp/ethfuzz-stop

stream() { copy 0 1 $stop; }
fuzz() { SEED=$SEED ns 0 "$B/tests/vm/ethfuzz" --role "$1" --count "$2" torus0; }

loaded || check "driver loads" load
check "two nodes are linked" line 2
((!failed)) || exit 1
rm -f $stop
stream >/tmp/stream 2>&1 &
streaming=$!
check "a stream of messages is under way" until_true 60 more_than 1 node host_messages_rx 100
check "requests of root do no harm" fuzz root $((COUNT / 2))
check "requests of an unprivileged user do no harm" fuzz none $((COUNT / 4))
check "requests of a container's root do no harm" fuzz userns $((COUNT / 4))
: >$stop
check "all messages that were sent meanwhile arrived" wait $streaming
cat /tmp/stream
done_testing
