// Holds the sources to the rules of the house that a search can check. Each layer knows only those
// to its left: base → math → tape → ops → nn → models → wasm/abi.c → engine.js → … → page.
//
// Comments are taken out first, so that they may name what code may not use.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const LAYERS = ['base', 'math', 'tape', 'ops', 'nn', 'models'];
const FREESTANDING = /^(float|limits|stdarg|stdbool|stddef|stdint|wasm_simd128)\.h$/;

/**
 * A rule: code of `files`, but for those `except`, does not match `pattern`.
 * @type {{ files: RegExp, except?: RegExp, pattern: RegExp, because: string }[]}
 */
const RULES = [
  {
    files: /^(src|wasm)\/.*\.[ch]$/,
    except: /^wasm\/abi\.c$/,
    pattern: /export_name|EMSCRIPTEN_KEEPALIVE|visibility\s*\(/,
    because: 'exports occur only in wasm/abi.c',
  },
  {
    files: /^(wasm|web)\/.*\.js$/,
    except: /^(wasm\/engine\.js|web\/i18n\/.*)$/,
    pattern: /\bWebAssembly\b/,
    because: 'WebAssembly is known only to wasm/engine.js',
  },
  {
    files: /^web\/draw\/.*\.js$/,
    pattern: /\bdocument\b(?!\()/,
    because: 'web/draw never touches the document',
  },
  {
    files: /^(wasm|web)\/.*\.(js|html)$/,
    pattern: /\b(innerHTML|outerHTML|insertAdjacentHTML|eval\s*\(|new Function\b|document\.write)/,
    because: 'text goes in by textContent and attributes only',
  },
  {
    files: /^(wasm|web\/lessons|web\/text)\/.*\.js$/,
    pattern:
      /\bMath\.(a?(sin|cos|tan)h?|atan2|exp(m1)?|log(10|1p|2)?|pow|cbrt|hypot|random)\b|\*\*/,
    because: 'engines differ in the last bits of this function; numbers come from the core',
  },
];

const STRING = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/;
const COMMENT = /\/\*[\s\S]*?\*\/|\/\/.*|<!--[\s\S]*?-->/;
const STRING_OR_COMMENT = new RegExp(`(${STRING.source})|${COMMENT.source}`, 'g');

/** @param {string} source */
function withoutComments(source) {
  return source.replace(
    STRING_OR_COMMENT,
    (comment, string) => string ?? comment.replace(/.+/g, ''),
  );
}

/**
 * What is wrong with one #include of a file of the core.
 * @param {string} file
 * @param {string} included as written, between its quotes or brackets
 */
function badInclude(file, included) {
  const target = [join(dirname(file), included), join('src', included)].find(existsSync);
  if (!target?.startsWith('src/')) {
    return FREESTANDING.test(included)
      ? ''
      : `src includes only itself and freestanding headers, not ${included}`;
  }
  const layer = (/** @type {string} */ path) => LAYERS.indexOf(path.split('/')[1]);
  return layer(target) > layer(file) ? `${file.split('/')[1]} must not know ${target}` : '';
}

let found = 0;
let searched = 0;
for (const folder of ['src', 'wasm', 'web']) {
  for (const name of readdirSync(folder, { recursive: true })) {
    const file = join(folder, String(name));
    if (!/\.(c|h|js|html)$/.test(file)) continue;
    searched++;
    const rules = RULES.filter((rule) => rule.files.test(file) && !rule.except?.test(file));
    const lines = withoutComments(readFileSync(file, 'utf8')).split('\n');
    for (const [index, line] of lines.entries()) {
      const include = file.startsWith('src/') && line.match(/^\s*#\s*include\s*[<"](.*)[>"]/);
      const wrong = rules.filter((rule) => rule.pattern.test(line)).map((rule) => rule.because);
      if (include) wrong.push(badInclude(file, include[1]));
      for (const because of wrong.filter(Boolean)) {
        console.error(`${file}:${index + 1}: ${because}`);
        found++;
      }
    }
  }
}
if (searched === 0) throw new Error('no sources found');
process.exit(found ? 1 : 0);
