// SPDX-License-Identifier: GPL-2.0-or-later
// Draws the torus on the canvas, and finds what is under the pointer.

import { model, DIMS, cableAt, idOf, nameOf } from './model.js';
import { view, fit, isSeen, linesOf, pointOf, project, radius } from './geometry.js';

const canvas = document.getElementById('canvas'), context = canvas.getContext('2d');
export const shown = { chosen: null, mark: null, path: null, colour: 'state' };

// How a cable of each kind is drawn: the name of its colour, its dashes, and its width
export const KINDS = {
	up: ['up', [], 2], fault: ['fault', [6, 4], 3], excluded: ['excluded', [2, 4], 3],
	held: ['held', [10, 3, 2, 3], 3], training: ['training', [12, 4], 2], unknown: ['unknown', [1, 5], 1.5],
};

const JOB_COLOURS = 7, JOB_DASHES = [[], [8, 3], [3, 3]];	// jobs of one colour differ in their dashes
export const styleOfJob = (i) => [`job${i % JOB_COLOURS}`, JOB_DASHES[Math.floor(i / JOB_COLOURS) % JOB_DASHES.length], 5];
const FREE = ['soft', [], 1];

let colours = {};
function readColours() {
	const style = getComputedStyle(document.documentElement);
	for (const name of ['back', 'text', 'soft', 'up', 'fault', 'excluded', 'held', 'training', 'unknown', 'root', 'focus', 'trace', 'low', 'high',
		...Array.from({ length: JOB_COLOURS }, (_, i) => `job${i}`)])
		colours[name] = style.getPropertyValue('--' + name).trim();
}

const mix = (share) => `color-mix(in srgb, ${colours.high} ${Math.round(100 * share)}%, ${colours.low})`;

// A share from 0 to 1 of a cable in the chosen colouring; null: by its state
function shareOf(cable, most) {
	const end = cable.ends[0] || cable.ends[1];
	if (cable.kind !== 'up' || !end)
		return null;
	switch (shown.colour) {
	case 'traffic': return most ? cable.rate / most : 0;
	case 'errors': return cable.errors ? Math.min(1, 0.3 + Math.log10(1 + cable.errors) / 6) : 0;
	case 'margin': return end.margin === null || end.margin === undefined ? 0 : Math.max(0, Math.min(1, 1 - end.margin / 300));
	}
	return null;
}

// Cables between nodes of one job have its style: no packets between others use them.
function levelOf(cable, most) {
	if (shown.colour === 'jobs' && cable.kind === 'up') {
		const job = model.jobOf.get(cable.id);
		return job !== undefined && job === model.jobOf.get(cable.peer) ? `job ${job}` : 'free';
	}
	const share = shareOf(cable, most);
	return share === null ? cable.kind : Math.round(share * 8);
}

function styleOf(level) {
	if (level === 'free')
		return FREE;
	return String(level).startsWith('job ') ? styleOfJob(Number(level.slice(4))) : KINDS[level] || [null, [], 2 + level / 3];
}

// Of thousands of nodes, those that are well step back behind the others.
const crowded = () => view.zoom < 0.3;

const DASHED_MAX = 1000;	// of more lines, the dashes take seconds to draw, and cannot be told apart

// Lines of one style are drawn at once, which thousands of cables need.
function drawCables() {
	const groups = new Map();
	let most = 0;
	for (const cable of model.cables.values())
		most = Math.max(most, cable.rate);
	for (const cable of model.cables.values()) {
		const lines = linesOf(cable);
		if (!lines.length)
			continue;
		const level = levelOf(cable, most);
		if (!groups.has(level))
			groups.set(level, []);
		groups.get(level).push(...lines);
	}
	const order = [...groups.keys()].sort((a, b) => (a === 'up' ? -1 : b === 'up' ? 1 : 0));
	const thin = Math.max(0.35, Math.min(1, view.zoom * 1.6));
	for (const level of order) {
		const [name, dash, width] = styleOf(level);
		context.strokeStyle = name ? colours[name] : mix(level / 8);
		context.setLineDash(groups.get(level).length > DASHED_MAX ? [] : dash);
		context.lineWidth = width * thin;
		context.globalAlpha = level === 'up' && crowded() ? 0.3 : 1;
		context.beginPath();
		for (const [a, b] of groups.get(level)) {
			context.moveTo(a[0], a[1]);
			context.lineTo(b[0], b[1]);
		}
		context.stroke();
	}
	context.setLineDash([]);
	context.globalAlpha = 1;
}

const NODE_COLOUR = { up: 'up', silent: 'held', joining: 'training', dead: 'fault', absent: 'unknown', unknown: 'unknown' };

function colourOfNode(node) {
	const job = model.jobOf.get(node.id);
	if (shown.colour === 'jobs' && node.state === 'up' && !node.excluded)
		return job === undefined ? 'soft' : styleOfJob(job)[0];
	return node.excluded ? 'excluded' : NODE_COLOUR[node.state] || 'unknown';
}

// With the colours of jobs, the name of the job stands at each of its nodes.
function labelOf(id) {
	const job = shown.colour === 'jobs' ? model.jobs[model.jobOf.get(id)] : null;
	return (job ? job.name : nameOf(id)).slice(0, 16);
}

