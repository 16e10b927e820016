// SPDX-License-Identifier: GPL-2.0-or-later
// Joins the parts: loads, follows the events, and takes what the user does.

import { model, DIMS, cableAt, coordsOf, count, find, loadJobs, loadLinks, loadNodes, loadStatus, loadUser, neighbour, takeEvent } from './model.js';
import { view, inSlice, isFlat, fit } from './geometry.js';
import { draw, hit, resize, shown } from './map.js';
import { clearEvents, setSlices, showChosen, showEvent, showLegend, showReach, showSlices, showStatus, takeRecoveryEvent } from './panels.js';
import { trace } from './trace.js';

const canvas = document.getElementById('canvas'), search = document.getElementById('find');

/* --- loading ------------------------------------------------------------------------------ */

const LATER_MS = 150;
const LARGE = 256;	// nodes, from which on all cables are asked for only if their counters are shown
let loading = false, again = false, timer = null;

async function load() {
	if (loading) {
		again = true;
		return;
	}
	loading = true;
	try {
		const shape = String(model.shape);
		await loadStatus();
		// What is asked for comes while the page is laid out, which takes as long.
		const asked = count() ? [loadNodes(), loadLinks(count() < LARGE || !['state', 'jobs'].includes(shown.colour)), loadJobs()] : [];
		const came = Promise.allSettled(asked);
		showStatus();
		if (count()) {
			if (shape !== String(model.shape)) {
				showSlices(view, changed);
				resize();
			}
			const parts = await came;
			model.loaded = true;
			showLegend();
			draw();
			showChosen(choose);
			for (const part of parts)
				if (part.reason)
					throw part.reason;
		}
		showReach('');
	} catch (error) {
		showReach(error.message);
	}
	loading = false;
	if (again) {
		again = false;
		later();
	}
}

// After many events at once, the fabric is asked for once.
function later() {
	if (timer === null)
		timer = setTimeout(() => { timer = null; load(); }, LATER_MS);
}

function poll() {
	if (document.visibilityState === 'visible')
		load();
	setTimeout(poll, count() < LARGE ? 5000 : 15000);
}

/* --- events ------------------------------------------------------------------------------- */

const QUIET = new Set(['log', 'config', 'step']);	// kinds after which nothing else can have changed
const seen = new Set();
const AGAIN_MS = 5000;
let last = '';	// the event that came last

function follow() {
	const source = new EventSource(last ? `events?after=${last}` : 'events');
	source.addEventListener('message', (message) => {
		last = message.lastEventId;
		if (seen.has(message.lastEventId))
			return;
		seen.add(message.lastEventId);
		if (seen.size > 4000)
			seen.clear();
		const event = JSON.parse(message.data);
		showEvent(event);
		takeEvent(event);
		takeRecoveryEvent(event);
		draw();
		if (!QUIET.has(event.kind))
			later();
	});
	source.addEventListener('missed', () => { clearEvents(); seen.clear(); later(); });
	source.addEventListener('manager', (message) => {
		const { reachable } = JSON.parse(message.data);
		showReach(reachable ? '' : 'the manager does not answer');
		if (reachable)
			later();
	});
	source.addEventListener('error', () => {
		showReach('no connection to fabricweb');
		// A browser asks again by itself, but not after a refusal, as of too many clients or passwords.
		if (source.readyState === EventSource.CLOSED)
			setTimeout(follow, AGAIN_MS);
	});
	source.addEventListener('hello', () => later());
}

/* --- choosing ----------------------------------------------------------------------------- */

function changed() {
	setSlices(view);
	draw();
}

function choose(what) {
	shown.chosen = what;
	shown.path = null;
	if (what) {
		const coords = coordsOf(what.cable ? what.cable.id : what.node);
		if (!inSlice(coords))
			view.slice = coords.slice(3);
	}
	changed();
	showChosen(choose);
	if (what && what.cable === undefined && shown.mark !== null && shown.mark !== what.node)
		drawPath(shown.mark, what.node);
}

async function drawPath(from, to) {
	try {
		const path = await trace(from, to);
		if (shown.chosen && shown.chosen.node === to && shown.mark === from) {
			shown.path = path;
			draw();
			showChosen(choose);
		}
	} catch (error) {
		document.getElementById('more').prepend(error.message);
	}
}

document.getElementById('search').addEventListener('submit', (event) => {
	event.preventDefault();
	const found = find(search.value);
	search.setCustomValidity(found ? '' : 'no such node or link');
	search.reportValidity();
	if (found)
		choose(found);
});
search.addEventListener('input', () => search.setCustomValidity(''));

