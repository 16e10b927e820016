// SPDX-License-Identifier: GPL-2.0-or-later
// Everything beside the map. Names and texts of the fabric are only ever set as text, never as markup.

import { model, DIMS, ask, cableAt, coordsOf, count, linkText, nameOf, neighbour, opposite, order, orderOf } from './model.js';
import { KINDS, shown, styleOfJob } from './map.js';

const byId = (id) => document.getElementById(id);
const EVENTS_MAX = 200, RECOVERIES_MAX = 5;

export function make(tag, text, attributes = {}) {
	const e = document.createElement(tag);
	if (text !== undefined && text !== null)
		e.textContent = text;
	for (const [name, value] of Object.entries(attributes))
		e.setAttribute(name, value);
	return e;
}

function makeSvg(tag, attributes) {
	const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
	for (const [name, value] of Object.entries(attributes))
		e.setAttribute(name, value);
	return e;
}

export function bytes(n) {
	const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
	let i = 0;
	for (; n >= 1000 && i < units.length - 1; i++)
		n /= 1000;
	return `${n.toFixed(n < 10 && i ? 1 : 0)} ${units[i]}`;
}

const clock = (seconds) => new Date(seconds * 1000).toTimeString().slice(0, 8);

function age(ns) {
	const s = ns / 1e9;
	return s < 90 ? `${s.toFixed(0)} s` : s < 5400 ? `${(s / 60).toFixed(0)} min` :
		s < 172800 ? `${(s / 3600).toFixed(1)} h` : `${(s / 86400).toFixed(0)} days`;
}

/* --- head --------------------------------------------------------------------------------- */

export function showStatus() {
	const s = model.status;
	byId('fabric').textContent = `${s.fabric} ${s.shape.join('×')}`;
	document.title = `${s.state} - ${s.fabric}`;
	byId('state').textContent = s.state;
	byId('state').dataset.state = s.state;
	byId('counts').textContent = `${s.nodes.up} of ${s.nodes.total} nodes, ${s.links.up} of ${s.links.total} links up` +
		(s.links.excluded ? `, ${s.links.excluded} excluded` : '') + (s.links.faulty ? `, ${s.links.faulty} faulty` : '') +
		(s.parked_packets ? `, ${s.parked_packets} packets parked` : '') + `, table ${s.table_version}`;
	const list = byId('problems'), items = [];
	for (const f of s.faulty || [])
		items.push(make('li', `Link ${f.node ? f.node.join(',') : '?'}:${f.port} ` +
			(f.dead ? `leads to the dead node ${f.dead.join(',')}` : `is down: ${f.reason || 'not known why'}`)));
	for (const p of s.problems)
		items.push(make('li', p.text));
	const more = (s.problems_more || 0) + (s.faulty_more || 0);
	if (more)
		items.push(make('li', `and ${more} more`));
	if (!s.root || !s.root.reachable)
		items.unshift(make('li', 'The root cannot be reached: this is what the node knows itself.'));
	list.replaceChildren(...(items.length ? items : [make('li', 'none', { class: 'none' })]));
	takeStatus(s);
}

export function showReach(text) {
	byId('reach').hidden = !text;
	byId('reach').textContent = text || '';
}

/* --- recoveries --------------------------------------------------------------------------- */

// Those that have ended, the latest first, and the one that goes on; null: none does
const recoveries = [];
let present = null;
const STEPS = [['detected', 'table', 'table sent'], ['table', 'rebuilt', 'rows rebuilt'], ['rebuilt', 'drained', 'drained'],
	['drained', 'replayed', 'replayed'], ['replayed', 'resumed', 'resumed']];

function bar(r) {
	const svg = makeSvg('svg', { viewBox: '0 0 1000 20', preserveAspectRatio: 'none', role: 'img' });
	const total = Math.max(r.duration_ms, ...Object.values(r.timeline), 0.001), said = [];
	let from = r.timeline.detected || 0;
	STEPS.forEach(([, end, text], i) => {
		const to = r.timeline[end];
		if (to === null || to === undefined)
			return;
		svg.append(makeSvg('rect', { class: `step${i}`, x: 1000 * from / total, y: 0, height: 20,
			width: Math.max(0, 1000 * (to - from) / total) }));
		said.push(`${text} ${to.toFixed(1)} ms`);
		from = to;
	});
	svg.setAttribute('aria-label', said.join(', '));
	return [svg, said.join(', ')];
}

function boxOf(r, text) {
	const box = make('div', null, { class: 'recovery' }), [svg, said] = bar(r);
	box.append(make('div', `${clock(r.started)} ${r.cause}`), svg, make('div', `${said || 'detected'}. ${text}`, { class: 'soft' }));
	return box;
}

