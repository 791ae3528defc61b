// How near the matrix product comes to the most multiply-adds one core can do.
//
//   node tests/bench/gemm.js [rounds]
//
// Needs build/bench.wasm. A round measures the peak and every shape once, so that a change of clock
// or a neighbour in the cache meets all alike; time is processor time, so that waiting for a
// processor does not count. Printed are medians over the rounds; "of peak" is the median of the
// ratios within each round.

import { readFileSync } from 'node:fs';

const rounds = Number(process.argv[2] ?? 201);
const OPERATIONS_PER_SAMPLE = 5e7;
const PEAK_OPERATIONS = 13 * 4 * 2;

/** C [M, N] = or += A [M, K] B [K, N]; a letter t: stored transposed; +: added to C. */
const shapes = [
  { M: 32, N: 32, K: 32, kind: 'A B' },
  { M: 64, N: 64, K: 64, kind: 'A B' },
  { M: 128, N: 128, K: 128, kind: 'A B' },
  { M: 256, N: 256, K: 256, kind: 'A B' },
  { M: 256, N: 256, K: 256, kind: 'A Bt' },
  { M: 256, N: 256, K: 256, kind: 'At B' },
  { M: 256, N: 256, K: 256, kind: 'A B +' },
  { M: 512, N: 512, K: 512, kind: 'A B' },
  { M: 10, N: 32, K: 32, kind: 'A Bt' },
  { M: 10, N: 10, K: 8, kind: 'A Bt' },
  { M: 10, N: 8, K: 10, kind: 'A B' },
  { M: 64, N: 64, K: 8, kind: 'A Bt' },
  { M: 64, N: 8, K: 64, kind: 'A B' },
];

/** @param {number[]} numbers */
function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/**
 * Billions of operations in a second.
 * @param {number} operations of one repetition
 * @param {(repetitions: number) => void} run
 */
function measure(operations, run) {
  const repetitions = Math.ceil(OPERATIONS_PER_SAMPLE / operations);
  const start = process.cpuUsage();
  run(repetitions);
  const { user, system } = process.cpuUsage(start);
  return (operations * repetitions) / (1e3 * (user + system));
}

const file = new URL('../../build/bench.wasm', import.meta.url);
const { instance } = await WebAssembly.instantiate(readFileSync(file));
const wasm = /** @type {Record<string, (...numbers: number[]) => number>} */ (instance.exports);
if (!wasm.bench_start(Math.max(...shapes.flatMap(({ M, N, K }) => [M, N, K])))) {
  throw new Error('no memory for the matrices');
}

/** @type {number[]} */
const peaks = [];
const results = shapes.map((shape) => ({
  ...shape,
  speeds: /** @type {number[]} */ ([]),
  ratios: /** @type {number[]} */ ([]),
}));
for (let round = 0; round < rounds; round++) {
  const peak = measure(PEAK_OPERATIONS, (repetitions) => wasm.bench_peak(repetitions));
  peaks.push(peak);
  for (const { M, N, K, kind, speeds, ratios } of results) {
    const flags = [kind.includes('At'), kind.includes('Bt'), kind.includes('+')].map(Number);
    const speed = measure(2 * M * N * K, (repetitions) =>
      wasm.bench_gemm(M, N, K, ...flags, repetitions),
    );
    speeds.push(speed);
    ratios.push(speed / peak);
  }
}

console.log(`register-only multiply-add peak   ${median(peaks).toFixed(1)} GFLOP/s`);
for (const { M, N, K, kind, speeds, ratios } of results) {
  const shape = `${M} x ${N} x ${K}`.padEnd(16) + kind.padEnd(8);
  const speed = median(speeds);
  const time = `${((2e-3 * M * N * K) / speed).toFixed(2)} us`.padStart(12);
  const share = `${(100 * median(ratios)).toFixed(0)}%`.padStart(5);
  console.log(`gemm ${shape}${time} ${speed.toFixed(1).padStart(6)} GFLOP/s ${share} of peak`);
}
