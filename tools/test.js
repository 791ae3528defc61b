// Runs groups of tests one after the other, whatever fails, and ends with one line:
//
//   N passed, N failed[, N skipped]
//
//   node tools/test.js GROUP... [-- PROGRAM...]
//
//   c        the PROGRAMs, which make builds first; each prints a line of that form at its end
//   node     tests/node/*.test.js, after make has built dist/
//   browser  tests/browser/all-*.js, the same: one process a browser, each with every test
//
// Counted as one failure each: a program that does not compile, crashes or prints no such line; a
// build that fails; a group that runs nothing. The exit code is 1 when anything failed.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { join, relative } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

const JOBS = availableParallelism?.() ?? cpus().length;
const PROGRAM_MINUTES = 5;
const FILE_MINUTES = 20; // one file is all the tests of a browser

/** @typedef {{ passed: number, failed: number, skipped: number }} Count */

/** Lines that the end of the run repeats, so that neither failures nor skips scroll away. */
const notes = /** @type {string[]} */ ([]);

/** @param {string} note */
function failure(note) {
  notes.push(`FAILED   ${note}`);
  return { passed: 0, failed: 1, skipped: 0 };
}

/** @param {Count[]} counts @returns {Count} */
function sum(counts) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const count of counts) {
    total.passed += count.passed;
    total.failed += count.failed;
    total.skipped += count.skipped;
  }
  return total;
}

/** @param {Count} count */
function describe({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`;
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 * @returns {Promise<{ ended: string, output: string }>} ended: '' when all is well
 */
function execute(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, options);
    let output = '';
    child.stdout?.on('data', (data) => (output += data));
    child.stderr?.on('data', (data) => (output += data));
    child.on('error', (error) => resolve({ ended: error.message, output }));
    child.on('close', (code, signal) =>
      resolve({ ended: signal ? `ended by ${signal}` : code ? `exit code ${code}` : '', output }),
    );
  });
}

/**
 * @param {string[]} targets
 * @returns {Promise<boolean>} whether all could be built
 */
async function make(...targets) {
  const { ended } = await execute('make', ['-k', `-j${JOBS}`, ...targets], { stdio: 'inherit' });
  return !ended;
}

/** @param {string} program @returns {Promise<Count>} */
async function runProgram(program) {
  const { ended, output } = await execute(program, [], { timeout: PROGRAM_MINUTES * 60_000 });
  const lines = output.trimEnd().split('\n');
  const match = lines[lines.length - 1].match(/^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/);
  console.log(`\n${program}\n${output.trimEnd().replace(/^/gm, '  ')}`);
  if (!match) return failure(`${program}: ${ended || 'printed no count'}`);
  const [passed, failed, skipped] = match.slice(1).map((digits) => Number(digits ?? 0));
  if (failed) notes.push(`FAILED   ${program}: ${failed} of its tests`);
  if (skipped) notes.push(`SKIPPED  ${program}: ${skipped} of its tests`);
  const count = { passed, failed, skipped };
  return ended && !failed ? sum([count, failure(`${program}: ${ended}`)]) : count;
}

/** @param {string[]} programs @returns {Promise<Count>} */
async function runPrograms(programs) {
  const built = await make(...programs);
  const queue = [...programs];
  const counts = /** @type {Count[]} */ ([]);
  const work = async () => {
    for (let program = queue.shift(); program; program = queue.shift()) {
      const stale = !built && (await execute('make', ['-q', program])).ended;
      counts.push(stale ? failure(`${program}: does not compile`) : await runProgram(program));
    }
  };
  await Promise.all(Array.from({ length: JOBS }, work));
  return sum(counts);
}

/**
 * @param {string} folder
 * @param {RegExp} pattern of the files' names
 * @returns {Promise<Count>}
 */
async function runFiles(folder, pattern) {
  const names = (await readdir(folder).catch(() => [])).filter((name) => pattern.test(name));
  if (names.length === 0) return sum([]);
  const files = names.sort().map((name) => join(folder, name));
  const tests = run({ files, concurrency: JOBS, timeout: FILE_MINUTES * 60_000 });
  const totals = /** @type {Record<string, number>} */ ({});
  tests.on('test:diagnostic', ({ message }) => {
    const match = message.match(/^(pass|fail|cancelled|skipped|todo) (\d+)$/);
    if (match) totals[match[1]] = Number(match[2]);
  });
  let outermost = '';
  tests.on('test:start', ({ name, nesting }) => {
    if (nesting === 0) outermost = name;
  });
  /** @param {{ name: string, nesting: number, file?: string }} test */
  const place = ({ name, nesting, file = folder }) =>
    [relative('', file.replace('file://', '')), ...(nesting ? [outermost] : []), name].join(': ');
  tests.on('test:fail', (test) => {
    const error = /** @type {any} */ (test.details.error);
    if (error?.failureType !== 'subtestsFailed') notes.push(`FAILED   ${place(test)}`);
  });
  tests.on('test:pass', (test) => {
    const reason = test.skip ?? test.todo;
    if (reason !== undefined) notes.push(`SKIPPED  ${place(test)}: ${reason}`);
  });
  const report = tests.pipe(new spec());
  report.pipe(process.stdout);
  await once(report, 'end');
  return {
    passed: totals.pass ?? 0,
    failed: (totals.fail ?? 0) + (totals.cancelled ?? 0),
    skipped: (totals.skipped ?? 0) + (totals.todo ?? 0),
  };
}

// The makes started here are not parts of the one that started this.
for (const name of ['MAKEFLAGS', 'MFLAGS', 'MAKELEVEL']) delete process.env[name];

const args = process.argv.slice(2);
const end = args.indexOf('--');
const groups = end < 0 ? args : args.slice(0, end);
const programs = end < 0 ? [] : args.slice(end + 1);

/** @type {Record<string, () => Promise<Count>>} */
const runners = {
  c: () => runPrograms(programs),
  node: () => runFiles('tests/node', /\.test\.js$/),
  browser: () => runFiles('tests/browser', /^all-.*\.js$/),
};

const counts = /** @type {Count[]} */ ([]);
if (groups.some((group) => group !== 'c') && !(await make('everything', ...programs))) {
  counts.push(failure('the build'));
}
for (const group of groups) {
  console.log(`\n---- ${group} tests`);
  const count = await runners[group]();
  const ran = count.passed + count.failed > 0;
  counts.push(count, ran ? sum([]) : failure(`the group ${group} ran no test`));
  console.log(`\n${group}: ${describe(count)}`);
}
const total = sum(counts);
console.log(['', ...notes, describe(total)].join('\n'));
process.exit(total.failed ? 1 : 0);