function showRecoveries() {
	byId('recoveries').replaceChildren(...(present ? [boxOf(present, 'It goes on.')] : []), ...recoveries.map((r) => boxOf(r,
		`${r.parked} parked, ${r.replayed} replayed, ${r.lost} lost${r.bounded ? ', ended by a time limit' : ''}.`)));
}

// A status and an event tell of the same recovery; the status knows more.
function addRecovery(r, known) {
	const i = recoveries.findIndex((o) => o.version === r.version && Math.abs(o.started - r.started) < 1);
	if (i >= 0 && !known)
		return;
	recoveries.splice(i < 0 ? 0 : i, i < 0 ? 0 : 1, r);
	recoveries.sort((a, b) => b.started - a.started);
	recoveries.length = Math.min(recoveries.length, RECOVERIES_MAX);
}

// A status may be older than the events that have come meanwhile.
function takeStatus(s) {
	if (s.recovery && present && present.version === s.recovery.version)
		present = { ...s.recovery, timeline: { ...s.recovery.timeline, ...present.timeline } };
	else if (s.recovery || !present || present.version <= s.table_version)
		present = s.recovery || null;
	if (s.last_recovery)
		addRecovery(s.last_recovery, true);
	showRecoveries();
}

// Steps of a recovery come as they happen, if the root is asked; of other nodes the status tells them.
export function takeRecoveryEvent(event) {
	const { step, recovery } = event;
	if (step) {
		if (!present || present.version !== step.version)
			present = { version: step.version, cause: step.cause, started: event.time - step.ms / 1000, duration_ms: 0, timeline: { detected: 0 } };
		present.timeline[step.step] = step.ms;
	} else if (recovery) {
		const mine = present && present.version === recovery.version ? present : null;
		addRecovery({ cause: event.text, started: event.time - recovery.duration_ms / 1000, ...mine, ...recovery,
			timeline: { detected: 0, ...(mine && mine.timeline), resumed: recovery.duration_ms } }, false);
		present = null;
	} else {
		return;
	}
	showRecoveries();
}

/* --- events ------------------------------------------------------------------------------- */

let waiting = [];

function flushEvents() {
	const list = byId('events'), fresh = waiting.slice(-EVENTS_MAX).reverse().map((e) => {
		const li = make('li', null, { class: e.level });
		li.append(make('time', clock(e.time)), document.createTextNode(e.text));
		return li;
	});
	waiting = [];
	list.prepend(...fresh);
	while (list.childElementCount > EVENTS_MAX)
		list.lastElementChild.remove();
}

export function showEvent(event) {
	if (!waiting.length)
		setTimeout(flushEvents, 100);
	waiting.push(event);
	if (waiting.length > 2 * EVENTS_MAX)
		waiting = waiting.slice(-EVENTS_MAX);
}

export const clearEvents = () => byId('events').replaceChildren();

/* --- details ------------------------------------------------------------------------------ */

function rowsOf(pairs) {
	const table = make('table'), body = make('tbody');
	for (const [name, value] of pairs) {
		const tr = make('tr'), td = make('td');
		td.append(value instanceof Node ? value : document.createTextNode(value === null || value === undefined ? '-' : String(value)));
		tr.append(make('th', name, { scope: 'row' }), td);
		body.append(tr);
	}
	table.append(body);
	return table;
}

function button(text, choose, what) {
	const b = make('button', text, { type: 'button' });
	b.addEventListener('click', () => choose(what));
	return b;
}

// Which request is the last one: answers to earlier ones are not shown.
let turn = 0;

async function addMore(path, show) {
	const mine = ++turn, more = byId('more');
	more.replaceChildren();
	try {
		const data = await ask(path);
		if (mine === turn)
			more.replaceChildren(...show(data));
	} catch (error) {
		if (mine === turn)
			more.replaceChildren(make('p', error.message));
	}
}

/* --- changes ------------------------------------------------------------------------------ */

function orderText(o) {
	return `by ${o.uid === null ? 'somebody' : `user ${o.uid}`}${o.by ? ` at ${o.by}` : ''} since ${new Date(o.since * 1000).toLocaleString()}` +
		(o.until ? ` until ${new Date(o.until * 1000).toLocaleString()}` : '') + (o.reason ? `: ${o.reason}` : '');
}

const WHY = { fault: 'it is lost', stall: 'packets wait behind it', wiring: 'it leads to a wrong port' };

