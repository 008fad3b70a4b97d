// Drives a page in headless Chromium and says what is wrong with it: `node check.mjs PAGE.html [all|quick] [most views]`.
// The packages are those of NODE_DIR, the browser is CHROMIUM; `run` beside this sets both.
import { createRequire } from 'node:module';
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import { launch } from './browser.mjs';

const require = createRequire(path.resolve(process.env.NODE_DIR || '.') + '/');
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const file = path.resolve(process.argv[2]);
const [mode = 'all', limit = '60'] = process.argv.slice(3);

/** So long a view may take, and the page until it is drawn: the fastest of some tries, because other programs run, too. */
const MOST_OF_A_VIEW = 300;
const MOST_TO_START = 1000;
const TRIES = 4;

let wrong = 0;
const say = (ok, text) => {
  if (!ok) wrong++;
  console.log((ok ? 'ok   ' : 'FAIL ') + text);
};

const browser = await launch(require);

/** Opens the page; whatever it complains about, asks for, or pops up is in `errors`. */
async function open(scheme = 'light', width = 1280, height = 800, options = {}) {
  const viewport = { width, height };
  const context = await browser.newContext({ viewport, colorScheme: scheme, offline: true, ...options });
  const page = await context.newPage();
  page.errors = [];
  page.on('console', message => {
    if (['error', 'warning'].includes(message.type())) page.errors.push(message.text());
  });
  page.on('pageerror', error => page.errors.push('PAGEERROR ' + error.message));
  page.on('request', request => {
    if (!request.url().startsWith('file:')) page.errors.push('REQUEST ' + request.url());
  });
  page.on('dialog', dialog => {
    page.errors.push('DIALOG ' + dialog.message());
    dialog.dismiss();
  });
  await page.goto('file://' + file);
  await page.waitForSelector('nav');
  return page;
}

const go = async (page, hash, wait = 20) => {
  await page.evaluate(to => (location.hash = to), hash);
  await page.waitForTimeout(wait);
};

/** How long the page took to draw the view that it shows. */
const took = page =>
  page.evaluate(
    () => performance.getEntriesByType('measure').filter(measure => measure.name.startsWith('view')).pop()?.duration,
  );

/** How long the page took until it was drawn. */
const tookToStart = page => page.evaluate(() => performance.getEntriesByName('start')[0].duration);

const page = await open();

