// SPDX-License-Identifier: GPL-2.0-only
// page.mjs CHECK URL FOLDER [PID]: one check of the page in Chromium; FOLDER gets screenshots, PID is
// the stub manager. Prints what it saw; exit status 1 if that is wrong.
import { readFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';

const [,, what, url, folder, pid] = process.argv;
const require = createRequire(`${process.env.MODULES}/`);
const { chromium } = require('playwright-core');
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
const errors = [];

async function open(options = {}) {
	const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...options });
	page.on('pageerror', (e) => errors.push(e.message));
	page.on('console', (m) => { if (m.type() === 'error' && !/Failed to load resource|net::ERR/.test(m.text())) errors.push(m.text()); });
	page.on('request', (r) => { if (!r.url().startsWith(url) && !r.url().startsWith('data:')) errors.push(`loads ${r.url()}`); });
	const begin = Date.now();
	await page.goto(url);
	await page.waitForFunction(() => document.getElementById('counts').textContent);
	await page.evaluate(async () => {
		const { model } = await import('./model.js');
		while (![...model.cables.values()].some((c) => c.kind !== 'unknown'))
			await new Promise((done) => setTimeout(done, 20));
	});
	page.ready = Date.now() - begin;
	return page;
}

const text = (page, id) => page.textContent(`#${id}`);
const cable = (page, name) => page.evaluate(async (n) => (await import('./model.js')).find(n).cable.kind, name);
function wrong(message) {
	throw new Error(message);
}

