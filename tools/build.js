// Builds what the wasm files and the sources in wasm/ and web/ make together.
//
//   dist/attention-scalar.wasm    the core without vector instructions
//   build/core.js                 `core`: dist/attention.wasm as base64
//   build/core-deflated.js        `core`: the same, deflated
//   build/colour-tables.js        `cividis`, `viridis`, `redBlue`: 256 × 3 bytes, red green blue
//   build/formulas.js             `formulas`: the LaTeX of web/lessons/formulas.js as MathML trees, by parts
//   build/worker-main.js          `workerMain`: the worker and what it imports, as one function
//   dist/attention.js             the library, an ES module
//   dist/element.js               the elements, an ES module
//   dist/attention-playground.js  the elements, one classic script for any page
//   dist/worker.js                the worker, for pages that allow none from a blob
//   dist/*.html, *.css            the pages
//   dist/types/                   declarations
//
// Fails when a file is larger than its promise.

import { execFile } from 'node:child_process';
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import zopfli from '@gfx/zopfli';
import * as chromatic from 'd3-scale-chromatic';
import * as esbuild from 'esbuild';
import { minify as terser } from 'terser';
import { scalarTwin } from '../wasm/scalar.js';
import formulas from '../web/lessons/formulas.js';
import { mathTree } from './formulas.js';

const root = fileURLToPath(new URL('../', import.meta.url));
const at = (/** @type {string} */ path) => join(root, path);

/** Bytes after gzip that a file may have. @type {Record<string, number>} */
const LIMITS = { 'attention.wasm': 60 * 1024, 'attention-playground.js': 172 * 1024 };

/**
 * @param {string} name
 * @param {Record<string, unknown>} values exported under their keys
 * @param {string} [type] of each, in JSDoc
 */
function writeModule(name, values, type) {
  const annotation = type ? `/** @type {${type}} */\n` : '';
  const lines = Object.entries(values).map(
    ([key, value]) => `${annotation}export const ${key} = ${JSON.stringify(value)};\n`,
  );
  return writeFile(at(`build/${name}`), lines.join(''));
}

/** The library starts fast from the plain core; the one-file page stays small with the deflated. */
async function writeCore() {
  const wasm = await readFile(at('dist/attention.wasm'));
  await writeFile(at('dist/attention-scalar.wasm'), scalarTwin(wasm));
  const options = { numiterations: 15, blocksplittingmax: 0 }; // in as many blocks as pay
  const deflated = Buffer.from(await zopfli.deflateAsync(wasm, options));
  await writeModule('core.js', { core: wasm.toString('base64') });
  await writeModule('core-deflated.js', { core: deflated.toString('base64') });
}

/**
 * Signed values: blue below 0, red above, as heat is read; the middle is the neutral grey.
 * @param {number} t
 */
const blueToRed = (t) => chromatic.interpolateRdBu(1 - t);

/**
 * Red, green and blue of '#rrggbb' or 'rgb(r, g, b)'.
 * @param {string} colour
 */
function bytes(colour) {
  return colour.startsWith('#')
    ? [1, 3, 5].map((start) => Number.parseInt(colour.slice(start, start + 2), 16))
    : Array.from(colour.match(/\d+/g) ?? [], Number);
}

/** Each colour is written as its difference from the one before, which packs far better. */
async function writeColourTables() {
  const table = (/** @type {(t: number) => string} */ colour) => {
    const values = Array.from({ length: 256 }, (_, i) => bytes(colour(i / 255))).flat();
    return JSON.stringify(values.map((value, i) => value - (values[i - 3] ?? 0)));
  };
  const lines = [
    '/** @param {number[]} steps */',
    'function table(steps) {',
    '  const colour = [0, 0, 0];',
    '  return steps.map((step, i) => (colour[i % 3] += step));',
    '}',
    `export const cividis = /* @__PURE__ */ table(${table(chromatic.interpolateCividis)});`,
    `export const viridis = /* @__PURE__ */ table(${table(chromatic.interpolateViridis)});`,
    `export const redBlue = /* @__PURE__ */ table(${table(blueToRed)});`,
  ];
  await writeFile(at('build/colour-tables.js'), `${lines.join('\n')}\n`);
}

