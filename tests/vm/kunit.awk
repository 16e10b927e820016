# SPDX-License-Identifier: GPL-2.0-only
#
# Prints the results of KUnit suites, which the kernel keeps in files SUITE/results: a line for
# each case, and their plan. A suite that ran fewer cases than it planned is a failure.

function suite_ends()
{
	if (suite && (!cases || cases != plan)) {
		print "not ok - " suite ": " cases + 0 " cases of " plan + 0 " have run"
		all++
	}
	cases = plan = 0
}

FNR == 1 {
	suite_ends()
	n = split(FILENAME, path, "/")
	suite = path[n - 1]
}

/^ *1\.\.[0-9]+$/ { sub(/.*\.\./, ""); plan = $0 }

/^    (not )?ok / {
	bad = $1 == "not"
	sub(/^ *(not )?ok [0-9]+ (- )?/, "")
	print (bad ? "not ok - " : "ok - ") suite ": " $0
	cases++
	all++
	next
}

{ print "# " $0 }

END {
	suite_ends()
	print "1.." all
}
