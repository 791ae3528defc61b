/** Training in the page: runs, pauses, steps, ways back, files of models. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachBrowser } from './harness.js';
import { linkTo, openTraining, savedModel } from './training-page.js';

eachBrowser((browser) => {
  test('train, pause, step, scrub back, rewind, resume', async () => {
    const figure = await openTraining(browser, { epochs: 1000 });
    assert.deepEqual(await figure.progress(), { step: 0, steps: 3000 });
    const initial = await figure.map();

    await figure.act('Train');
    await figure.until((root) => Number(root.querySelector('progress')?.value) >= 12);
    const heldOut = () => figure.inside((root) => root.querySelector('.score .label')?.textContent);
    assert.equal(await heldOut(), 'Pairs held out · step 0');
    await figure.act('Pause');
    await figure.until((root) => !root.querySelector('.score.stale'));
    assert.equal(await figure.main(), 'Resume');
    const { step } = await figure.progress();
    assert.equal(await heldOut(), `Pairs held out · step ${step}`);
    const paused = await figure.map();
    assert.notDeepEqual(paused.data, initial.data);

    await figure.act('One step');
    await figure.at(step + 1);
    assert.notDeepEqual((await figure.map()).data, paused.data);

    const scrub = async () => {
      await figure.inside((root) => {
        const range = /** @type {HTMLInputElement} */ (
          root.querySelector('.training [type=range]')
        );
        range.value = '1';
        range.dispatchEvent(new InputEvent('input', { bubbles: true }));
      });
      // The epoch is named at once; its numbers follow.
      await figure.until((root) => {
        const { value } = /** @type {HTMLProgressElement} */ (root.querySelector('progress'));
        const { textContent } = /** @type {Element} */ (root.querySelector('.training .where'));
        return value > 0 && textContent === `epoch ${value / 3}`;
      });
      const { step } = await figure.progress();
      await figure.at(step);
      return { step, ...(await figure.map()) };
    };
    const scrubbed = await scrub();
    assert.ok(scrubbed.step < step);
    await figure.act('One step');
    await figure.at(scrubbed.step + 1);
    assert.deepEqual(await scrub(), scrubbed);

    await figure.act('Rewind');
    await figure.at(0);
    assert.deepEqual((await figure.map()).data, initial.data, 'the initial weights');
    assert.equal(await figure.main(), 'Train');
    assert.deepEqual(await scrub(), scrubbed, 'saved epochs stay');
    assert.equal(await figure.main(), 'Resume');
    await figure.act('Resume');
    await figure.until(
      (root, step) => Number(root.querySelector('progress')?.value) > step,
      scrubbed.step,
    );
    await figure.act('Stop');
    await figure.until((root) => root.querySelector('.act.main')?.textContent === 'Train again');
  });

  test('a run comes to its end, and the next one starts from the initial weights', async () => {
    const figure = await openTraining(browser);
    await figure.act('Train');
    await figure.at(30);
    assert.equal(await figure.main(), 'Train again');
    const stops = await figure.inside((root) =>
      [...root.querySelectorAll('.act')].map((act) => act.getAttribute('aria-disabled')),
    );
    assert.deepEqual(stops, [null, 'true', 'true', null], 'nothing is left to step to, or to stop');
    const said = await figure.inside(
      (root) => root.querySelector('.training > .unseen')?.textContent,
    );
    assert.match(said ?? '', /^Training ended: epoch 10 of 10/);
    const first = await figure.map();
    const pressed = await figure.inside((root) => {
      const main = /** @type {HTMLElement} */ (root.querySelector('.act.main'));
      main.click();
      return main.textContent;
    });
    assert.equal(pressed, 'Pause');
    await figure.at(30);
    assert.deepEqual((await figure.map()).data, first.data);
  });

  test('a number of epochs is typed, and what is trained stays', async () => {
    const figure = await openTraining(browser, { epochs: 8, step: 24 });
    await figure.at(24);
    assert.equal(await figure.main(), 'Train again');
    const trained = await figure.map();
    /** What the panel says of the run. */
    const said = () =>
      figure.inside((root) => {
        const panel = /** @type {Element} */ (root.querySelector('.training'));
        const scrub = /** @type {HTMLInputElement} */ (panel.querySelector('[type=range]'));
        return {
          progress: panel.querySelector('progress + .figures')?.textContent,
          saved: panel.querySelector('.where')?.textContent,
          thumb: scrub.valueAsNumber === Number(scrub.max),
          room: panel.querySelector('.curves canvas')?.getAttribute('aria-valuemax'),
        };
      });
    /** @param {string} typed */
    const type = (typed) =>
      figure.inside((root, typed) => {
        const field = /** @type {HTMLInputElement} */ (root.querySelector('input[name=epochs]'));
        field.focus();
        field.value = typed;
        field.dispatchEvent(new InputEvent('input', { bubbles: true }));
      }, typed);
    await type('1');
    await figure.at(24);
    const shorter = { saved: 'epoch 8', thumb: true, room: '24' };
    assert.deepEqual(await said(), {
      progress: 'epoch 8 (1 planned) · step 24',
      ...shorter,
    });
    assert.equal(await figure.main(), 'Train again', 'complete');
    await type('12');
    await figure.at(24);
    assert.deepEqual(await said(), {
      progress: 'epoch 8 of 12 · step 24 of 36',
      ...shorter,
      room: '36',
    });
    assert.equal(await figure.main(), 'Resume');
    assert.deepEqual((await figure.map()).data, trained.data);
    await figure.act('One step');
    await figure.at(25);
    const { progress, saved } = await said();
    assert.deepEqual(
      [progress, saved],
      ['epoch 9 of 12 · step 25 of 36', 'epoch 9, its step 1 of 3'],
    );
  });

  test('speed and change go with the run they are of', async () => {
    const figure = await openTraining(browser, { epochs: 30 });
    /** Trains, and lets the score change. */
    const train = async () => {
      await figure.act('Train');
      await figure.at(90);
      await figure.inside((root) => {
        const box = [...root.querySelectorAll('.tiles input:not([hidden])')].at(-1);
        /** @type {HTMLElement | undefined} */ (box)?.click();
      });
      await figure.until(
        (root) =>
          !root.querySelector('.score.stale') &&
          /change$/.test(root.querySelector('.score .figures')?.textContent ?? ''),
      );
    };
    const left = () =>
      figure.inside((root) => [
        root.querySelector('.training .speed')?.textContent,
        ...[...root.querySelectorAll('.score .figures .quiet')].map((change) => change.textContent),
      ]);
    await train();
    const [speed] = await left();
    assert.match(speed ?? '', /steps\/s/);
    await figure.act('Rewind');
    await figure.at(0);
    assert.deepEqual(await left(), ['', '', ''], 'back at the initial weights');
    await train();
    await figure.inside((root) => {
      const field = /** @type {HTMLInputElement} */ (root.querySelector('input[name=seed]'));
      field.focus();
      field.value = '7';
      field.dispatchEvent(new InputEvent('input', { bubbles: true }));
    });
    await figure.at(0);
    assert.deepEqual(await left(), ['', '', ''], 'another model');
  });

  for (const button of ['Stop', 'Pause']) {
    test(`${button} on the way to the step of a link stays with the numbers that are there`, async (t) => {
      // By far more training than a test waits for.
      const far = { corpus: 'english-french', hiddens: 32, epochs: 1000, batchSize: 1, step: 1e6 };
      const figure = await openTraining(browser, far, { arrived: false });
      await figure.until((root) => root.querySelector('.act.main')?.textContent === 'Pause');
      await figure.until((root) => Number(root.querySelector('progress')?.value) > 0);
      const { step, main, milliseconds } = await figure.inside(async (root, name) => {
        const main = /** @type {HTMLElement} */ (root.querySelector('.act.main'));
        const progress = /** @type {HTMLProgressElement} */ (root.querySelector('progress'));
        const act = [...root.querySelectorAll('.act')].find((act) => act.textContent === name);
        const pressed = performance.now();
        /** @type {HTMLElement} */ (act).click();
        const answer = { step: progress.value, main: main.textContent };
        while (root.querySelector('.score.stale')) await new Promise(requestAnimationFrame);
        return { ...answer, milliseconds: performance.now() - pressed };
      }, button);
      t.diagnostic(`${browser.name}: all numbers of the step ${milliseconds.toFixed(0)} ms later`);
      assert.equal(main, button === 'Stop' ? 'Train again' : 'Resume', 'answered at once');
      await figure.at(step);
      await figure.act('One step');
      await figure.at(step + 1);
      assert.deepEqual(await figure.notices(), []);
    });
  }

  test('maps are painted many times while it trains, and nothing moves', async () => {
    const figure = await openTraining(browser, { epochs: 700 });
    const { pictures, places, frames, focus } = await figure.inside(async (root) => {
      const main = /** @type {HTMLElement} */ (root.querySelector('.act.main'));
      main.focus();
      main.click();
      const begun = performance.now();
      const tile = /** @type {HTMLCanvasElement} */ (root.querySelector('.tile canvas'));
      const pictures = new Set();
      const places = new Set();
      let frames = 0;
      while (performance.now() - begun < 5000) {
        await new Promise(requestAnimationFrame);
        frames++;
        pictures.add(tile.toDataURL());
        const { top, left } = main.getBoundingClientRect();
        places.add(`${top} ${left}`);
        if (pictures.size > 2 && main.textContent !== 'Pause') break;
      }
      return {
        pictures: pictures.size,
        places: places.size,
        frames,
        focus: root.activeElement === main,
      };
    });
    // A quiet machine shows 60 frames in a second and about 20 of them are new; a busy one has fewer to
    // give to all.
    assert.ok(pictures >= frames / 20, `${pictures} pictures in ${frames} frames`);
    assert.equal(places, 1, 'the button stands still');
    assert.ok(focus, 'and keeps the focus');
  });

  test('a head that is silenced shows what it was worth', async () => {
    const figure = await openTraining(browser, { step: 30 });
    await figure.at(30);
    const [[, loss, change]] = await figure.score();
    assert.equal(change, '');
    await figure.inside((root) => {
      const boxes = [...root.querySelectorAll('.tiles input:not([hidden])')];
      /** @type {HTMLElement | undefined} */ (boxes.at(-1))?.click();
    });
    await figure.until((root, loss) => root.querySelector('.score b')?.textContent !== loss, loss);
    const [[, silenced, changed]] = await figure.score();
    assert.notEqual(silenced, loss);
    assert.match(changed, /^[+−].* since the last change$/);
    const { data } = await figure
      .after(() =>
        figure.inside((root) => {
          const tiles = [...root.querySelectorAll('.tile')];
          /** @type {HTMLElement | undefined} */ (tiles.at(-1))?.click();
        }),
      )
      .then(figure.map);
    assert.ok(data.every((weight) => weight === 0));
    await figure.press('Switch all on');
    await figure.until((root, loss) => root.querySelector('.score b')?.textContent === loss, loss);
  });

  for (const lesson of /** @type {const} */ (['transformer', 'bahdanau']))
    test(`${lesson}: a model that is saved is what training starts from when it is dropped again`, async () => {
      const figure = await openTraining(browser, { step: 12 }, { lesson });
      await figure.at(12);
      const trained = await figure.map();
      await figure.inside((root) => {
        const make = URL.createObjectURL;
        URL.createObjectURL = (blob) => {
          /** @type {any} */ (root).saved = blob;
          return make(blob);
        };
        HTMLAnchorElement.prototype.click = () => {};
      });
      await figure.press('Save the model');
      await figure.until((root) => /** @type {any} */ (root).saved);
      await figure.act('Rewind');
      await figure.at(0);
      await figure.inside((root) => {
        const carried = new DataTransfer();
        const { saved } = /** @type {any} */ (root);
        carried.items.add(new File([saved], 'mine.safetensors'));
        const drop = new DragEvent('drop', { dataTransfer: carried, bubbles: true });
        root.querySelector('.training')?.dispatchEvent(drop);
      });
      await figure.until((root) =>
        root.querySelector('.model-file')?.textContent?.includes('starts from mine.safetensors'),
      );
      await figure.at(0);
      const { data } = await figure.map();
      assert.deepEqual(data, trained.data);
      await figure.press('Initial weights again');
      await figure.until(
        (root) => !root.querySelector('.model-file .line:nth-child(2):not([hidden])'),
      );
      await figure.inside((root) => {
        const carried = new DataTransfer();
        carried.items.add(new File(['no model'], 'note.txt'));
        const drop = new DragEvent('drop', { dataTransfer: carried, bubbles: true });
        root.querySelector('.training')?.dispatchEvent(drop);
      });
      await figure.until((root) =>
        root.querySelector('.model-file')?.textContent?.includes('note.txt is no model'),
      );
      await figure.act('One step');
      await figure.until((root) => !root.querySelector('.model-file .error'));
      await figure.inside((root) => {
        const carried = new DataTransfer();
        const empty = [new Uint8Array([2, 0, 0, 0, 0, 0, 0, 0]), '{}'];
        carried.items.add(new File(empty, 'empty.safetensors'));
        const drop = new DragEvent('drop', { dataTransfer: carried, bubbles: true });
        root.querySelector('.training')?.dispatchEvent(drop);
      });
      await figure.until((root) =>
        root
          .querySelector('.model-file .error')
          ?.textContent?.startsWith('empty.safetensors was not loaded, since it does not fit'),
      );
      const { step } = await figure.progress();
      assert.equal(step, 1, 'what was shown stays');
      assert.ok(
        await figure.inside((root) =>
          root.querySelector('.model-file .line:nth-child(2)')?.hasAttribute('hidden'),
        ),
      );
      await figure.act('One step');
      await figure.until((root) => !root.querySelector('.model-file .error'));
    });

  for (const lesson of /** @type {const} */ (['transformer', 'bahdanau']))
    test(`${lesson}: a loaded model is left aside where it does not fit, and comes back`, async () => {
      const figure = await openTraining(browser, {}, { lesson });
      const initial = await figure.map();
      const file = [...(await savedModel({ step: 6 }, lesson))];
      await figure.inside((root, file) => {
        const carried = new DataTransfer();
        carried.items.add(new File([new Uint8Array(file)], 'mine.safetensors'));
        const drop = new DragEvent('drop', { dataTransfer: carried, bubbles: true });
        root.querySelector('.training')?.dispatchEvent(drop);
      }, file);
      const says = (/** @type {string} */ words) =>
        figure.until(
          (root, words) =>
            root
              .querySelector('.model-file .line:nth-child(2):not([hidden])')
              ?.textContent?.startsWith(words) && !root.querySelector('.score.stale'),
          words,
        );
      await says('Training starts from mine.safetensors.');
      const trained = await figure.map();
      assert.notDeepEqual(trained.data, initial.data);
      await figure.press('English → Chinese');
      await says('mine.safetensors is left aside, since it does not fit this model: ');
      const words = await figure.inside(
        (root) => root.querySelector('.model-file .line:nth-child(2)')?.textContent,
      );
      assert.match(
        words ?? '',
        /: \S+ has the shape \[.*\]; the model's is \[.*\]\. Training starts/,
      );
      const field = await figure.byName('Sentence to translate');
      const sentence = await field.evaluate(
        (field) => /** @type {HTMLInputElement} */ (field).value,
      );
      const { columnLabels } = await figure.map();
      const letters = (/** @type {string} */ text) => text.toLowerCase().replace(/\s/g, '');
      assert.ok(letters(columnLabels.join('')).startsWith(letters(sentence)), sentence);
      await figure.act('One step');
      await figure.at(1);
      await figure.press('Undo');
      await figure.press('Undo');
      await says('Training starts from mine.safetensors.');
      await figure.at(0);
      assert.deepEqual((await figure.map()).data, trained.data);
    });

  test('a loss that is no number: where, and a way back', async () => {
    const wild = { learningRate: 1e30, clip: 'off', step: 6 };
    const figure = await openTraining(browser, wild);
    const failed = () =>
      figure.until((root) => root.querySelector('.training .error:not([hidden])'));
    await failed();
    const words = await figure.inside(
      (root) => root.querySelector('.training .error')?.textContent,
    );
    assert.match(
      words ?? '',
      /^Training stopped: step \d+: the loss is .*, which first appears in [\w.]+/,
    );
    await figure.act(await figure.main()); // to go on, if a step was shown before
    await failed();
    assert.notEqual(await figure.main(), 'Pause');

    const link = await linkTo({ ...wild, step: 7 });
    await figure.page.evaluate(
      (link) => document.querySelector('attention-playground')?.setAttribute('state', link),
      link,
    );
    await figure.until((root) =>
      root.querySelector('.training .error:not([hidden]) button:not([hidden])'),
    );
    await figure.press('Back to the last good state, step');
    await figure.until((root) => root.querySelector('.training .error[hidden]'));
    assert.ok((await figure.progress()).step < 6);
    assert.deepEqual(await figure.notices(), []);
  });

  test('every row that is kept has its label in full, however wide the rows are', async () => {
    for (const cache of ['representations', 'keys-and-values']) {
      const figure = await openTraining(browser, { hiddens: 32, cache, step: 30 });
      await figure.until((root) => root.querySelectorAll('.kept .down span').length > 3);
      const rows = await figure.inside((root) =>
        [...root.querySelectorAll('.kept .labelled')].map((map) => {
          const spans = [...map.querySelectorAll('.down span')];
          return {
            labels: spans.map(({ textContent }) => textContent),
            cut: spans.filter((span) => getComputedStyle(span).overflowY !== 'visible').length,
            room: spans.map((span) => span.getBoundingClientRect().height),
            size: Number.parseFloat(getComputedStyle(map).fontSize),
            cells: map.querySelector('canvas')?.getBoundingClientRect().height,
          };
        }),
      );
      assert.equal(rows.length, cache === 'representations' ? 1 : 2);
      for (const { labels, cut, room, size, cells } of rows) {
        assert.ok(labels.length > 3 && labels.every(Boolean), `${labels}`);
        assert.equal(cut, 0);
        for (const height of room) assert.ok(height >= size, `${height} for letters of ${size}`);
        assert.ok(Math.abs(Number(cells) - room.reduce((sum, height) => sum + height)) < 1);
      }
    }
  });
});