// Why routing does not use a cable
function excludedText(cable) {
	const end = cable.ends.find((e) => e && e.excluded), why = end && end.excluded;
	if (!why)
		return 'no';
	if (why === 'admin') {
		const o = orderOf(cable.id, cable.port) || orderOf(cable.peer, opposite(cable.port));
		return o ? orderText(o) : 'by an administrator';
	}
	if (why !== 'held')
		return WHY[why] || why;
	const held = (model.status.held_links || []).find((h) => [cable.id, cable.peer].some((id) => String(h.node) === String(coordsOf(id))) &&
		[cable.port, opposite(cable.port)].includes(h.port));
	return 'it flaps' + (held ? `, held for ${age(held.left_ms * 1e6)} more` : '');
}

let result = { of: '', text: '' };	// of the last change

function showResult(of, text) {
	result = { of, text };
	if (byId('changed'))
		byId('changed').textContent = text;
}

// Sends a change after asking; an answer that it would cut nodes off can be overruled.
async function change(title, path, what) {
	const of = JSON.stringify([what.node, what.port]);
	const about = path === 'exclude' ? window.prompt(`${title}: for what reason?`, '') : window.confirm(`${title}?`) ? '' : null;
	if (about === null)
		return;
	const wanted = about ? { ...what, reason: about } : what;
	const send = (all) => order(path, all).then(() => showResult(of, 'done'));
	showResult(of, 'sent');
	try {
		await send(wanted).catch((error) => {
			if (error.code !== 'cuts-off' || !window.confirm(`${error.message}. ${title} all the same?`))
				throw error;
			return send({ ...wanted, force: true });
		});
	} catch (error) {
		showResult(of, error.message);
	}
}

// Buttons for those who may change something: [title, path, what is sent] each
function changesOf(list) {
	if (!model.changes)
		return [];
	const box = make('div', null, { class: 'changes' }), of = JSON.stringify([list[0][2].node, list[0][2].port]);
	for (const [title, path, what] of list) {
		const b = make('button', title, { type: 'button' });
		b.addEventListener('click', () => change(title, path, what));
		box.append(b);
	}
	box.append(make('span', result.of === of ? result.text : '', { id: 'changed', role: 'status' }));
	return [box];
}

/* --- nodes and cables ------------------------------------------------------------------------ */

function cableText(cable) {
	const end = cable.ends[0] || cable.ends[1], reason = end && end.reason !== 'none' ? ` (${end.reason})` : '';
	return cable.kind === 'up' ? `up, ${bytes(cable.rate)}/s` : cable.kind + reason;
}

function showNode(id, choose) {
	const node = model.nodes[id], root = model.status.root && String(model.status.root.node) === String(node.node);
	const job = model.jobs[model.jobOf.get(id)];
	const pairs = [['Node', nameOf(id)], ...(job ? [['Job', job.name + (job.state === 'runs' ? '' : `, ${job.state}`)]] : []), ['Coordinates', coordsOf(id).join(',')],
		['State', (node.excluded ? 'excluded, ' : '') + node.state + (root ? ', root' : '')],
		...(node.excluded ? [['Excluded', orderOf(id) ? orderText(orderOf(id)) : 'yes']] : []), ['Address', node.address],
		['Manager', `${node.service || '-'}, release ${node.software || '-'}`], ['GUID', node.guid], ['Table', node.table_version]];
	for (const sign of '+-')
		for (let d = 0; d < model.shape.length; d++) {
			const cable = model.shape[d] > 1 && cableAt(id, sign + DIMS[d]);
			if (cable)
				pairs.push([`Port ${sign}${DIMS[d]}`, button(`${cableText(cable)}, to ${nameOf(neighbour(id, sign + DIMS[d]))}`,
					choose, { cable })]);
		}
	const at = coordsOf(id).join(',');
	byId('chosen').replaceChildren(rowsOf(pairs), ...changesOf([
		node.excluded ? ['Include the node', 'include', { node: at }] : ['Exclude the node', 'exclude', { node: at }]]));
	addMore(`api/park?node=${coordsOf(id).join(',')}&flows=1`, ([park]) => [rowsOf([
		['Parked', park ? `${park.parked} packets, ${bytes(park.bytes)}` : '-'], ['Held flows', park && park.held],
		...((park && park.flows) || []).slice(0, 10).map((f) => ['Flow', `${[].concat(f.from).join(',')} to ${[].concat(f.to).join(',')}, ` +
			`${f.packets} packets, for ${age(f.age)}`]),
	])]);
}

function laneText(lanes) {
	return (lanes || []).map((l, i) => `${i}: ${l.state} ${l.margin}%`).join(', ') || '-';
}

function cableChanges(cable) {
	const at = { node: coordsOf(cable.id).join(','), port: cable.port };
	return [cable.kind === 'excluded' ? ['Include the link', 'include', at] : ['Exclude the link', 'exclude', at],
		['Take the port up', 'link/up', at], ['Take the port down', 'link/down', at]];
}

