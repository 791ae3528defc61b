/**
 * The last training of each lesson, kept by the browser for the next visit. Where a page may keep nothing,
 * as in a sandboxed frame or a private window, nothing is kept and nobody is bothered.
 */

/**
 * @typedef {import('../run.js').Saved & { key: string, losses: number[], rates: number[],
 *   state: import('../../lessons/state.js').State }} Kept state: of the figure, whose plan has this key
 */

const NAME = 'attention-playground';
const STORE = 'runs';

/** @returns {Promise<IDBDatabase>} */
function open() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = request.onblocked = () => reject(request.error);
  });
}

/** One thing after the other: what is put last stays. @type {Promise<unknown>} */
let before = Promise.resolve();

/**
 * @template Value
 * @param {IDBTransactionMode} mode
 * @param {(store: IDBObjectStore) => IDBRequest<Value>} ask
 * @returns {Promise<Value | null>} null where nothing can be kept
 */
function within(mode, ask) {
  const answer = before.then(() => attempt(mode, ask));
  before = answer;
  return answer;
}

/**
 * @template Value
 * @param {IDBTransactionMode} mode
 * @param {(store: IDBObjectStore) => IDBRequest<Value>} ask
 * @returns {Promise<Value | null>}
 */
async function attempt(mode, ask) {
  try {
    const shelf = await open();
    return await new Promise((resolve, reject) => {
      const transaction = shelf.transaction(STORE, mode);
      const request = ask(transaction.objectStore(STORE));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = transaction.onerror = () => reject(transaction.error);
    }).finally(() => shelf.close());
  } catch {
    return null;
  }
}

/** @param {string} lesson @param {Kept} kept */
export const keepRun = (lesson, kept) => within('readwrite', (store) => store.put(kept, lesson));

/** What was put there last, by whatever release. @param {string} lesson @returns {Promise<unknown>} */
export const keptRun = (lesson) => within('readonly', (store) => store.get(lesson));

/** @param {string} lesson */
export const forgetRun = (lesson) => within('readwrite', (store) => store.delete(lesson));
