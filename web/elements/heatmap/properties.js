/**
 * The properties of <attention-heatmap>, one line each: the attribute that sets it, how the text of the
 * attribute is read, and how a value is checked at the door. What a property holds before anything is
 * set is what its check makes of null. Types are in tag-names.d.ts.
 */
import {
  readCells,
  readJson,
  readKind,
  readLabels,
  readMask,
  readMatrix,
  readPalette,
  readRange,
} from './data.js';

/**
 * @typedef {object} Property
 * @property {string} [attribute]
 * @property {(text: string | null, attribute: string) => any} [read] without it the text is the value
 * @property {(value: any) => any} [check] throws a Problem; without it any value is good
 */

/** @type {Record<string, Property>} */
export const properties = {
  matrix: {
    attribute: 'values',
    read: readJson,
    check: (value) => (value === null ? null : readMatrix(value)),
  },
  rowLabels: { attribute: 'rows', read: readJson, check: (value) => readLabels(value, 'row') },
  columnLabels: {
    attribute: 'columns',
    read: readJson,
    check: (value) => readLabels(value, 'column'),
  },
  mask: { attribute: 'mask', read: readJson, check: readMask },
  kind: { attribute: 'kind', check: readKind },
  range: {
    attribute: 'range',
    read: (text, name) => (text?.trim().startsWith('[') ? readJson(text, name) : text),
    check: readRange,
  },
  palette: { attribute: 'palette', check: readPalette },
  label: { attribute: 'label' },
  rowAxis: { attribute: 'row-axis' },
  columnAxis: { attribute: 'column-axis' },
  edited: { check: readCells },
  outlined: { check: readCells },
  rowFlags: {},
  strings: {},
};

/** Attributes that say something by being there, each its own property. */
export const flags = ['editable', 'thumbnail'];

/** The property that an attribute sets. */
export const byAttribute = Object.fromEntries(
  Object.entries(properties).map(([name, property]) => [property.attribute, { name, ...property }]),
);

/** What the properties hold at first. */
export const blank = () =>
  /** @type {Omit<import('./figure.js').Parts, 'matrix' | 'thumbnail' | 'strings'> &
   *   Pick<import('../tag-names.js').HeatmapProperties, 'matrix' | 'strings'>} */ (
    Object.fromEntries(
      Object.entries(properties).map(([name, { check }]) => [name, check?.(null) ?? null]),
    )
  );
