// A small static server for a folder: what `make play` and the browser tests open.
//
//   node tools/serve.js [--root dist] [--port 8000]
//
// It listens on this machine only, takes the next free port when the asked one is busy, never
// answers with a file outside its folder, lets a browser keep a file (and what it compiled of it) only
// while the file is the same, and sends pages under the content security policy that the playground
// promises to run under.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile, realpath, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { basename, extname, join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

export const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "style-src 'self'",
].join('; ');

/** The page of examples shows frames; no other page may. */
const POLICY_WITH_FRAMES = `${POLICY}; frame-src 'self'`;

/** @type {Record<string, string>} */
const TYPES = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.ts': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
};

/**
 * The file that an address stands for, or null when there is none below the folder.
 * @param {string} folder without symbolic links
 * @param {string} path of the address, percent-encoded
 */
export async function find(folder, path) {
  try {
    let file = await realpath(join(folder, decodeURIComponent(path)));
    if ((await stat(file)).isDirectory()) file = await realpath(join(file, 'index.html'));
    return file.startsWith(folder + sep) ? { name: file, body: await readFile(file) } : null;
  } catch {
    return null;
  }
}

/** @param {Buffer} bytes */
const hash = (bytes) => createHash('sha1').update(bytes).digest('base64url');

/** @param {string} name of a file */
export const typeOf = (name) => TYPES[extname(name)] ?? 'application/octet-stream';

/** @param {string} name */
function policyOf(name) {
  return basename(name) === 'examples.html' ? POLICY_WITH_FRAMES : POLICY;
}

/**
 * Starts the server.
 * @param {object} options
 * @param {string} options.root the folder to serve
 * @param {number} [options.port] the first one to try; 0 takes any
 * @param {Record<string, string>} [options.headers] sent with every file, over the server's own
 * @returns {Promise<{ url: string, port: number, close: () => Promise<void> }>}
 */
export async function serve({ root, port = 0, headers = {} }) {
  const folder = await realpath(root);
  const server = createServer(async (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { Allow: 'GET, HEAD' }).end();
      return;
    }
    const path = (request.url ?? '/').split(/[?#]/)[0];
    const file = await find(folder, path);
    if (!file) {
      response.writeHead(404, { 'Content-Type': 'text/plain' }).end(`There is no ${path} here.\n`);
      return;
    }
    const type = typeOf(file.name);
    const known = { 'Cache-Control': 'no-cache', ETag: `"${hash(file.body)}"` };
    if (request.headers['if-none-match'] === known.ETag) {
      response.writeHead(304, known).end();
      return;
    }
    response.writeHead(200, {
      ...known,
      'Content-Type': type,
      'Content-Length': file.body.length,
      'X-Content-Type-Options': 'nosniff',
      ...(type.startsWith('text/html') && { 'Content-Security-Policy': policyOf(file.name) }),
      ...headers,
    });
    response.end(request.method === 'HEAD' ? undefined : file.body);
  });
  const bound = await listen(server, port);
  return {
    url: `http://localhost:${bound}/`,
    port: bound,
    close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections?.();
      return closed.then(() => {});
    },
  };
}

/**
 * @param {import('node:http').Server} server
 * @param {number} first
 * @returns {Promise<number>} the port it listens on
 */
async function listen(server, first) {
  for (let port = first; port < first + 100; port++) {
    try {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
      return /** @type {import('node:net').AddressInfo} */ (server.address()).port;
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EADDRINUSE') throw error;
    }
  }
  throw new Error(`Ports ${first} to ${first + 99} are all in use.`);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { values } = parseArgs({
    options: {
      root: { type: 'string', default: 'dist' },
      port: { type: 'string', default: '8000' },
    },
  });
  const { url } = await serve({ root: String(values.root), port: Number(values.port) });
  console.log(`\nAttention Playground: ${url}   (Ctrl-C stops it)`);
}
