/** The lessons in which models translate: sentences, corpora, decoding, and every reader of them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lessons } from '../../web/lessons/index.js';
import { decodeState } from '../../web/lessons/state.js';
import { eachBrowser } from './harness.js';
import { assertAccessible, assertNothingCut, assertOneLanguage, unfold } from './page-checks.js';
import { openTraining, own } from './training-page.js';

eachBrowser((browser) => {
  test('a typed sentence is translated; words outside the vocabulary are named', async () => {
    const figure = await openTraining(browser, { step: 30 });
    const field = await figure.find('input[name=sentence]');
    await figure.after(() => figure.type(field, 'the blue hat .'));
    const sentence = () =>
      figure.inside((root) =>
        [...root.querySelectorAll('.sentence ~ .words li')].map((chip) => [
          chip.textContent,
          chip.className,
        ]),
      );
    await figure.until((root) => root.querySelectorAll('.sentence ~ .words li').length === 4);
    assert.deepEqual(await sentence(), [
      ['the', ''],
      ['blue', 'unknown'],
      ['hat', ''],
      ['.', ''],
    ]);
    const panel = () => figure.inside((root) => root.querySelector('.input .panel')?.textContent);
    assert.match((await panel()) ?? '', /not in the vocabulary, read as <unk>: blue/);
    assert.match((await panel()) ?? '', /No pair of the corpus has this sentence/);
    const labels = async () => (await figure.map()).columnLabels;
    await figure.until((root) => {
      const map = /** @type {any} */ (root.querySelector('attention-heatmap'));
      return map.columnLabels.includes('<unk>');
    });
    assert.deepEqual(await labels(), ['the', '<unk>', 'hat', '.', '<eos>']);

    await figure.press('Next');
    await figure.until(
      (root) => !root.querySelector('.input .panel')?.textContent?.includes('No pair'),
    );
    assert.match((await panel()) ?? '', /1 of 12 · learnt.*reference: le/);
    await figure.press('Previous');
    await figure.until((root) =>
      root.querySelector('.input .panel')?.textContent?.includes('12 of 12 · held out'),
    );
    await figure.type(field, ' ');
    await figure.until((root) => root.querySelector('.input [aria-invalid=true]'));
    assert.deepEqual(await figure.errors(), [
      'Type at least one word. The figure shows the last sentence.',
    ]);
  });

  test('decoding token by token: candidates, the cache that grows, the row that is lit', async () => {
    const figure = await openTraining(browser, { step: 30, token: 1, cell: [1, 2] });
    const shown = () =>
      figure.inside((root) => {
        const map = /** @type {any} */ (root.querySelector('attention-heatmap'));
        return {
          words: [...root.querySelectorAll('.decoding .word')].map((word) => word.textContent),
          at: root.querySelector('.decoding .where')?.textContent,
          likely: [...root.querySelectorAll('.decoding .row .token')].map(
            (token) => token.textContent,
          ),
          taken: root.querySelector('.decoding .row [aria-current] .token')?.textContent,
          kept: [...root.querySelectorAll('.kept .down')].map((down) => down.children.length),
          rows: map.rowLabels.length,
          lit: map.highlight?.row,
          chosen: map.selected,
        };
      });
    await figure.until((root) => root.querySelectorAll('.kept .down').length === 2);
    const first = await shown();
    assert.match(first.at ?? '', new RegExp(`^token 1 of ${first.words.length}: `));
    assert.equal(first.taken, first.words[0]);
    assert.equal(first.likely.length, 5);
    assert.deepEqual(first.kept, [1, 1], 'one row for <bos>');
    assert.deepEqual([first.rows, first.lit], [1, 0]);
    await figure.after(() =>
      figure.inside((root) => {
        const next = [...root.querySelectorAll('.steps button')].find(
          (button) => button.textContent === 'Next',
        );
        /** @type {HTMLElement | undefined} */ (next)?.click();
      }),
    );
    await figure.until((root) => root.querySelector('.kept .down')?.children.length === 2);
    const second = await shown();
    assert.deepEqual(second.words, first.words, 'the same translation');
    assert.equal(second.taken, second.words[1]);
    assert.deepEqual([second.rows, second.lit], [2, 1]);
    assert.deepEqual(second.chosen, { row: 1, column: 2 }, 'as it was before it had a row');

    await figure.press('Decoding');
    await figure.press('nothing');
    await figure.until((root) => root.querySelectorAll('.kept > *').length === 0);
    await figure.press('inputs');
    await figure.until((root) => root.querySelectorAll('.kept > *').length === 1);
    await figure.press('always 0');
    await figure.until((root) =>
      [...root.querySelectorAll('.decoding > .note:not([hidden])')].some((note) =>
        note.textContent?.includes('gives each new token position 0'),
      ),
    );
    await figure.press('beam');
    await figure.until((root) => root.querySelectorAll('.beams li').length > 1);
    await figure.until((root) => root.querySelectorAll('.kept > *').length === 1);
    await figure.press('nothing');
    await figure.until((root) => root.querySelectorAll('.kept > *').length === 0);
    assert.equal(
      await figure.inside((root) =>
        [...root.querySelectorAll('.decoding > .note:not([hidden])')].some((note) =>
          note.textContent?.includes('gives each new token position 0'),
        ),
      ),
      false,
      'where nothing is kept every token has its own position',
    );
    const names = await figure.inside((root) =>
      [...root.querySelectorAll('button')]
        .filter((button) => button.textContent === 'Next')
        .map((button) => button.getAttribute('aria-label')),
    );
    assert.deepEqual(names, ['Next sentence', 'Next token']);
  });

  test('a file that is dropped: its pairs, and the lines that are none', async () => {
    const figure = await openTraining(browser);
    const lines = ['one two .\tun deux .', 'no tab here', 'three .\ttrois .', '\tvide .'];
    await figure.inside((root, lines) => {
      const carried = new DataTransfer();
      carried.items.add(new File([lines.join('\n')], 'mine.tsv'));
      const drop = new DragEvent('drop', { dataTransfer: carried, bubbles: true });
      root.querySelector('.corpus')?.dispatchEvent(drop);
    }, lines);
    await figure.until((root) => root.querySelector('.corpus')?.textContent?.includes('left out'));
    const said = await figure.inside((root) => root.querySelector('.corpus')?.textContent ?? '');
    assert.match(said, /2 pairs to learn, 0 held out/);
    assert.match(said, /2 lines left out:/);
    assert.match(said, /line 2: no tab between two sentences/);
    assert.match(said, /line 4: the source sentence is empty/);
    await figure.until(
      (root) => root.querySelector('.sentence ~ .words')?.textContent === 'onetwo.',
    );
    const kept = await figure.inside(
      (root) => /** @type {HTMLTextAreaElement} */ (root.querySelector('.corpus textarea')).value,
    );
    assert.equal(kept, lines.join('\n'), 'and can be edited');
  });

  test('files of spreadsheets, and of nothing', async () => {
    const figure = await openTraining(browser);
    const drop = (/** @type {number[]} */ bytes) =>
      figure.inside((root, bytes) => {
        const carried = new DataTransfer();
        carried.items.add(new File([new Uint8Array(bytes)], 'mine.txt'));
        const drop = new DragEvent('drop', { dataTransfer: carried, bubbles: true });
        root.querySelector('.corpus')?.dispatchEvent(drop);
      }, bytes);
    await drop([]);
    await figure.until((root) =>
      root.querySelector('.corpus .error')?.textContent?.includes('None of its lines holds a pair'),
    );
    for (const [word, order] of /** @type {const} */ ([
      ['uno', [0, 8]],
      ['due', [8, 0]],
    ])) {
      const units = Array.from(`\ufeff${word} x\ty z`, (sign) => sign.charCodeAt(0));
      await drop(units.flatMap((unit) => order.map((shift) => (unit >> shift) & 255)));
      await figure.until(
        (root, word) => root.querySelector('.sentence ~ .words')?.textContent === `${word}x`,
        word,
      );
      assert.deepEqual(await figure.errors(), []);
    }
  });

  test('the field of one’s own pairs stays empty while a model trains', async () => {
    const figure = await openTraining(browser, { own, epochs: 1000 });
    await figure.act('Train');
    const field = await figure.find('.corpus textarea');
    await field.focus();
    const value = () =>
      figure.inside(
        (root) => /** @type {HTMLTextAreaElement} */ (root.querySelector('.corpus textarea')).value,
      );
    assert.equal(await value(), own);
    await figure.inside((root) => {
      /** @type {HTMLTextAreaElement} */ (root.querySelector('.corpus textarea')).value = '';
    });
    const { step } = await figure.progress();
    await figure.until((root, step) => (root.querySelector('progress')?.value ?? 0) > step, step);
    assert.equal(await value(), '');
    await field.type('x');
    assert.equal(await value(), 'x');
  });

  test('pairs of one’s own that are typed; none is held out of so few', async () => {
    const figure = await openTraining(browser, { corpus: 'english-french', own: '' });
    await figure.press('your own');
    assert.ok(
      await figure.inside((root) => !root.querySelector('.corpus > .note')?.checkVisibility()),
      'no counts of the corpus before',
    );
    const field = await figure.find('.corpus textarea');
    assert.equal(await figure.inside((root) => root.activeElement?.localName), 'textarea');
    await field.type('no pair');
    await figure.inside((root) =>
      /** @type {HTMLElement} */ (root.querySelector('.corpus textarea')).blur(),
    );
    await figure.until((root) =>
      root.querySelector('.corpus .error')?.textContent?.includes('None of its lines holds a pair'),
    );
    assert.match(
      (await figure.inside((root) => root.querySelector('.corpus')?.textContent)) ?? '',
      /1 line left out:.*line 1: no tab/,
    );
    await figure.inside((root) => {
      const area = /** @type {HTMLTextAreaElement} */ (root.querySelector('.corpus textarea'));
      area.value = 'a b\tc d';
      area.dispatchEvent(new Event('change'));
    });
    await figure.until((root) => root.querySelector('.sentence ~ .words')?.textContent === 'ab');
    assert.deepEqual(await figure.errors(), []);
    assert.ok(
      await figure.inside(
        (root) => !(/** @type {any} */ (root.querySelector('.score')).checkVisibility()),
      ),
    );
    await figure.press('English → French');
    await figure.until((root) => root.querySelector('.score b')?.textContent);
  });

  test('what goes wrong in training and with a file is said in the language of the reader', async () => {
    const wild = { learningRate: 1e30, clip: 'off', step: 6 };
    const figure = await openTraining(browser, wild, { lang: 'zh-CN' });
    const said = (/** @type {string} */ words) =>
      figure.until(
        (root, words) => root.querySelector('.training')?.textContent?.includes(words),
        words,
      );
    await said('训练已停止：第');
    await said(' 步的损失是 NaN，最先出现在 ');
    await figure.inside((root) => {
      const carried = new DataTransfer();
      carried.items.add(new File(['no model'], 'note.txt'));
      const drop = new DragEvent('drop', { dataTransfer: carried, bubbles: true });
      root.querySelector('.training')?.dispatchEvent(drop);
    });
    await said('note.txt 不是模型文件：文件声称文件头有');
  });

  test('the known alignment is outlined, counted, and in the link', async () => {
    const figure = await openTraining(browser, { corpus: 'english-french' });
    const outlined = () =>
      figure.inside(
        (root) => /** @type {any} */ (root.querySelector('attention-heatmap')).outlined.length,
      );
    assert.equal(await outlined(), 0);
    await figure.press('Known alignment');
    await figure.until((root) =>
      /Outlined: .* for \d of \d words\./.test(root.querySelector('.stage')?.textContent ?? ''),
    );
    assert.ok((await outlined()) > 3);
    const link = await figure.page.evaluate(() =>
      /** @type {any} */ (document.querySelector('attention-playground')).link(),
    );
    const { state } = await decodeState(lessons.transformer.table, link);
    assert.equal(state.aligned, true);
    await figure.type(await figure.find('input[name=sentence]'), 'bike bike');
    await figure.until((root) =>
      root.querySelector('.stage')?.textContent?.includes('no pair of the corpus'),
    );
    assert.equal(await outlined(), 0);
    await figure.press('your own');
    await figure.until((root) => {
      const box = [...root.querySelectorAll('.stage label')].at(-1);
      return !(/** @type {any} */ (box).checkVisibility());
    });
  });

  test('a weight typed over, and taken back', async () => {
    const figure = await openTraining(browser, { head: 0 });
    const before = await figure.map();
    await figure.after(() =>
      figure.inside((root) => {
        const map = /** @type {any} */ (root.querySelector('attention-heatmap'));
        const detail = { row: 0, column: 1, value: 0.5 };
        map.dispatchEvent(new CustomEvent('celledit', { detail, cancelable: true }));
      }),
    );
    await figure.until((root) => root.querySelector('.edits:not([hidden])'));
    const edited = await figure.map();
    assert.equal(edited.data[1], 0.5);
    assert.deepEqual(edited.edited, [[0, 1]]);
    await figure.after(() => figure.press('Take all edits back'));
    await figure.until((root) => !root.querySelector('.edits:not([hidden])'));
    assert.deepEqual((await figure.map()).data, before.data);
  });

  test('the sentence stands in its field, also in another language and from another corpus', async () => {
    const figure = await openTraining(browser, { corpus: 'english-french' });
    const field = () =>
      figure.inside(
        (root) => /** @type {HTMLInputElement} */ (root.querySelector('input.sentence')).value,
      );
    const french = await field();
    assert.match(french, /^i .*[.?]$/);
    await figure.page.evaluate(() => {
      document.documentElement.lang = 'zh-CN';
    });
    await figure.until((root) => root.textContent?.includes('要翻译的句子'));
    assert.equal(await field(), french);
    await figure.press('英语 → 中文');
    assert.notEqual(await field(), french);
    assert.notEqual(await field(), '');
  });

  test('sliders say what they are limited to', async () => {
    for (const [lesson, words] of /** @type {const} */ ([
      ['transformer', ['From 8 to 128. D = H ÷ h = 4', 'From 1 to 4.', 'From 1 to 1000.']],
      ['bahdanau', ['From 4 to 128.', 'From 1 to 4.', 'From 1 to 1000.']],
    ])) {
      const figure = await openTraining(browser, {}, { lesson });
      const notes = await figure.inside((root) =>
        [...root.querySelectorAll('.slider .note')].map((note) => note.textContent ?? ''),
      );
      for (const said of words)
        assert.ok(
          notes.some((note) => note.startsWith(said)),
          said,
        );
    }
  });

  test('without attention there is no map, and a sentence says so', async () => {
    const figure = await openTraining(browser, {}, { lesson: 'bahdanau' });
    const { rowLabels, columnLabels, mask } = await figure.map();
    assert.equal(rowLabels[0], '<bos>');
    assert.equal(columnLabels.at(-1), '<eos>');
    assert.equal(mask, null, 'all sentences are equally long');
    await figure.press('none');
    await figure.until((root) =>
      root
        .querySelector('.stage > .note:last-child:not([hidden])')
        ?.textContent?.includes('no attention'),
    );
  });

  test('all of it by keyboard', async () => {
    const figure = await openTraining(browser, { epochs: 1000 });
    const { page } = figure;
    const active = () =>
      figure.inside((root) => root.activeElement?.className || root.activeElement?.localName);
    await figure.inside((root) =>
      /** @type {HTMLElement} */ (root.querySelector('.act.main')).focus(),
    );
    await page.keyboard.press('Enter');
    await figure.until((root) => root.querySelector('.training [type=range]:enabled'));
    assert.equal(await active(), 'act main');
    await page.keyboard.press('Enter');
    await figure.until((root) => !root.querySelector('.score.stale'));
    assert.equal(await figure.main(), 'Resume');
    await figure.until((root) => root.querySelector('.training [type=range]:enabled'));
    const stops = [];
    for (let press = 0; press < 6; press++) {
      await page.keyboard.press('Tab');
      stops.push(await active());
    }
    assert.deepEqual(stops.slice(0, 3), ['act', 'act', 'act']);
    assert.ok(stops.includes('input'), `the scrubber is reached: ${stops}`);
    const { step } = await figure.progress();
    await figure.inside((root) =>
      /** @type {HTMLElement} */ (root.querySelector('.training [type=range]')).focus(),
    );
    await page.keyboard.press('Home');
    await figure.at(0);
    await page.keyboard.press('End');
    await figure.until((root) => Number(root.querySelector('progress')?.value) > 0);
    await figure.until((root) => !root.querySelector('.score.stale'));
    assert.equal((await figure.progress()).step, step - (step % 3));
    await figure.inside((root) => /** @type {HTMLElement} */ (root.querySelector('.tile')).focus());
    await page.keyboard.press('Enter');
    await figure.until((root) =>
      root.querySelector('.stage .title')?.textContent?.startsWith('encoder self'),
    );
  });

  describe('axe finds nothing, nothing is cut, both languages are complete', () => {
    const data = '.words, .row, .labelled, .stage .figures, .reference, figcaption, textarea';
    const kept = /ReLU|GELU|BLEU|dropout|eos|pad|unk|ALiBi|safetensors/g;
    for (const [lesson, lang, theme, width] of /** @type {const} */ ([
      ['transformer', 'en', 'light', 1280],
      ['transformer', 'zh-CN', 'dark', 320],
      ['transformer', 'en', 'dark', 800],
      ['bahdanau', 'zh-CN', 'light', 1280],
      ['bahdanau', 'en', 'light', 320],
    ])) {
      test(`${lesson}, ${lang}, ${theme}, ${width} px`, async () => {
        const options = { lesson, lang, theme, width, height: 700 };
        const figure = await openTraining(browser, { step: 12 }, options);
        await figure.until((root) => !root.querySelector('.score.stale'));
        await unfold(figure, 'details.fold');
        await assertAccessible(figure);
        await assertNothingCut(figure);
        await assertOneLanguage(figure, lang, data, kept);
      });
    }
  });
});
