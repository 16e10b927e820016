// SPDX-License-Identifier: GPL-2.0-or-later
// The path of packets from one node to another, by the rows of the NICs (uapi.h): an optional first
// step, then directions in the order +x +y ... -x -y ... until each coordinate is reached, then an
// optional last step. A row with a relay leads to that, whose own row leads on.

import { model, DIMS, ask, coordsOf, neighbour } from './model.js';

const NO_STEP = 15n;
const portOf = (number) => (number < model.shape.length ? '+' : '-') + DIMS[number % model.shape.length];

async function rowOf(from, to) {
	const data = await ask(`api/rows?node=${coordsOf(from).join(',')}`);
	return BigInt('0x' + data.rows[to]);
}

// The hops of one row: to its destination, or to its relay
function walk(from, to, row) {
	const hops = [], n = model.shape.length;
	const first = row >> 12n & 15n, last = row >> 16n & 15n;
	let at = from;
	const step = (port) => {
		hops.push({ id: at, port });
		at = neighbour(at, port);
	};
	if (first !== NO_STEP)
		step(portOf(Number(first)));
	const before = last === NO_STEP ? to : neighbour(to, portOf((Number(last) + n) % (2 * n)));
	const goal = coordsOf(before);
	for (let number = 0; number < 2 * n; number++)
		while (row >> BigInt(number) & 1n && coordsOf(at)[number % n] !== goal[number % n])
			step(portOf(number));
	if (last !== NO_STEP)
		step(portOf(Number(last)));
	return at === to ? hops : null;
}

// Return: {hops: [{id, port}], via: [relays]}
export async function trace(from, to) {
	const path = { hops: [], via: [] };
	for (let leg = 0, at = from; at !== to; leg++) {
		const row = await rowOf(at, to);
		if (!(row >> 56n & 1n) || leg > 8)
			throw new Error('no path leads there');
		const relay = row >> 59n & 1n ? Number(row >> 32n & 0xffffffn) : to;
		const hops = walk(at, relay, row);
		if (!hops)
			throw new Error('the row does not lead to the node');
		path.hops.push(...hops);
		if (relay !== to)
			path.via.push(relay);
		at = relay;
	}
	return path;
}