// What axe-core finds is wrong.
async function examine(page, name) {
	await page.evaluate(() => { document.activeElement.blur(); });
	const client = await page.context().newCDPSession(page);
	await client.send('Runtime.evaluate', { expression: readFileSync(`${process.env.MODULES}/axe-core/axe.min.js`, 'utf8') });
	const found = await page.evaluate(async () => (await window.axe.run()).violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join(' ')}`));
	if (found.length)
		wrong(`axe (${name}): ${found.join('\n')}`);
}

const checks = {
	async pictures() {
		for (const [name, options] of Object.entries({ light: {}, dark: { colorScheme: 'dark' }, phone: { viewport: { width: 390, height: 800 } } })) {
			const page = await open(options);
			await page.screenshot({ path: `${folder}/${name}.png`, fullPage: name === 'phone' });
			const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
			if (wide)
				wrong(`${name}: the page is wider than the window`);
			await page.close();
		}
	},

	// The fabric is not called unreachable, the cable is chosen by search and by keyboard.
	async choices() {
		const page = await open();
		await page.fill('#find', '1,0:+x');
		await page.press('#find', 'Enter');
		await page.waitForFunction(() => /Rate/.test(document.getElementById('more').textContent));
		await page.focus('#canvas');
		await page.press('#canvas', 'Escape');
		await page.press('#canvas', 'ArrowRight');
		await page.press('#canvas', 'ArrowRight');
		await page.press('#canvas', 'ArrowUp');
		if (!/Coordinates1,1/.test(await text(page, 'chosen')))
			wrong(`keys lead to ${await text(page, 'chosen')}`);
		await page.press('#canvas', 't');
		await page.fill('#find', 'n0-0');
		await page.press('#find', 'Enter');
		await page.waitForFunction(() => /Path from n1-1: 2 hops, /.test(document.getElementById('more').textContent));
		const box = await page.locator('#canvas').boundingBox();
		const at = await page.evaluate(async () => (await import('./geometry.js')).pointOf(2));
		await page.mouse.click(box.x + at[0], box.y + at[1]);
		if (!/Coordinates2,0/.test(await text(page, 'chosen')))
			wrong(`a click at 2,0 chooses ${await text(page, 'chosen')}`);
	},

	// Only those who may change something are offered it; what they did, and why, is told.
	async changes() {
		const pick = async (page, name) => {
			await page.fill('#find', name);
			await page.press('#find', 'Enter');
			await page.waitForFunction(() => /State/.test(document.getElementById('chosen').textContent));
		};
		const [username, password] = process.env.USERPASS.split(':');
		const page = await open({ httpCredentials: { username, password } });
		const says = (id, pattern) => page.waitForFunction(([i, p]) => new RegExp(p).test(document.getElementById(i)?.textContent), [id, pattern], { timeout: 10000 })
			.catch(async () => wrong(`${pattern} is not in: ${await text(page, id)}`));
		page.on('dialog', (dialog) => dialog.accept(dialog.type() === 'prompt' ? 'dust <b>' : undefined));
		await pick(page, '1,0:+x');
		await page.click('text=Exclude the link');
		await says('changed', 'done');
		await says('chosen', 'Excludedby user .*: dust <b>');
		await page.screenshot({ path: `${folder}/changes.png` });
		await examine(page, 'changes');
		await page.click('text=Include the link');
		await says('chosen', 'Excludedno');
		await page.click('text=Take the port down');
		await says('chosen', 'Statefault');
		await page.click('text=Take the port up');
		await says('chosen', 'Stateup');
		await pick(page, '1,0');
		await page.click('text=Exclude the node');
		await says('chosen', 'Excludedby user .*: dust <b>');
		await page.click('text=Include the node');
		await page.waitForFunction(() => !/Excluded/.test(document.getElementById('chosen').textContent));
		const reader = await open({ httpCredentials: { username: 'reader', password } });
		await pick(reader, '1,0');
		if (await reader.locator('.changes').count())
			wrong('a user who may only look is offered changes');
	},

	// Cables and nodes of a job have its colour, and it is named in the legend and at its nodes.
	async jobs() {
		const page = await open();
		await page.selectOption('#colour', 'jobs');
		await page.waitForFunction(async () => (await import('./model.js')).model.jobOf.size === 2);
		await page.screenshot({ path: `${folder}/jobs.png` });
		await page.waitForFunction(() => /job <img src=x/.test(document.getElementById('legend').textContent));
		await page.fill('#find', '1,0');
		await page.press('#find', 'Enter');
		if (!/^Node.*Job<img src=x/.test(await text(page, 'chosen')))
			wrong(`the job of 1,0 is not named: ${await text(page, 'chosen')}`);
		const drawn = await page.evaluate(async () => {
			const { model } = await import('./model.js'), { linesOf } = await import('./geometry.js');
			const canvas = document.getElementById('canvas'), scale = window.devicePixelRatio;
			const at = (cable) => {
				const [a, b] = linesOf(cable)[0];
				return String(canvas.getContext('2d').getImageData(scale * (a[0] + b[0]) / 2, scale * (a[1] + b[1]) / 2, 1, 1).data.slice(0, 3));
			};
			return ['0+x', '2+y', '3+y'].map((key) => at(model.cables.get(key)));
		});
		if (drawn[0] === drawn[1] || drawn[1] !== drawn[2])
			wrong(`colours of a cable of the job and of two others: ${drawn.join(' and ')}`);
		await examine(page, 'jobs');
	},

	async accessible() {
		for (const colorScheme of ['light', 'dark']) {
			const page = await open({ colorScheme });
			await page.fill('#find', '1,0');
			await page.press('#find', 'Enter');
			await page.waitForTimeout(500);
			await examine(page, colorScheme);
		}
	},

	async cut() {
		const page = await open();
		if (await cable(page, '0,0:+x') !== 'up')
			wrong('the cable is not up');
		const begin = Date.now();
		process.kill(Number(pid), 'SIGUSR2');
		while (await cable(page, '0,0:+x') !== 'fault')
			if (Date.now() - begin > 5000)
				wrong('the cut is not shown');
		console.log(`a cut is shown after ${Date.now() - begin} ms`);
		await page.waitForFunction(() => document.getElementById('state').textContent === 'degraded');
	},

	// Each step of a recovery is shown when it comes, and the whole of it at the end.
	async recovery() {
		const page = await open(), steps = ['table sent 10.0 ms', 'rows rebuilt 20.0 ms', 'drained 30.0 ms', 'replayed 40.0 ms'];
		const says = (wanted) => page.waitForFunction((t) => document.getElementById('recoveries').textContent.includes(t), wanted, { timeout: 10000 })
			.catch(async () => wrong(`${wanted} is not in: ${await text(page, 'recoveries')}`));
		for (let i = 0; i < steps.length; i++) {
			process.kill(Number(pid), 'SIGHUP');
			await says(`${steps.slice(0, i + 1).join(', ')}. It goes on.`);
		}
		await page.screenshot({ path: `${folder}/recovery.png` });
		await examine(page, 'recovery');
		process.kill(Number(pid), 'SIGHUP');
		await says(`${steps.join(', ')}, resumed 50.0 ms. 3 parked, 3 replayed, 0 lost.`);
		if (/goes on/.test(await text(page, 'recoveries')) || await page.locator('.recovery').count() !== 1)
			wrong(`the recovery has ended, but: ${await text(page, 'recoveries')}`);
	},

	async flood() {
		const page = await open();
		let asked = 0;
		page.on('request', (r) => { asked += /api\//.test(r.url()); });
		process.kill(Number(pid), 'SIGUSR1');
		await page.waitForFunction(() => document.querySelector('#events li').textContent.includes('event 999'), null, { timeout: 20000 });
		const worst = await page.evaluate(() => new Promise((done) => {
			const begin = performance.now();
			requestAnimationFrame(() => done(performance.now() - begin));
		}));
		console.log(`${await page.locator('#events li').count()} events listed, ${asked} requests, next frame after ${worst.toFixed(0)} ms`);
		if (asked > 60 || await page.locator('#events li').count() > 200)
			wrong('too much');
	},

	// Names with markup are shown as they are.
	async hostile() {
		const page = await open();
		await page.fill('#find', '1,0');
		await page.press('#find', 'Enter');
		await page.waitForTimeout(500);
		const bad = await page.evaluate(() => document.title === 'hit' || document.querySelectorAll('img').length);
		if (bad || !/<img src=x/.test(await text(page, 'chosen')) || !/<img src=x/.test(await text(page, 'events')))
			wrong('the name is markup');
	},

	// fabricweb ends and comes back: the page goes on by itself, without events twice.
	async reconnect() {
		const page = await open(), events = () => page.locator('#events li').count(), before = await events();
		let asked = 0;
		// The first answer to the stream is a refusal: many clients come back at the same time.
		await page.route('**/events*', (route) => (asked++ ? route.continue() : route.fulfill({ status: 503, body: '' })));
		process.kill(Number(process.env.WEB), 'SIGTERM');
		await page.waitForFunction(() => /no connection/.test(document.getElementById('reach').textContent));
		const server = spawn(process.env.SERVER, { shell: true, stdio: 'ignore', detached: true });
		await page.waitForFunction(() => document.getElementById('reach').hidden, null, { timeout: 20000 });
		for (let i = 0; asked < 2 && i < 200; i++)
			await page.waitForTimeout(100);
		await page.waitForTimeout(500);
		const after = await events();
		process.kill(-server.pid);
		if (!before || after !== before)
			wrong(`${before} events, and ${after} after it`);
		if (asked < 2)
			wrong('after a refusal the events are not asked for again');
	},

	async large() {
		const times = [];
		let page;
		for (let i = 0; i < 5; i++) {
			await page?.close();
			page = await open();
			times.push(page.ready);
		}
		times.sort((a, b) => a - b);
		await page.screenshot({ path: `${folder}/large.png` });
		const [frame, ms] = await page.evaluate(async () => {
			const { view } = await import('./geometry.js'), { draw } = await import('./map.js');
			const next = () => new Promise((done) => requestAnimationFrame(done));
			await next();
			let begin = performance.now();
			await next();
			const idle = performance.now() - begin;
			const turns = [];
			for (let i = 0; i < 9; i++) {
				begin = performance.now();
				view.yaw += 0.1;
				draw();
				await next();
				await next();
				turns.push(performance.now() - begin);
			}
			return [idle, turns.sort((a, b) => a - b)[4]];
		});
		console.log(`ready after ${times[2]} ms (median of 5), turned within ${ms.toFixed(0)} ms (median of 9, with the frame after it); a frame without drawing takes ${frame.toFixed(0)} ms`);
		await page.selectOption('#colour', 'traffic');
		await page.waitForFunction(async () => [...(await import('./model.js')).model.cables.values()].every((c) => c.ends[0] && c.ends[1]),
			null, { timeout: 30000 });
	},
};

let status = 0;
try {
	await checks[what]();
	if (errors.length)
		wrong(errors.join('\n'));
} catch (error) {
	console.log(error.message);
	status = 1;
}
await browser.close();
process.exit(status);
