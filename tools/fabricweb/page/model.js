// SPDX-License-Identifier: GPL-2.0-or-later
// The fabric as the manager describes it, and how it is asked for. A node is known by its number,
// a cable by its end at a port with '+'. Nothing here touches the page.

export const DIMS = 'xyzabc';
const NODES_AT_ONCE = 4096, ENDS_AT_ONCE = 2048;	// limits of a reply: fabricd-control(7)

export const model = {
	status: null, shape: [], nodes: [], cables: new Map(), at: 0,
	jobs: [], jobOf: new Map(),	// jobs by name; of each node that belongs to one, the place of its job in this list
	changes: false,			// the user may change something
	loaded: false,			// what is known of nodes and cables, if anything is
};

export function idOf(coords) {
	let id = 0;
	for (let d = model.shape.length - 1; d >= 0; d--)
		id = id * model.shape[d] + coords[d];
	return id;
}

export function coordsOf(id) {
	return model.shape.map((size) => {
		const c = id % size;
		id = Math.floor(id / size);
		return c;
	});
}

export const count = () => model.shape.reduce((n, size) => n * size, model.shape.length ? 1 : 0);

// The node behind a port, if the cable is as it should be
export function neighbour(id, port) {
	const coords = coordsOf(id), d = DIMS.indexOf(port[1]);
	coords[d] = (coords[d] + (port[0] === '+' ? 1 : model.shape[d] - 1)) % model.shape[d];
	return idOf(coords);
}

export const opposite = (port) => (port[0] === '+' ? '-' : '+') + port[1];
const keyOf = (id, port) => id + port;

// The cable at a port of a node, by either of its ends
export function cableAt(id, port) {
	return port[0] === '+' ? model.cables.get(keyOf(id, port)) :
		model.cables.get(keyOf(neighbour(id, port), opposite(port)));
}

export async function ask(path) {
	const answer = await fetch(path);
	const data = await answer.json();
	if (!answer.ok)
		throw new Error(data.error || answer.statusText);
	return data;
}

// Sends a change. Return: its answer; throws an Error with the code of the manager.
export async function order(path, what) {
	const answer = await fetch(`api/${path}`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(what) });
	const data = await answer.json();
	if (!answer.ok)
		throw Object.assign(new Error(data.error || answer.statusText), { code: data.code });
	return data;
}

export async function loadUser() {
	model.changes = (await ask('api/user')).changes;
}

// The order by which an administrator took a node, or the cable at a port, out of service; null if there is none
export function orderOf(id, port) {
	const at = String(coordsOf(id)), orders = (model.status && model.status.orders) || [];
	return orders.find((o) => String(o.node) === at && (!port || !o.ports.length || o.ports.includes(port))) || null;
}

// Asks in as many parts as the limit of a reply needs.
async function askParts(path, each) {
	const nodes = count(), parts = [];
	const batch = Math.max(1, Math.floor(each));
	if (nodes <= batch)
		return ask(path);
	for (let first = 0; first < nodes; first += batch)
		parts.push(ask(`${path}${path.includes('?') ? '&' : '?'}node=${coordsOf(first).join(',')}&count=${batch}`));
	return (await Promise.all(parts)).flat();
}

function setShape(shape) {
	if (String(shape) === String(model.shape))
		return;
	model.shape = shape;
	model.nodes = [];
	model.cables = new Map();
	for (let id = 0; id < count(); id++) {
		model.nodes.push({ id, node: coordsOf(id), name: null, state: 'unknown' });
		for (let d = 0; d < shape.length; d++)
			if (shape[d] > 1)
				model.cables.set(keyOf(id, '+' + DIMS[d]), { id, port: '+' + DIMS[d], dim: d,
					peer: neighbour(id, '+' + DIMS[d]), round: coordsOf(id)[d] === shape[d] - 1, ends: [null, null], kind: 'unknown',
					rate: 0, errors: 0 });
	}
}

const BUSY = ['training', 'init', 'retraining'];

// What a cable is shown as, by both of its ends
function kindOf(cable, absent) {
	const ends = cable.ends.filter(Boolean), has = (...why) => ends.some((e) => why.includes(e.excluded));
	if (!ends.length)
		return absent;
	if (has('admin'))
		return 'excluded';
	if (has('held', 'stall'))
		return 'held';
	if (has('wiring'))
		return 'fault';
	if (ends.some((e) => BUSY.includes(e.state)))
		return 'training';
	return has('fault') || ends.some((e) => e.state !== 'up') ? 'fault' : 'up';
}

