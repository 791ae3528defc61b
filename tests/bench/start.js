// From nothing to the first result, each time in a new Node process: createEngine() and one call of
// attention on 6 tokens. 20 ms are asked; the import of the library is shown beside it.

import { spawnSync } from 'node:child_process';

const RUNS = 15;
const library = new URL('../../dist/attention.js', import.meta.url).href;
const program = `
  const start = performance.now();
  const { createEngine } = await import(${JSON.stringify(library)});
  const imported = performance.now();
  const engine = await createEngine();
  const x = engine.random({ shape: [6, 8] });
  engine.attention(x, x, x);
  console.log(JSON.stringify([imported - start, performance.now() - imported]));
`;

const runs = Array.from({ length: RUNS }, () => {
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program]);
  return /** @type {[number, number]} */ (JSON.parse(String(stdout)));
});
const median = (/** @type {number[]} */ list) =>
  list.sort((a, b) => a - b)[Math.floor(list.length / 2)].toFixed(1);

console.log(`start under Node, median of ${RUNS} processes`);
console.log(`  import of dist/attention.js       ${median(runs.map(([load]) => load))} ms`);
console.log(
  `  createEngine() to first result    ${median(runs.map(([, run]) => run))} ms (20 asked)`,
);