// Every link leads somewhere, and nothing complains.
const seen = new Set(['#/']);
const queue = ['#/'];
const wide = [];
let visited = 0;
let slowest = ['', 0];
while (queue.length && visited < Number(limit)) {
  const view = queue.shift();
  visited++;
  await go(page, view);
  const found = await page.evaluate(() => ({
    title: document.querySelector('h1')?.textContent,
    links: [...document.querySelectorAll('main a[href], nav a')].map(link => link.getAttribute('href')),
    wide: document.documentElement.scrollWidth > innerWidth,
  }));
  let fastest = await took(page);
  for (let tries = 1; fastest >= MOST_OF_A_VIEW && tries < TRIES; tries++) {
    await go(page, view === '#/' ? '#/clusters' : '#/');
    await go(page, view);
    fastest = Math.min(fastest, await took(page));
  }
  if (found.title === 'Not here') say(false, view + ' leads nowhere');
  if (found.wide) wide.push(view);
  if (fastest > slowest[1]) slowest = [view, fastest];
  const kinds = {};
  for (const link of found.links) {
    if (!link.startsWith('#/')) say(/^https?:\/\//.test(link), 'a link to elsewhere: ' + link);
    else if (!seen.has(link)) {
      const kind = link.split('/')[1];
      kinds[kind] = (kinds[kind] || 0) + 1;
      if (kinds[kind] > 25) continue;
      seen.add(link);
      queue.push(link);
    }
  }
}
const complaints = [...new Set(page.errors)].slice(0, 5).join(' | ');
say(!page.errors.length, `${visited} views, no console message, no request, no dialog ${complaints}`);
say(!wide.length, `no view is wider than the window ${wide.slice(0, 5).join(' ')}`);
say(slowest[1] < MOST_OF_A_VIEW, `the slowest view takes ${slowest[1].toFixed(0)} ms: ${slowest[0]}`);
let started = await tookToStart(page);
for (let tries = 1; started >= MOST_TO_START && tries < TRIES; tries++) {
  const again = await open();
  started = Math.min(started, await tookToStart(again));
  await again.close();
}
say(started < MOST_TO_START, `drawn after ${started.toFixed(0)} ms`);

// Characters that hide or turn around what stands beside them are shown by their numbers.
const raw = await page.evaluate(() => {
  const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;
  return hidden.test(document.body.innerText) || hidden.test(document.title);
});
say(!raw, 'no character hides');

// The keyboard is enough.
await go(page, '#/', 50);
await page.keyboard.press('/');
say(await page.evaluate(() => document.activeElement.id === 'q'), '/ focuses the search');
const packed = await page.evaluate(() => document.getElementById('data').textContent);
const data = JSON.parse(zlib.inflateSync(Buffer.from(packed, 'base64')));
const [first] = [...data.routes, ...data.gateways, ...data.policies];
const word = (first?.route || first?.gateway || first?.policy)?.split('/').pop();
if (word) {
  await page.keyboard.type(word);
  const hits = await page.$$eval('#hits [role=option]', found => found.length);
  say(hits > 0, `the search finds ${hits}`);
  await page.keyboard.press('ArrowDown');
  const active = await page.$eval('#q', box => box.getAttribute('aria-activedescendant'));
  say(hits < 2 || active === 'hit-1', 'an arrow moves the active option');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await page.waitForTimeout(60);
  say(/#\/(route|gateway|policy)/.test(page.url()), 'Enter opens ' + decodeURIComponent(page.url().split('#')[1]));
  say(await page.evaluate(() => document.activeElement.tagName === 'H1'), 'the heading has the focus after navigation');
}
await page.evaluate(() => document.activeElement.blur());
await page.keyboard.press('?');
say((await page.$('dialog[open]')) !== null, '? opens the help');
await page.keyboard.press('Escape');
say((await page.$('dialog[open]')) === null, 'Esc closes it');
const place = await page.$('main .src');
if (place) {
  await place.focus();
  await page.keyboard.press('Enter');
  say((await page.$('dialog[open] pre, dialog[open] p')) !== null, 'Enter on a place shows the source');
  await page.keyboard.press('Escape');
  const back = await page.evaluate(() => document.activeElement.classList.contains('src'));
  say(back, 'and the focus returns to the place');
}
await page.goBack();
await page.waitForTimeout(60);
say((await page.$eval('h1', heading => heading.textContent)).length > 0, 'back works');

// Nothing can be injected, even from inside.
const injected = await page.evaluate(() => {
  const result = {};
  try {
    document.body.insertAdjacentHTML('beforeend', '<b>x</b>');
    result.markup = true;
  } catch {
    result.markup = false;
  }
  const script = document.createElement('script');
  try {
    script.textContent = 'window.injected = 1';
    document.body.append(script);
  } catch {
    /* that is what the policy is for */
  }
  result.script = window.injected === 1;
  const style = document.createElement('style');
  style.textContent = 'h1 { color: red }';
  document.body.append(style);
  result.style = getComputedStyle(document.querySelector('h1')).color === 'rgb(255, 0, 0)';
  style.remove();
  return result;
});
const nothing = !injected.markup && !injected.script && !injected.style;
say(nothing, `the policy stops markup, scripts, and styles that are added: ${JSON.stringify(injected)}`);

// axe, in each theme and on a telephone.
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const LISTS = /^#\/(routes|gateways|policies|clusters|placements|changes|reported|findings)$/;
const SINGLE = ['route', 'gateway', 'policy', 'cluster', 'placement', 'compare'];
const settings = mode === 'quick' ? [] : [['light', 1280, 800], ['dark', 1280, 800], ['light', 390, 844]];
for (const [scheme, width, height] of settings) {
  const looked = await open(scheme, width, height, { bypassCSP: true });
  await looked.evaluate(axe + ';0');
  const single = SINGLE.map(kind => [...seen].find(view => view.startsWith(`#/${kind}/`))).filter(Boolean);
  const views = ['#/', ...[...seen].filter(view => LISTS.test(view)), ...single];
  const found = new Map();
  for (const view of views) {
    await go(looked, view, 40);
    if (await looked.evaluate(() => document.documentElement.scrollWidth > innerWidth))
      say(false, `${view} scrolls sideways at ${width}`);
    const violations = await looked.evaluate(async rules => {
      const result = await axe.run(document, { resultTypes: ['violations'], runOnly: rules });
      return result.violations.map(({ id, impact, nodes }) => ({
        id,
        impact,
        example: nodes[0].html.slice(0, 160),
        why: nodes[0].failureSummary.split('\n')[1],
      }));
    }, RULES);
    for (const violation of violations) {
      if (!found.has(violation.id)) found.set(violation.id, { ...violation, views: [] });
      found.get(violation.id).views.push(view);
    }
  }
  say(!found.size, `axe, ${scheme} ${width}x${height}, ${views.length} views`);
  for (const { impact, id, views, example, why } of found.values())
    console.log(`       ${impact} ${id} ${views.slice(0, 3).join(' ')}\n         ${example}\n         ${why}`);
  await looked.context().close();
}

await browser.close();
console.log(wrong ? `${wrong} failed` : 'all passed');
process.exit(wrong ? 1 : 0);
