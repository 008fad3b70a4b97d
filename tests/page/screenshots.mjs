// Makes the pictures of docs/images: `NODE_DIR=... CHROMIUM=... node screenshots.mjs PAGE.html DIRECTORY`, or `tests/page/screenshots`.
import { createRequire } from 'node:module';
import fs from 'node:fs';
import path from 'node:path';
import { launch } from './browser.mjs';

const require = createRequire(path.resolve(process.env.NODE_DIR || '.') + '/');
const [file, directory] = process.argv.slice(2).map(name => path.resolve(name));

/** No picture is larger. */
const MOST_BYTES = 150_000;

const PICTURES = [
  ['overview', '#/', 'light', 1200, 620],
  ['route', '#/route/shop/catalogue?on=eu-1', 'light', 1200, 900],
  ['route-dark', '#/route/shop/catalogue?on=eu-1', 'dark', 1200, 900],
  ['changes', '#/changes', 'light', 1200, 820],
  ['narrow', '#/', 'light', 390, 844],
];

const browser = await launch(require);
for (const [name, view, colorScheme, width, height] of PICTURES) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, offline: true });
  const page = await context.newPage();
  await page.goto('file://' + file + view);
  await page.waitForSelector('nav');
  await page.waitForTimeout(200);
  const picture = path.join(directory, `page-${name}.png`);
  await page.screenshot({ path: picture });
  const { size } = fs.statSync(picture);
  console.log(`${picture}: ${size} bytes`);
  if (size > MOST_BYTES) process.exitCode = 1;
  await context.close();
}
await browser.close();