const bytesOf = (end) => (end ? end.tx_bytes + end.rx_bytes : 0);
const errorsOf = (end) => (end ? end.retries + end.crc_errors + end.seq_errors + end.malformed : 0);

// @absent: what a cable is that no end is told of
function takeEnds(ends, now, absent) {
	const passed = (now - model.at) / 1000, before = new Map();
	for (const cable of model.cables.values()) {
		before.set(cable, cable.ends[0] || cable.ends[1]);
		cable.ends = [null, null];
	}
	for (const end of ends) {
		const cable = end.node && end.node.length ? cableAt(idOf(end.node), end.port) : null;
		if (cable)
			cable.ends[end.port[0] === '+' ? 0 : 1] = end;
	}
	for (const cable of model.cables.values()) {
		const end = cable.ends[0] || cable.ends[1], was = before.get(cable);
		cable.kind = kindOf(cable, absent);
		cable.errors = errorsOf(cable.ends[0]) + errorsOf(cable.ends[1]);
		if (model.at && end && was && passed > 0.5)
			cable.rate = Math.max(0, bytesOf(end) - bytesOf(was)) / passed;
	}
	model.at = now;
}

export async function loadStatus() {
	model.status = await ask('api/status');
	setShape(model.status.shape);
	return model.status;
}

export async function loadNodes() {
	for (const node of await askParts('api/nodes', NODES_AT_ONCE))
		if (node.node && node.node.length === model.shape.length)
			model.nodes[idOf(node.node)] = node;
}

// The nodes of a job never change. They come in parts.
async function askMembers(job) {
	const members = [];
	let part;
	do {
		part = (await ask(`api/jobs?name=${encodeURIComponent(job.name)}&from=${members.length}`)).jobs[0].members;
		members.push(...part.map((m) => idOf(m.node)));
	} while (part.length && members.length < job.nodes);
	return members;
}

// A manager of an earlier release knows no jobs.
export async function loadJobs() {
	const told = await ask('api/jobs').then((answer) => answer.jobs, () => []), jobs = [];
	for (const job of told.sort((a, b) => (a.name < b.name ? -1 : 1))) {
		const known = model.jobs.find((j) => j.name === job.name && j.since === job.since);
		jobs.push({ ...job, members: known ? known.members : await askMembers(job) });
	}
	model.jobs = jobs;
	model.jobOf = new Map(jobs.flatMap((job, i) => job.members.map((id) => [id, i])));
}

// Asks for the cables that are not as they should be: one answer, however large the fabric is.
async function loadBad() {
	const answer = await ask('api/links?brief=1&bad=1&full=1'), silent = new Set(answer.missing.map(idOf));
	takeEnds(answer.data, performance.now(), 'up');
	for (const cable of model.cables.values())
		if (silent.has(cable.id) && silent.has(cable.peer))
			cable.kind = 'unknown';
}

// @all: with the counters of all cables
export async function loadLinks(all) {
	if (!all)
		try {
			return await loadBad();
		} catch { /* too many for one answer, or a manager of an earlier release: ask for all */ }
	const ends = await askParts('api/links?brief=1', ENDS_AT_ONCE / (2 * model.shape.length));
	return takeEnds(ends, performance.now(), 'unknown');
}

// An event of a cable is shown at once; what else has changed is asked for then.
export function takeEvent(event) {
	const link = event.link;
	if (!link || !link.node || !model.shape.length)
		return;
	const cable = cableAt(idOf(link.node), link.port);
	if (cable && cable.kind !== 'excluded')
		cable.kind = link.state === 'lost' ? 'fault' : 'up';
}

// The node or the cable that a text means: a name, coordinates, or either with a port
export function find(text) {
	const [, name, port] = /^\s*(.*?)(?::([+-][xyzabc]))?\s*$/.exec(text);
	const coords = /^\d+(,\d+)*$/.test(name) ? name.split(',').map(Number) : null;
	let node = null;
	if (coords && coords.length === model.shape.length && coords.every((c, d) => c < model.shape[d]))
		node = model.nodes[idOf(coords)];
	else
		node = model.nodes.find((n) => n.name === name || n.guid === name || n.address === name) ||
			model.nodes.find((n) => n.name && name && n.name.startsWith(name));
	if (!node)
		return null;
	if (!port)
		return { node: idOf(node.node) };
	const cable = cableAt(idOf(node.node), port);
	return cable ? { cable } : null;
}

export const nameOf = (id) => (model.nodes[id] && model.nodes[id].name) || coordsOf(id).join(',');
export const linkText = (cable) => `${coordsOf(cable.id).join(',')}:${cable.port}`;
