/* SPDX-License-Identifier: GPL-2.0-only */
/* How a root ends. */
#ifndef FM_ENDING_H
#define FM_ENDING_H

/**
 * enum fm_ending - why this node stops to be root, or to ask; root.c ends it after the present call
 * @FM_ENDS_BACK: it asked in vain, and tries the root that led it last
 * @FM_ENDS_ALONE: ... and no root has led it: waits for a node that asks
 * @FM_ENDS_MOVED: it has handed over to @successor, as was ordered
 * @FM_ENDS_UNFIT: ... because its NIC fails
 */
enum fm_ending {
	FM_ENDS_NOT,
	FM_ENDS_BACK,
	FM_ENDS_ALONE,
	FM_ENDS_MOVED,
	FM_ENDS_UNFIT,
};

#endif /* FM_ENDING_H */
