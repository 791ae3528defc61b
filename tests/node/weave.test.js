// Two binaries woven into one list of bytes come apart again as they were.

import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { unweave, weave } from '../../wasm/weave.js';

test('what is woven comes apart again, whatever the two lengths', () => {
  const bytes = fc.uint8Array({ maxLength: 200 });
  fc.assert(
    fc.property(bytes, bytes, (first, second) => {
      assert.deepEqual(unweave(weave(first, second), first.length), { first, second });
    }),
  );
});

test('like stands near like', () => {
  const bytes = Uint8Array.from({ length: 3200 }, (_, at) => at >> 5);
  const woven = weave(bytes, bytes);
  assert.ok(bytes.every((value) => woven.lastIndexOf(value) - woven.indexOf(value) < 256));
});
