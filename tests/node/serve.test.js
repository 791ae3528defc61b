/** The server behind `make play`: what it answers with, and what it never does. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { POLICY, serve } from '../../tools/serve.js';

/** @type {string} */
let folder;
/** @type {Awaited<ReturnType<typeof serve>>} */
let server;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'serve-'));
  await mkdir(join(folder, 'root/deep'), { recursive: true });
  await writeFile(join(folder, 'secret.txt'), 'secret');
  await writeFile(join(folder, 'root/index.html'), '<p>index</p>');
  await writeFile(join(folder, 'root/examples.html'), '<p>examples</p>');
  await writeFile(join(folder, 'root/deep/a b.js'), 'let a;');
  await symlink(join(folder, 'secret.txt'), join(folder, 'root/link.txt'));
  server = await serve({ root: join(folder, 'root') });
});
after(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

/**
 * fetch would tidy the path.
 * @param {string} path
 * @param {import('node:http').RequestOptions} [options]
 * @returns {Promise<{ status: number | undefined, headers: import('node:http').IncomingHttpHeaders, text: string }>}
 */
const ask = (path, options = {}) =>
  new Promise((resolve, reject) => {
    request({ port: server.port, host: '127.0.0.1', path, ...options }, (response) => {
      let text = '';
      response.on('data', (data) => (text += data));
      response.on('end', () =>
        resolve({ status: response.statusCode, headers: response.headers, text }),
      );
    })
      .on('error', reject)
      .end();
  });

test('pages come under the policy, scripts with their type', async () => {
  const index = await ask('/?x#y');
  assert.equal(index.status, 200);
  assert.equal(index.text, '<p>index</p>');
  assert.equal(index.headers['content-security-policy'], POLICY);
  const script = await ask('/deep/a%20b.js');
  assert.equal(script.text, 'let a;');
  assert.match(String(script.headers['content-type']), /^text\/javascript/);
  const examples = await ask('/examples.html');
  assert.match(String(examples.headers['content-security-policy']), /frame-src 'self'/);
});

test('nothing outside the folder is shown', async () => {
  for (const path of ['/../secret.txt', '/%2e%2e/secret.txt', '/link.txt', '/none', '/%', '/deep'])
    assert.equal((await ask(path)).status, 404, path);
  const { status, headers } = await ask('/', { method: 'POST' });
  assert.deepEqual([status, headers.allow], [405, 'GET, HEAD']);
  const head = await ask('/', { method: 'HEAD' });
  assert.deepEqual([head.status, head.text], [200, '']);
});

test('a file that is known is sent again only when it has changed', async () => {
  const first = await ask('/');
  assert.equal(first.headers['cache-control'], 'no-cache');
  const known = { headers: { 'If-None-Match': String(first.headers.etag) } };
  const second = await ask('/', known);
  assert.deepEqual([second.status, second.text], [304, '']);
  await writeFile(join(folder, 'root/index.html'), '<p>INDEX</p>');
  const third = await ask('/', known);
  assert.deepEqual([third.status, third.text], [200, '<p>INDEX</p>']);
});