async function writeFormulas() {
  const trees = Object.entries(formulas).map(([name, latex]) => [
    name,
    latex.split('\\allowbreak').map((part) => mathTree(part)),
  ]);
  await writeModule(
    'formulas.js',
    { formulas: Object.fromEntries(trees) },
    'Record<string, any[]>',
  );
}

/** @type {import('esbuild').BuildOptions} */
const common = { bundle: true, target: 'es2022', absWorkingDir: root };

async function writeWorker() {
  const { outputFiles } = await esbuild.build({
    ...common,
    entryPoints: ['wasm/worker.js'],
    format: 'iife',
    globalName: 'worker',
    minify: true,
    write: false,
  });
  const main = `function workerMain(port) {\n${outputFiles[0].text}worker.serve(port);\n}\n`;
  await writeFile(at('build/worker-main.js'), `// @ts-nocheck\nexport ${main}`);
  await writeFile(at('dist/worker.js'), `${main}workerMain(self);\n`);
}

async function writeBundles() {
  // Only modules are sure to be read as UTF-8, so the classic script keeps to ASCII.
  await Promise.all([
    esbuild.build({
      ...common,
      entryPoints: { attention: 'wasm/attention.js', element: 'web/elements/index.js' },
      format: 'esm',
      charset: 'utf8',
      outdir: 'dist',
    }),
    writeClassicScript(),
  ]);
}

/** Terser's names pack 3 KB smaller than esbuild's; most of what it rewrites beside them packs worse. */
async function writeClassicScript() {
  const { outputFiles } = await esbuild.build({
    ...common,
    entryPoints: ['web/elements/index.js'],
    format: 'iife',
    minify: true,
    logOverride: { 'empty-import-meta': 'silent' }, // a classic script knows its own address
    write: false,
  });
  const { code } = await terser(outputFiles[0].text, {
    compress: { defaults: false, comparisons: true, evaluate: true, join_vars: true },
    ecma: 2020,
    format: { ascii_only: true },
  });
  await writeFile(at('dist/attention-playground.js'), `${code}\n`);
}

async function copyPages() {
  for (const name of await readdir(at('web'))) {
    if (/\.(html|css)$/.test(name)) await copyFile(at(`web/${name}`), at(`dist/${name}`));
  }
}

/** Declarations come out even when types are wrong; `make check` is what fails then. */
async function writeTypes() {
  const tsc = at('node_modules/typescript/bin/tsc');
  await promisify(execFile)(process.execPath, [tsc, '--project', at('tools/types.json')]).catch(
    (error) => {
      const count = error.stdout?.match(/error TS/g)?.length;
      if (!count) throw error;
      console.warn(`  types    ${count} errors; make check shows them`);
    },
  );
  const byHand = 'web/elements/tag-names.d.ts';
  await copyFile(at(byHand), at(`dist/types/${byHand}`));
}

async function reportSizes() {
  let fits = true;
  for (const name of (await readdir(at('dist'))).sort()) {
    if (!/\.(js|wasm)$/.test(name)) continue;
    const bytes = await readFile(at(`dist/${name}`));
    const zipped = gzipSync(bytes, { level: 9 }).length;
    const limit = LIMITS[name];
    const kib = (/** @type {number} */ size) => `${(size / 1024).toFixed(1).padStart(6)} KiB`;
    console.log(
      `  size     ${name.padEnd(24)}${kib(bytes.length)}, gzipped ${kib(zipped)}` +
        (limit ? ` of ${limit / 1024} allowed` : ''),
    );
    if (zipped > limit) {
      console.error(`dist/${name} is ${zipped} bytes gzipped, over its limit of ${limit}.`);
      fits = false;
    }
  }
  if (!fits) process.exit(1);
}

await mkdir(at('build'), { recursive: true });
await mkdir(at('dist'), { recursive: true });
await Promise.all([writeCore(), writeColourTables(), writeFormulas()]);
await writeWorker();
await Promise.all([writeBundles(), copyPages(), writeTypes()]);
await reportSizes();
