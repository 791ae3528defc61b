// Every test of this folder in Firefox: a browser takes long to start.
import { runAll } from './harness.js';

await runAll('firefox');
