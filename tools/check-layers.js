// Holds the sources to the rules of the house that a search can check. Each layer knows only those
// to its left: base → math → tape → ops → nn → models → train → wasm/abi.c → engine.js → … → page.
//
// Comments and strings are taken out first: they may name what code may not use.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Folders of src/, from left to right. */
const LAYERS = ['base', 'math', 'tape', 'ops', 'nn', 'models', 'train', 'decode'];
const INCLUDE = /^\s*#\s*include\s*[<"](.*)[>"]/;
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
    except: /^wasm\/engine\.js$/,
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
    except: /^web\/text\/bleu\.js$/,
    pattern:
      /\bMath\.(a?(sin|cos|tan)h?|atan2|exp(m1)?|log(10|1p|2)?|pow|cbrt|hypot|random)\b|(?<!\d\s?)\*\*|\*\*(?!\s?\d)/,
    because: 'engines differ in the last bits of this function; numbers come from the core',
  },
];

const STRING_OR_COMMENT =
  /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|\/\*[\s\S]*?\*\/|\/\/.*|<!--[\s\S]*?-->/g;

/**
 * Leaves code and line breaks. Code inside a template literal stays, its text does too.
 * @param {string} source
 */
function codeOf(source) {
  return source.replace(STRING_OR_COMMENT, (match) => match.replace(/.+/g, ''));
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
    const source = readFileSync(file, 'utf8');
    const lines = source.split('\n');
    const complaints = codeOf(source)
      .split('\n')
      .flatMap((code, index) => {
        const include = file.startsWith('src/') && lines[index].match(INCLUDE);
        const wrong = rules.filter((rule) => rule.pattern.test(code)).map((rule) => rule.because);
        if (include) wrong.push(badInclude(file, include[1]));
        return wrong.filter(Boolean).map((because) => `${file}:${index + 1}: ${because}`);
      });
    for (const complaint of complaints) console.error(complaint);
    found += complaints.length;
  }
}
if (searched === 0) throw new Error('no sources found');
process.exit(found ? 1 : 0);