// A shape for each state, so that colour is not needed: full, half, ring, cross, small ring, square
function drawNode(x, y, r, node) {
	const colour = colours[colourOfNode(node)];
	context.fillStyle = context.strokeStyle = colour;
	if (r < 2) {
		context.fillRect(x - r, y - r, 2 * r, 2 * r);
		return;
	}
	context.beginPath();
	if (node.excluded) {
		context.fillRect(x - r * 0.85, y - r * 0.85, 1.7 * r, 1.7 * r);
		return;
	}
	context.arc(x, y, r, 0, 2 * Math.PI);
	if (node.state === 'up') {
		context.fill();
		return;
	}
	context.fillStyle = colours.back;
	context.fill();
	context.lineWidth = Math.max(1, r / 5);
	context.stroke();
	context.fillStyle = colour;
	context.beginPath();
	if (node.state === 'silent') {
		context.arc(x, y, r, Math.PI / 2, 1.5 * Math.PI);
		context.fill();
	} else if (node.state === 'dead') {
		const d = r * 0.6;
		context.moveTo(x - d, y - d); context.lineTo(x + d, y + d);
		context.moveTo(x + d, y - d); context.lineTo(x - d, y + d);
		context.stroke();
	}
}

// Cables of a node that are not up and lead out of the slice are shown as a mark at it.
function hasHiddenFault(id) {
	for (let d = 3; d < model.shape.length; d++)
		for (const sign of '+-') {
			const cable = model.shape[d] > 1 && cableAt(id, sign + DIMS[d]);
			if (cable && cable.kind !== 'up')
				return cable.kind;
		}
	return null;
}

function drawNodes() {
	const r = radius(), root = model.status && model.status.root && model.status.root.node;
	const rootId = root && root.length ? idOf(root) : -1, names = view.zoom * 100 > 62;
	context.font = `${Math.max(10, Math.min(13, 11 * view.zoom + 3))}px system-ui, sans-serif`;
	context.textAlign = 'left';
	const isWell = (node) => node.state === 'up' && !node.excluded;
	const nodes = crowded() ? [...model.nodes.filter(isWell), ...model.nodes.filter((node) => !isWell(node))] : model.nodes;
	for (const node of nodes) {
		const id = node.id;
		if (!isSeen(id))
			continue;
		const [x, y] = pointOf(id);
		if (x < -20 || y < -20 || x > view.width + 20 || y > view.height + 20)
			continue;
		drawNode(x, y, crowded() && isWell(node) ? r * 0.5 : r, node);
		if (id === rootId) {
			context.strokeStyle = colours.root;
			context.lineWidth = Math.max(1.5, r / 4);
			context.beginPath();
			context.arc(x, y, r * 1.5, 0, 2 * Math.PI);
			context.stroke();
		}
		const hidden = model.shape.length > 3 && hasHiddenFault(id);
		if (hidden) {
			context.fillStyle = colours[KINDS[hidden][0]];
			context.fillRect(x + r * 0.8, y - r * 1.6, r * 0.8, r * 0.8);
		}
		if (names) {
			context.fillStyle = colours.soft;
			context.fillText(labelOf(id), x + r * 0.8 + 2, y + r + 9);
		}
	}
}

function drawRing(id, colour, scale) {
	if (!isSeen(id))
		return;
	const [x, y] = pointOf(id);
	context.strokeStyle = colour;
	context.lineWidth = 3;
	context.beginPath();
	context.arc(x, y, radius() * scale + 3, 0, 2 * Math.PI);
	context.stroke();
}

function drawLines(lines, colour, width) {
	context.strokeStyle = colour;
	context.lineWidth = width;
	context.beginPath();
	for (const [a, b] of lines) {
		context.moveTo(a[0], a[1]);
		context.lineTo(b[0], b[1]);
	}
	context.stroke();
}

function drawChoice() {
	if (shown.path)
		for (const hop of shown.path.hops)
			drawLines(linesOf(cableAt(hop.id, hop.port)), colours.trace, 10);
	if (shown.mark !== null)
		drawRing(shown.mark, colours.trace, 1.3);
	if (!shown.chosen)
		return;
	if (shown.chosen.cable)
		drawLines(linesOf(shown.chosen.cable), colours.focus, 9);
	else
		drawRing(shown.chosen.node, colours.focus, 1.3);
}

let wanted = false;
export function draw() {
	if (wanted || !model.loaded)
		return;
	wanted = true;
	requestAnimationFrame(() => {
		wanted = false;
		context.clearRect(0, 0, view.width, view.height);
		project();
		drawChoice();
		drawCables();
		drawNodes();
	});
}

export function resize() {
	const box = canvas.getBoundingClientRect(), scale = window.devicePixelRatio || 1;
	view.width = box.width;
	view.height = box.height;
	canvas.width = Math.round(box.width * scale);
	canvas.height = Math.round(box.height * scale);
	context.setTransform(scale, 0, 0, scale, 0, 0);
	readColours();
	fit();
	draw();
}

function distanceTo([a, b], x, y) {
	const dx = b[0] - a[0], dy = b[1] - a[1];
	const t = Math.max(0, Math.min(1, ((x - a[0]) * dx + (y - a[1]) * dy) / (dx * dx + dy * dy || 1)));
	return Math.hypot(a[0] + t * dx - x, a[1] + t * dy - y);
}

// What is at a place of the canvas: a node before a cable; null: nothing
export function hit(x, y) {
	let best = null, near = radius() + 6;
	project();
	for (const node of model.nodes) {
		if (!isSeen(node.id))
			continue;
		const [nx, ny] = pointOf(node.id), distance = Math.hypot(nx - x, ny - y);
		if (distance < near) {
			near = distance;
			best = { node: node.id };
		}
	}
	if (best)
		return best;
	near = 8;
	for (const cable of model.cables.values())
		for (const line of linesOf(cable)) {
			const distance = distanceTo(line, x, y);
			if (distance < near) {
				near = distance;
				best = { cable };
			}
		}
	return best;
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { readColours(); draw(); });