function walk(dim, step) {
	if (dim >= model.shape.length)
		return;
	const at = shown.chosen ? (shown.chosen.cable ? shown.chosen.cable.id : shown.chosen.node) : 0;
	choose({ node: shown.chosen ? neighbour(at, (step > 0 ? '+' : '-') + DIMS[dim]) : 0 });
}

// The next cable of the chosen node; of a cable, of the node at its '+' end
function nextCable() {
	const id = shown.chosen ? (shown.chosen.cable ? shown.chosen.cable.id : shown.chosen.node) : 0;
	const ports = [...'+-'].flatMap((sign) => model.shape.map((size, d) => (size > 1 ? sign + DIMS[d] : null))).filter(Boolean);
	const now = shown.chosen && shown.chosen.cable ? ports.findIndex((p) => cableAt(id, p) === shown.chosen.cable) : -1;
	choose({ cable: cableAt(id, ports[(now + 1) % ports.length]) });
}

function zoom(factor) {
	view.zoom = Math.max(0.03, Math.min(6, view.zoom * factor));
	draw();
}

const KEYS = {
	ArrowRight: () => walk(0, 1), ArrowLeft: () => walk(0, -1), ArrowUp: () => walk(1, 1), ArrowDown: () => walk(1, -1),
	PageUp: () => walk(2, 1), PageDown: () => walk(2, -1), l: nextCable, '+': () => zoom(1.25), '-': () => zoom(0.8),
	t: () => {
		shown.mark = shown.chosen && shown.chosen.node !== undefined ? shown.chosen.node : null;
		shown.path = null;
		draw();
	},
	Escape: () => { shown.mark = null; choose(null); },
};

canvas.addEventListener('keydown', (event) => {
	const act = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
	if (!act || event.ctrlKey || event.altKey || event.metaKey || !count())
		return;
	event.preventDefault();
	act();
});
document.addEventListener('keydown', (event) => {
	if (event.key === '/' && !/^(INPUT|SELECT)$/.test(document.activeElement.tagName)) {
		event.preventDefault();
		search.focus();
	}
});

/* --- pointer ------------------------------------------------------------------------------ */

const pointers = new Map();
let moved = false, apart = 0;

function spread() {
	const [a, b] = [...pointers.values()];
	return b ? Math.hypot(a.x - b.x, a.y - b.y) : 0;
}

canvas.addEventListener('pointerdown', (event) => {
	canvas.setPointerCapture(event.pointerId);
	pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
	moved = pointers.size > 1;
	apart = spread();
});
canvas.addEventListener('pointermove', (event) => {
	const at = pointers.get(event.pointerId);
	if (!at)
		return;
	const dx = event.offsetX - at.x, dy = event.offsetY - at.y;
	if (!moved && Math.hypot(dx, dy) < 4)
		return;
	moved = true;
	at.x = event.offsetX;
	at.y = event.offsetY;
	if (pointers.size > 1) {
		const now = spread();
		if (apart)
			zoom(now / apart);
		apart = now;
	} else if (isFlat() || event.shiftKey) {
		view.x -= dx / view.zoom;
		view.y -= dy / view.zoom;
	} else {
		view.yaw += dx / 200;
		view.pitch = Math.max(-1.5, Math.min(1.5, view.pitch + dy / 200));
	}
	draw();
});
for (const end of ['pointerup', 'pointercancel'])
	canvas.addEventListener(end, (event) => {
		if (pointers.delete(event.pointerId) && !moved && end === 'pointerup') {
			const what = hit(event.offsetX, event.offsetY);
			if (what && what.node !== undefined && event.shiftKey && shown.chosen && shown.chosen.node !== undefined)
				shown.mark = shown.chosen.node;
			choose(what);
		}
	});
canvas.addEventListener('wheel', (event) => {
	event.preventDefault();
	zoom(Math.exp(-event.deltaY / 500));
}, { passive: false });

document.getElementById('zoomin').addEventListener('click', () => zoom(1.25));
document.getElementById('zoomout').addEventListener('click', () => zoom(0.8));
document.getElementById('fit').addEventListener('click', () => { fit(); draw(); });
document.getElementById('colour').addEventListener('change', (event) => { shown.colour = event.target.value; showLegend(); draw(); later(); });
addEventListener('resize', resize);

showLegend();
resize();
loadUser().catch(() => {});
follow();
poll();
