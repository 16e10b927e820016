// SPDX-License-Identifier: GPL-2.0-or-later
// Where nodes are drawn: up to two dimensions as a grid, the third in depth, turned by dragging.
// Of further dimensions one slice is drawn at a time.

import { model, count } from './model.js';

export const view = {
	zoom: 1, x: 0, y: 0,		// of the middle, in units of the picture
	yaw: -0.55, pitch: 0.45,	// how three dimensions are turned
	slice: [0, 0, 0],		// coordinates of the fourth to sixth dimension
	width: 1, height: 1,		// of the canvas, CSS pixels
};

const STEP = 100;			// between neighbours, before zooming

export const isFlat = () => model.shape.length < 3 || model.shape[2] === 1;

export function inSlice(coords) {
	for (let d = 3; d < coords.length; d++)
		if (coords[d] !== view.slice[d - 3])
			return false;
	return true;
}

// The place of coordinates, that need not be whole or within the torus, in units of the picture
function placeOf(coords) {
	const middle = (d) => ((coords[d] || 0) - ((model.shape[d] || 1) - 1) / 2) * STEP;
	const x = middle(0), y = middle(1), z = middle(2);
	if (isFlat())
		return [x, -y];
	const sin = Math.sin(view.yaw), cos = Math.cos(view.yaw);
	const across = x * cos + z * sin, deep = z * cos - x * sin;
	return [across, -y * Math.cos(view.pitch) - deep * Math.sin(view.pitch)];
}

function toScreen([x, y]) {
	return [(x - view.x) * view.zoom + view.width / 2, (y - view.y) * view.zoom + view.height / 2];
}

// Chooses zoom and middle so that all nodes are seen.
export function fit() {
	let left = Infinity, right = -Infinity, top = Infinity, bottom = -Infinity;
	const corners = 1 << Math.min(3, model.shape.length);
	for (let c = 0; c < corners; c++) {
		const at = [0, 1, 2].map((d) => (c >> d & 1 ? (model.shape[d] || 1) - 1 : 0));
		const [x, y] = placeOf(at);
		left = Math.min(left, x); right = Math.max(right, x);
		top = Math.min(top, y); bottom = Math.max(bottom, y);
	}
	view.x = (left + right) / 2;
	view.y = (top + bottom) / 2;
	view.zoom = Math.min(1.6, view.width / (right - left + 1.6 * STEP), view.height / (bottom - top + 1.6 * STEP));
}

export const radius = () => Math.max(2.5, Math.min(13, 13 * view.zoom));

// Where all nodes are on the screen, whether they are in the slice, and by how much a step along each
// dimension moves there: for thousands of cables, that is computed once for a picture.
let xs = new Float64Array(0), ys = xs, seen = new Uint8Array(0), steps = [];

export function project() {
	const n = count(), at = model.shape.map(() => 0), [x0, y0] = toScreen(placeOf(at));
	if (xs.length !== n)
		[xs, ys, seen] = [new Float64Array(n), new Float64Array(n), new Uint8Array(n)];
	steps = [0, 1, 2].map((d) => toScreen(placeOf(at.map((c, i) => (i === d ? 1 : 0))))).map(([x, y]) => [x - x0, y - y0]);
	for (let id = 0; id < n; id++) {
		[xs[id], ys[id]] = toScreen(placeOf(at));
		seen[id] = inSlice(at) ? 1 : 0;
		for (let d = 0; d < at.length && ++at[d] === model.shape[d]; d++)
			at[d] = 0;
	}
}

// The same for one node, after project()
export const isSeen = (id) => seen[id] === 1;
export const pointOf = (id) => [xs[id], ys[id]];

// The lines of a cable, after project(): one, or two stubs if it leads round the torus. Both cables of a
// dimension of two nodes are between the same nodes, and drawn beside each other.
export function linesOf(cable) {
	const d = cable.dim;
	if (d > 2 || !isSeen(cable.id) || !isSeen(cable.peer))
		return [];
	const a = pointOf(cable.id), b = pointOf(cable.peer), [dx, dy] = steps[d];
	if (model.shape[d] === 2) {
		const len = Math.hypot(dx, dy) || 1, side = 5 * Math.min(1, view.zoom) * (cable.round ? -1 : 1);
		const nx = -dy / len * side, ny = dx / len * side;
		return [[[a[0] + nx, a[1] + ny], [b[0] + nx, b[1] + ny]]];
	}
	if (!cable.round)
		return [[a, b]];
	return [[a, [a[0] + 0.45 * dx, a[1] + 0.45 * dy]], [[b[0] - 0.45 * dx, b[1] - 0.45 * dy], b]];
}
