// A model trained and saved here, for transformer.py to load into PyTorch:
//
//   node save.js FOLDER batch.json config.json   writes model.safetensors and logits.json to FOLDER

import { readFileSync, writeFileSync } from 'node:fs';
import { createEngine } from '../../wasm/attention.js';

const [folder, ...inputs] = process.argv.slice(2);
const [batch, config] = inputs.map((path) => JSON.parse(readFileSync(path, 'utf8')));
const engine = await createEngine();
const model = engine.transformer(config);
for (let i = 0; i < 5; i++) model.trainStep(batch, { learningRate: 0.01 });
const { labels: _labels, ...input } = batch;
const { shape, data } = model.forward(input).logits;
writeFileSync(`${folder}/logits.json`, JSON.stringify({ shape, data: [...data] }));
writeFileSync(`${folder}/model.safetensors`, model.save({ names: 'torch' }));
