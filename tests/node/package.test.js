/**
 * The package as its users meet it: packed, installed from the tarball into an empty folder without
 * a network, imported under Node, and bundled by esbuild and Vite.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build as esbuild } from 'esbuild';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { build as vite } from 'vite';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

/** What a user's program does; cases.md M2 gives the numbers. */
const PROGRAM = `
import { createEngine } from 'attention-playground';
const engine = await createEngine();
const { weights } = engine.maskedSoftmax([[[1, 2, 3]]], { validLens: [2] });
console.log(JSON.stringify(weights.shape), Array.from(weights.data, (w) => w.toFixed(6)).join(' '));
`;
const PRINTS = '[1,1,3] 0.268941 0.731059 0.000000\n';

/**
 * What a program prints; when it fails, the end of its complaint, since a bundle is one long line.
 * @param {string} cwd
 * @param {string[]} args
 */
async function node(cwd, ...args) {
  try {
    return (await run(process.execPath, args, { cwd })).stdout;
  } catch (error) {
    throw new Error(`node ${args.join(' ')}: ${/** @type {any} */ (error).stderr.slice(-1000)}`);
  }
}

describe('package', () => {
  /** @type {string} */
  let folder;
  /** @type {string[]} */
  let packed;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'attention-package-'));
    const { stdout } = await run(
      'npm',
      ['pack', '--json', '--ignore-scripts', '--pack-destination', folder],
      { cwd: root },
    );
    const [{ filename, files }] = Object.values(JSON.parse(stdout)); // from npm 12 on an object
    packed = files.map((/** @type {{ path: string }} */ file) => file.path);
    await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', filename], {
      cwd: folder,
    });
    await writeFile(join(folder, 'program.js'), PROGRAM);
  });

  after(() => rm(folder, { recursive: true, force: true }));

  test('holds dist, the licence and the documents, and no source', () => {
    const wanted = [
      'LICENSE',
      'README.md',
      'CHANGELOG.md',
      'dist/attention.js',
      'dist/element.js',
      'dist/attention-playground.js',
      'dist/attention.wasm',
      'dist/attention-scalar.wasm',
      'dist/index.html',
      'dist/embed.html',
      'dist/types/wasm/attention.d.ts',
      'dist/types/web/elements/index.d.ts',
      'dist/types/web/elements/tag-names.d.ts',
    ];
    assert.deepEqual(
      wanted.filter((path) => !packed.includes(path)),
      [],
    );
    const others = packed.filter((path) => !wanted.includes(path) && !path.startsWith('dist/'));
    assert.deepEqual(others, ['package.json']);
  });

  test('needs no other package', async () => {
    const installed = await readdir(join(folder, 'node_modules'));
    assert.deepEqual(
      installed.filter((name) => !name.startsWith('.')),
      ['attention-playground'],
    );
  });

  test('runs under Node', async () => {
    assert.equal(await node(folder, 'program.js'), PRINTS);
  });

  test('gives the path of its core', async () => {
    const path = await node(folder, '-p', 'require.resolve("attention-playground/core.wasm")');
    const bytes = await readFile(path.trim());
    assert.deepEqual([...bytes.subarray(0, 4)], [0, 0x61, 0x73, 0x6d]);
  });

  test('runs when bundled by esbuild', async () => {
    const outfile = join(folder, 'esbuild.mjs');
    const { warnings } = await esbuild({
      absWorkingDir: folder,
      entryPoints: ['program.js'],
      outfile,
      bundle: true,
      minify: true,
      format: 'esm',
      logLevel: 'silent',
    });
    assert.deepEqual(warnings, []);
    assert.equal(await node(tmpdir(), outfile), PRINTS);
  });

  test('runs when bundled by Vite', async () => {
    await vite({
      root: folder,
      configFile: false,
      logLevel: 'silent',
      build: {
        outDir: 'vite',
        target: 'es2022',
        lib: { entry: 'program.js', formats: ['es'], fileName: () => 'program.mjs' },
      },
    });
    assert.equal(await node(tmpdir(), join(folder, 'vite/program.mjs')), PRINTS);
  });

  test('registers its elements from the module', async () => {
    const { outputFiles } = await esbuild({
      absWorkingDir: folder,
      stdin: { contents: "import 'attention-playground/element';", resolveDir: folder },
      bundle: true,
      write: false,
      format: 'esm',
      logLevel: 'silent',
    });
    assert.match(outputFiles[0].text, /customElements\.define\(/);
  });

  /** @param {string} name @param {string} lib @param {string} types */
  async function assertTypes(name, lib, types) {
    const options = ['--strict', '--noEmit', '--types', types, '--lib', lib];
    const roots = ['--typeRoots', join(root, 'node_modules/@types')];
    const modules = ['--target', 'es2022', '--module', 'esnext', '--moduleResolution', 'bundler'];
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const { stdout } = await run(
      process.execPath,
      [tsc, ...options, ...roots, ...modules, '--skipLibCheck', 'false', name],
      { cwd: folder },
    ).catch((error) => error);
    assert.equal(stdout, '');
  }

  test('names its elements and their events to strict TypeScript', async () => {
    await writeFile(
      join(folder, 'page.ts'),
      `import type { CellEditDetail } from 'attention-playground/element';
import 'attention-playground/element';
const heatmap = document.querySelector('attention-heatmap')!;
heatmap.matrix = [[0.7, 0.3]];
heatmap.addEventListener('celledit', ({ detail }) => {
  const edit: CellEditDetail = detail;
  console.log(edit.row, edit.previous.toFixed(2), edit.value?.toFixed(2));
});
document.addEventListener('cellhover', ({ detail }) => console.log(detail?.column));
const figure = document.createElement('attention-playground');
figure.undo();
figure.addEventListener('attentionchange', ({ detail }) => console.log(detail.state));
export const link: Promise<string> = figure.link();
// @ts-expect-error a matrix is no number
heatmap.matrix = 1;
`,
    );
    await assertTypes('page.ts', 'es2022,dom,dom.iterable', '');
  });

  test('types its functions and models for programs under Node', async () => {
    await writeFile(
      join(folder, 'program.ts'),
      `import { createEngine } from 'attention-playground';
const engine = await createEngine({ wasm: new Uint8Array(8) });
export const { shape } = engine.attention([[1]], [[1]], [[1]], { causal: true }).weights;
export const weights = engine.attentionLayer().forward({ source: ['a'] }).weights.shape;
// @ts-expect-error there may be none
engine.attention([[1]], [[1]], [[1]], { needWeights: false }).weights.shape;
const model = engine.transformer({ sourceVocab: 9, targetVocab: 9 });
export const [{ tokens }] = model.decode({ source: [[4, 5]] }, { bos: 2 });
export const { score } = model.decode({ source: [4, 5] }, { bos: 2 });
`,
    );
    await assertTypes('program.ts', 'es2022', 'node');
  });

  test('satisfies publint', async () => {
    const { messages, pkg } = await publint({
      pkgDir: join(folder, 'node_modules/attention-playground'),
      strict: true,
      pack: false,
    });
    assert.deepEqual(
      messages.map((message) => formatMessage(message, pkg)),
      [],
    );
  });
});