function showCable(cable, choose) {
	const end = cable.ends[0] || cable.ends[1];
	byId('chosen').replaceChildren(rowsOf([
		['Link', linkText(cable)], ['State', cableText(cable)],
		['From', button(`${nameOf(cable.id)} ${cable.port}`, choose, { node: cable.id })],
		['To', button(`${nameOf(cable.peer)} ${opposite(cable.port)}`, choose, { node: cable.peer })],
		['In this state', end ? age(end.state_age) : '-'], ['Excluded', excludedText(cable)],
		['Lost', end ? `${end.downs === null ? '-' : end.downs} times` : '-'], ['Errors', cable.errors],
	]), ...changesOf(cableChanges(cable)));
	addMore(`api/links?node=${coordsOf(cable.id).join(',')}&lanes=1`, (links) => {
		const l = links.find((one) => one.port === cable.port);
		return l ? [rowsOf([
			['Rate', `${l.rate} of ${l.rate_max} Mb/s, ${l.lanes} of ${l.width} lanes`], ['Margin', `${l.margin} %`],
			['Sent', `${l.tx_packets} packets, ${bytes(l.tx_bytes)}`], ['Received', `${l.rx_packets} packets, ${bytes(l.rx_bytes)}`],
			['Retries', l.retries], ['CRC errors', l.crc_errors], ['Sequence errors', l.seq_errors],
			['Credit stalls', l.credit_stalls], ['Retrains', l.retrains], ['Quality', l.quality && l.quality.level],
			['Interface', l.lower], ['Lanes', laneText(l.lane)],
		])] : [];
	});
}

export function showChosen(choose) {
	const chosen = shown.chosen, had = byId('chosen').contains(document.activeElement) && document.activeElement.textContent;
	if (!chosen) {
		turn++;
		byId('chosen').textContent = 'Choose a node or a link.';
		byId('more').replaceChildren();
	} else if (chosen.cable) {
		showCable(chosen.cable, choose);
	} else {
		showNode(chosen.node, choose);
	}
	if (had)	// what was chosen is shown anew, and the keyboard stays where it was
		[...byId('chosen').querySelectorAll('button')].find((b) => b.textContent === had)?.focus();
	if (shown.path) {
		byId('more').prepend(make('p', `Path from ${nameOf(shown.mark)}: ${shown.path.hops.length} hops, ` +
			shown.path.hops.map((h) => h.port).join(' ') +
			(shown.path.via.length ? `, by relay ${shown.path.via.map(nameOf).join(', ')}` : '')));
	}
}

/* --- legend and slices -------------------------------------------------------------------- */

const MEANING = { up: 'up', fault: 'down', excluded: 'excluded', held: 'held: it flaps, or stalls', training: 'training', unknown: 'not known' };

function legendOf(text, [colour, dash, width]) {
	const style = getComputedStyle(document.documentElement);
	const li = make('li'), svg = makeSvg('svg', { viewBox: '0 0 40 10', 'aria-hidden': 'true' });
	svg.append(makeSvg('line', { x1: 0, x2: 40, y1: 5, y2: 5, stroke: style.getPropertyValue('--' + colour).trim(),
		'stroke-width': width * 1.5, 'stroke-dasharray': dash.join(' ') }));
	li.append(svg, document.createTextNode(text));
	return li;
}

const JOBS_LISTED = 20;

export function showLegend() {
	const jobs = shown.colour === 'jobs' ? model.jobs : [], kinds = Object.entries(KINDS).filter(([kind]) => shown.colour !== 'jobs' || kind !== 'up');
	byId('legend').replaceChildren(...kinds.map(([kind, style]) => legendOf(MEANING[kind], style)),
		...jobs.slice(0, JOBS_LISTED).map((job, i) => legendOf(`job ${job.name}${job.state === 'runs' ? '' : ` (${job.state})`}`, styleOfJob(i))),
		...(jobs.length > JOBS_LISTED ? [make('li', `and ${jobs.length - JOBS_LISTED} more jobs`)] : []),
		make('li', 'Nodes: full up, half silent, cross dead, square excluded, ring around: root'));
}

export function showSlices(view, changed) {
	const box = byId('slices');
	if (box.childElementCount === Math.max(0, model.shape.length - 3) || !count())
		return;
	box.replaceChildren(...model.shape.slice(3).map((size, i) => {
		const label = make('label', `${DIMS[3 + i]} `), select = make('select');
		for (let c = 0; c < size; c++)
			select.append(make('option', c, { value: c }));
		select.value = view.slice[i];
		select.addEventListener('change', () => {
			view.slice[i] = Number(select.value);
			changed();
		});
		label.append(select);
		return label;
	}));
}

export function setSlices(view) {
	[...byId('slices').querySelectorAll('select')].forEach((select, i) => { select.value = view.slice[i]; });
}
