/**
 * A cell, or all cells along some axes, of a tensor by its name, and the number that they are given.
 */

import { AttentionError, show } from './error.js';

/**
 * @typedef {{ name: string, at: (number | null)[], value: number }} Override  at: an index for each axis;
 *   null: all of it
 */

/**
 * @param {unknown} overrides
 * @returns {Override[]}
 */
export function overridesOf(overrides = []) {
  if (Array.isArray(overrides)) return overrides;
  throw new AttentionError('BAD_VALUE', `overrides ${show(overrides)} must be a list`, {
    option: 'overrides',
  });
}

/**
 * @param {unknown} override
 * @returns {Override}
 */
export function checkOverride(override) {
  const { name, at, value, ...rest } = /** @type {any} */ (override ?? {});
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) {
    throw new AttentionError(
      'UNKNOWN_OPTION',
      `an override has no field "${unknown}"; it has name, at and value`,
      { option: 'overrides' },
    );
  }
  if (typeof name !== 'string' || !Array.isArray(at) || typeof value !== 'number') {
    throw new AttentionError(
      'BAD_VALUE',
      `the override of ${show(name)} at ${show(at)} by ${show(value)} must be ` +
        '{ name: string, at: a list of indices, value: number }',
      { option: 'overrides' },
    );
  }
  const isIndex = (/** @type {unknown} */ index) =>
    index === null || (Number.isInteger(index) && Number(index) >= 0 && Number(index) < 2 ** 31);
  const bad = at.findIndex((index) => !isIndex(index));
  if (bad >= 0) {
    throw new AttentionError(
      'BAD_VALUE',
      `an override of ${name} at ${show(at[bad])}: not an index`,
      {
        option: 'overrides',
      },
    );
  }
  return { name, at, value };
}
