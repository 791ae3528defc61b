/**
 * What the core says of a failure, in the words of a reader: every English sentence that the language
 * files hold another for is provoked here, so that none of them can change or go unseen.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEngine } from '../../wasm/attention.js';
import { decodeSafetensors } from '../../wasm/safetensors.js';
import { failureWords, stringsOf } from '../../web/i18n/index.js';

const en = stringsOf('en');
const zh = stringsOf('zh-CN');
const engine = await createEngine();
const config = { hiddens: 8, heads: 2, layers: 1, feedForward: 8, sourceVocab: 4, targetVocab: 4 };
const batch = { source: [[1, 2]], sourceLens: [2], target: [[1, 2]], labels: [[2, 3]] };

/** @param {() => unknown} act @returns {any} what it throws */
function failureOf(act) {
  try {
    act();
  } catch (error) {
    return error;
  }
  return assert.fail('nothing went wrong');
}

/** @param {unknown} header @param {number} [announced] */
function file(header, announced) {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const bytes = new Uint8Array(8 + text.length + 8);
  bytes.set(text, 8);
  new DataView(bytes.buffer).setUint32(0, announced ?? text.length, true);
  return bytes;
}
const entry = { dtype: 'F32', shape: [1], data_offsets: [0, 4] };

/** @param {number} weight */
function trained(weight) {
  const model = engine.transformer(config);
  const parameters = model.parameters();
  parameters['output.weight'].data.forEach((_, at, data) => {
    data[at] = weight * (at % 3);
  });
  model.load(parameters);
  return () => model.trainStep(batch, { learningRate: 0.1 });
}

/** @param {Record<string, object>} change */
const loaded = (change) => () => {
  const model = engine.transformer(config);
  model.load({ ...model.parameters(), .../** @type {any} */ (change) });
};

/** @type {[reads: RegExp, act: () => unknown][]} */
const failures = [
  [/^第 1 步的损失是 NaN，最先出现在 output\.weight 中$/, trained(NaN)],
  [/^第 1 步的梯度范数是 .+，请看 [\w.]+ 的梯度$/, trained(1e25)],
  [
    /宽度 6 分给 2 个头，每个头是 3$/,
    () => engine.transformer({ ...config, hiddens: 6, position: 'rotary' }),
  ],
  [/^模型没有参数 "x"$/, loaded({ x: { shape: [1], data: [0] } })],
  [/^缺少参数 source_embedding\.weight$/, () => engine.transformer(config).load({})],
  [
    /^output\.bias 的形状是 \[2\]，模型里是 \[4\]$/,
    loaded({ 'output.bias': { shape: [2], data: [0, 0] } }),
  ],
  [/^只有 4 字节/, () => decodeSafetensors(new Uint8Array(4))],
  [/文件头有 99 字节，后面只有 \d+ 字节$/, () => decodeSafetensors(file({}, 99))],
  [/^开头的 1 字节不是 safetensors 文件头$/, () => decodeSafetensors(file({}, 1))],
  [
    /a 的数据类型是 "BF16"，只能读取 F32$/,
    () => decodeSafetensors(file({ a: { ...entry, dtype: 'BF16' } })),
  ],
  [
    /a 到 12 结束，而数据到 8 就没有了$/,
    () => decodeSafetensors(file({ a: { ...entry, shape: [3], data_offsets: [0, 12] } })),
  ],
];

test('what the core says of training and of files is said in Chinese, with its values', () => {
  const needed = failures.map(([reads, act]) => {
    const failure = failureOf(act);
    assert.match(failureWords(zh, failure), reads);
    assert.equal(failureWords(en, failure), failure.message);
    const fitting = Object.keys(zh.core).filter(
      (sentence) => failureWords({ ...zh, core: { [sentence]: '有' } }, failure) === '有',
    );
    assert.equal(fitting.length, 1, `${failure.message}: ${fitting}`);
    return fitting[0];
  });
  assert.deepEqual(needed.sort(), Object.keys(zh.core).sort(), 'each sentence, once');
});

test('a file that contradicts itself is told in Chinese without going into it', () => {
  for (const header of [[1], { a: 7 }, { a: { ...entry, shape: [2] } }, { a: entry, b: entry }]) {
    const failure = failureOf(() => decodeSafetensors(file(header)));
    assert.match(failureWords(zh, failure), /^文件已损坏/);
  }
});

test('a failure that no language has words for is told as the core tells it', () => {
  const failure = failureOf(() => engine.transformer({ ...config, heads: 3 }));
  assert.match(failure.message, /3/);
  assert.equal(failureWords(zh, failure), failure.message);
});

test('Chinese has one word for one thing', () => {
  const others = /热图|沙箱|参数 w|关闭.*头|头.*关闭/;
  for (const line of JSON.stringify(zh, null, 1).split('\n')) assert.doesNotMatch(line, others);
});
