// SPDX-License-Identifier: GPL-2.0-or-later
// Where nodes are drawn: up to two dimensions as a grid, the third in depth, turned by dragging.
// Of further dimensions one slice is drawn at a time.

import { model, coordsOf } from './model.js';

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
export function placeOf(coords) {
	const middle = (d) => ((coords[d] || 0) - ((model.shape[d] || 1) - 1) / 2) * STEP;
	const x = middle(0), y = middle(1), z = middle(2);
	if (isFlat())
		return [x, -y];
	const sin = Math.sin(view.yaw), cos = Math.cos(view.yaw);
	const across = x * cos + z * sin, deep = z * cos - x * sin;
	return [across, -y * Math.cos(view.pitch) - deep * Math.sin(view.pitch)];
}

export function toScreen([x, y]) {
	return [(x - view.x) * view.zoom + view.width / 2, (y - view.y) * view.zoom + view.height / 2];
}

export const screenOf = (id) => toScreen(placeOf(coordsOf(id)));

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

// The lines of a cable: one, or two stubs if it leads round the torus. Both cables of a dimension of
// two nodes are between the same nodes, and drawn beside each other.
export function linesOf(cable) {
	const from = coordsOf(cable.id), to = coordsOf(cable.peer), d = cable.dim;
	if (d > 2 || !inSlice(from) || !inSlice(to))
		return [];
	if (model.shape[d] === 2) {
		const side = from[d] === 0 ? 5 : -5, a = screenOf(cable.id), b = screenOf(cable.peer);
		const len = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1, sign = from[d] === 0 ? 1 : -1;
		const nx = -(b[1] - a[1]) / len * side * sign * Math.min(1, view.zoom), ny = (b[0] - a[0]) / len * side * sign * Math.min(1, view.zoom);
		return [[[a[0] + nx, a[1] + ny], [b[0] + nx, b[1] + ny]]];
	}
	if (to[d] > from[d])
		return [[screenOf(cable.id), screenOf(cable.peer)]];
	const past = [...from], before = [...to];
	past[d] += 0.45;
	before[d] -= 0.45;
	return [[screenOf(cable.id), toScreen(placeOf(past))], [toScreen(placeOf(before)), screenOf(cable.peer)]];
}
