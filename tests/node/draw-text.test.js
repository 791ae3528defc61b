/** Numbers and tokens as text, on the screen and in files. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { csv, json, npy } from '../../web/draw/export-data.js';
import { fill, float32, full, parse, short, tokenLabel } from '../../web/draw/format.js';

const hostile = '"><img src=x onerror=alert(1)>';

/** @param {number[][]} rows */
function matrixOf(rows) {
  return { rows: rows.length, columns: rows[0].length, data: Float32Array.from(rows.flat()) };
}

describe('numbers as text', () => {
  test('three significant figures, no trailing zeros, a real minus sign', () => {
    const shown = [0.42, -12.345, 1, 0, -0, 0.0004, -1.23456e-5, 99999, 123456, 1e21].map(short);
    assert.deepEqual(shown, [
      ...['0.42', '−12.3', '1', '0', '0', '4e−4', '−1.23e−5', '1e+5', '1.23e+5', '1e+21'],
    ]);
    assert.deepEqual([NaN, Infinity, -Infinity].map(short), ['NaN', '∞', '−∞']);
  });

  test('the shortest text that is one float32', () => {
    const values = [0.1, 1 / 3, 16777217, 1e-45, 3.4028235e38, -2.5].map(Math.fround);
    assert.deepEqual(values.map(float32), [
      ...['0.1', '0.33333334', '16777216', '1e-45', '3.4028235e+38', '-2.5'],
    ]);
    assert.equal(full(-2.5), '−2.5');
    assert.equal(float32(-0), '-0');
  });

  test('every float32 reads back as itself', () => {
    fc.assert(
      fc.property(fc.float({ noNaN: true }), (value) => {
        assert.ok(Object.is(parse(full(value)), value), `${value} shown as ${full(value)}`);
        assert.ok(Object.is(Math.fround(Number(float32(value))), value));
      }),
    );
  });

  test('numbers are read as people type them', () => {
    assert.equal(parse(' −0.5 '), -0.5);
    assert.equal(parse('１．５'), 1.5);
    assert.equal(parse('.5'), 0.5);
    assert.equal(parse('1E-3'), Math.fround(1e-3));
    assert.equal(parse('-inf'), -Infinity);
    assert.ok(Number.isNaN(parse('NaN')));
    for (const text of ['', 'abc', '1,5', '0x10', '1 2', '--1', 'e5']) {
      assert.equal(parse(text), 'number', text);
    }
    assert.equal(parse('1e39'), 'float32');
  });

  test('places in sentences are filled once', () => {
    assert.equal(fill('{a} and {b}, {c}', { a: '{b}', b: 0 }), '{b} and 0, {c}');
  });
});

describe('tokens as text', () => {
  test('P3: bytes that cut a sign are shown as bytes', () => {
    assert.equal(tokenLabel(Uint8Array.of(0xe6, 0xad)), '<E6 AD>');
    assert.equal(tokenLabel(Uint8Array.of(0xaa)), '<AA>');
    assert.equal(tokenLabel(Uint8Array.of(0xe6, 0xad, 0xaa)), '歪');
    assert.equal(tokenLabel(Uint8Array.of(0x61, 0xff, 0xfe, 0x62)), 'a<FF FE>b');
    assert.equal(tokenLabel('\ud83d'), '<D83D>');
    assert.equal(tokenLabel('\ufffd'), '<EF BF BD>');
  });

  test('P3: no bytes and no string give U+FFFD or throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), (bytes) => {
        assert.ok(!tokenLabel(bytes).includes('\ufffd'));
      }),
    );
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0xffff })), (units) => {
        const label = tokenLabel(String.fromCharCode(...units));
        assert.ok(!/[\ufffd\p{Cs}]/u.test(label));
      }),
    );
  });

  test('white space is seen', () => {
    assert.deepEqual([' the', '\n', '\t', 'a b', ''].map(tokenLabel), [
      ...['␣the', '↵', '⇥', 'a b', ''],
    ]);
  });
});

describe('files', () => {
  const matrix = matrixOf([
    [0.1, -2],
    [NaN, Infinity],
  ]);

  test('CSV opens with a byte order mark and ends lines with CR LF', () => {
    const text = csv(matrix, ['a', 'b'], ['c', '因为']);
    assert.equal(text, '\uFEFF,c,因为\r\na,0.1,-2\r\nb,NaN,Infinity\r\n');
    assert.deepEqual([...new TextEncoder().encode(text).slice(0, 3)], [0xef, 0xbb, 0xbf]);
  });

  test('P2: formulas in labels are disarmed, quotes doubled', () => {
    const formulas = ['=1+1', '+1', '-1', '@x', '\t=1', '＝1', ' =1'];
    const rows = { rows: formulas.length, columns: 1, data: new Float32Array(formulas.length) };
    const lines = csv(rows, formulas, [hostile]).slice(1).split('\r\n');
    assert.equal(lines[0], `,"""><img src=x onerror=alert(1)>"`);
    for (const [at, formula] of formulas.entries()) {
      assert.equal(lines[at + 1], `'${formula},0`);
    }
    assert.ok(csv(rows, ['a,b', 'c\nd'], ['x']).includes('"a,b",0\r\n"c\nd",0'));
  });

  test('.npy has an aligned header and little-endian floats', () => {
    const bytes = npy({ shape: [2, 2], data: matrix.data });
    assert.deepEqual([...bytes.slice(0, 8)], [0x93, ...Buffer.from('NUMPY'), 1, 0]);
    const view = new DataView(bytes.buffer);
    const start = 10 + view.getUint16(8, true);
    assert.equal(start % 64, 0);
    const head = Buffer.from(bytes.slice(10, start)).toString('latin1');
    assert.match(head, /^\{'descr': '<f4', 'fortran_order': False, 'shape': \(2, 2\), \} *\n$/);
    assert.equal(bytes.length, start + 16);
    assert.equal(view.getFloat32(start, true), Math.fround(0.1));
    assert.ok(Number.isNaN(view.getFloat32(start + 8, true)));
    assert.match(Buffer.from(npy({ shape: [3], data: [1, 2, 3] })).toString('latin1'), /\(3,\)/);
    assert.match(Buffer.from(npy({ shape: [], data: [1] })).toString('latin1'), /\(\)/);
  });

  test('JSON keeps every float32 and names what it cannot hold', () => {
    const text = json({ shape: [2, 2], data: matrix.data, mask: [0, 1], low: -Infinity });
    assert.deepEqual(JSON.parse(text), {
      shape: [2, 2],
      data: [0.1, -2, 'NaN', 'Infinity'],
      mask: [0, 1],
      low: '-Infinity',
    });
  });
});
