// Every test of this folder in Chromium: a browser takes long to start.
import { runAll } from './harness.js';

await runAll('chromium');
