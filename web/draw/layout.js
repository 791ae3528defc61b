/**
 * Where everything of a heatmap stands: a pure function from sizes and words to a geometry, which
 * serves drawing and hit testing alike.
 *
 *     query ↓    key →
 *                 the  cat  sat          column labels: flat, else slanted, else upright and thinned
 *          the  [    ][    ][    ]
 *          cat  [    ][    ][    ]  ∅    row flags
 *          sat  [    ][    ][    ]
 *               ▁▁▁▁▁▁▁▁▁▁ ▨ masked      legend
 *               0        1
 *
 * Cells are squares of whole device pixels where there is room, so that their edges stay sharp; a
 * matrix with more cells than pixels is scaled to fit. All lengths are CSS pixels.
 */

/** @typedef {import('./colour.js').Matrix} Matrix */

/** @typedef {(text: string, font: string) => number} Measure width of a text in CSS pixels */

/**
 * @typedef {object} LayoutOptions
 * @property {number} rows
 * @property {number} columns
 * @property {number} width what is available
 * @property {Measure} measure
 * @property {{ font: string, mono: string }} theme font families
 * @property {number} [ratio] device pixels in a CSS pixel, default 1
 * @property {readonly string[] | null} [rowLabels]
 * @property {readonly string[] | null} [columnLabels]
 * @property {string} [rowAxis] name of the row axis, shown at the top
 * @property {string} [columnAxis]
 * @property {readonly string[] | null} [values] text of each cell, row by row; shown when all fit
 * @property {boolean} [flags] leave room for row flags
 * @property {boolean} [legend] leave room for a legend
 * @property {readonly string[]} [notes] names of the legend's swatches
 * @property {boolean} [thumbnail] cells only, as wide as possible
 * @property {number} [maxCell] largest side of a cell
 * @property {number} [leastRow] height that a row has where the room allows it
 * @property {number} [maxHeight] of the cells altogether
 */

/**
 * A text at a point: right-aligned there when it names a row, centred when it names a column and
 * lies flat, else starting there and turned up by `angle`.
 * @typedef {object} Label
 * @property {number} index row or column
 * @property {string} text
 * @property {number} x
 * @property {number} y the middle of the line
 * @property {number} angle in radians
 */

/**
 * @typedef {object} Geometry
 * @property {number} rows
 * @property {number} columns
 * @property {number} ratio
 * @property {number} width of the whole figure
 * @property {number} height
 * @property {number} left of the cells
 * @property {number} top
 * @property {number} cellWidth
 * @property {number} cellHeight
 * @property {number} gap between cells
 * @property {number} valueSize font size of the cells' values, 0 when they do not fit
 * @property {{ size: number, labels: Label[] }} rowLabels
 * @property {{ size: number, labels: Label[] }} columnLabels
 * @property {{ rowAxis: Label, columnAxis: Label } | null} axes
 * @property {{ left: number, top: number, width: number, notes: number[] } | null} legend `notes`
 *   holds the left edge of each swatch
 */

export const labelSize = 13;
export const figureSize = 12;
const smallLabel = 11;
const smallestValue = 9;
const leastForGap = 24;
const labelGap = 7;
const slant = Math.PI / 4;
const swatch = 12;

/** Scripts whose signs are not turned as long as there is room. */
const upright = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+$/u;

/**
 * @param {LayoutOptions} options
 * @returns {Geometry}
 */
export function layoutHeatmap(options) {
  const { rows, columns, width, ratio = 1, measure, theme, thumbnail = false } = options;
  const { maxCell = thumbnail ? Infinity : 56, maxHeight = Math.min(Math.max(width, 480), 720) } =
    options;
  const { rowAxis = '', columnAxis = '', values = null, notes = [] } = options;
  const rowNames = (!thumbnail && options.rowLabels) || null;
  const columnNames = (!thumbnail && options.columnLabels) || null;

  const font = `${labelSize}px ${theme.font}`;
  const rowTexts = rowNames && shorten(rowNames, Math.min(120, width * 0.3), font, measure);
  const columnTexts = columnNames && shorten(columnNames, 96, font, measure);
  const rowWidth = rowTexts?.width ?? 0;
  const left = rowTexts ? ceil(rowWidth + labelGap, ratio) : 0;
  const flags = options.flags && !thumbnail ? 20 : 0;

  const tallest = maxHeight / rows;
  const widestCell = tallest < 12 ? maxCell : Math.min(maxCell, tallest);
  /** @param {number} right room that is kept free right of the cells */
  const cellFor = (right) => Math.min(widestCell, Math.max(0, width - left - right) / columns);
  const turned = turn(columnTexts?.width ?? 0, cellFor, flags);
  const right = Math.max(flags, turned.overhang);

  const cellWidth = snap(cellFor(right), ratio);
  // A wide matrix gets rows of readable height, as long as the figure is wider than high.
  const { leastRow = thumbnail ? 0 : Math.min(12, (columns * cellWidth) / rows) } = options;
  const cellHeight = snap(Math.min(Math.max(cellWidth, leastRow), tallest), ratio);

  const named = !thumbnail && rowAxis !== '' && columnAxis !== '';
  const axisHeight = named ? 20 : 0;
  const top = ceil(axisHeight + (columnTexts ? turned.height : 0), ratio);
  const gridWidth = columns * cellWidth;
  // What a flat label may take between neighbours that stand upright.
  const side = Math.min(cellWidth, 2 * cellWidth - labelSize - 2);
  const bottom = top + rows * cellHeight;
  const legend =
    options.legend && !thumbnail
      ? legendAt(left, bottom + 14, gridWidth, width, notes, font, measure)
      : null;
  const axes = named ? axesAt(left, rowAxis, columnAxis, font, measure) : null;
  const axesEnd = axes ? axes.columnAxis.x + measure(axes.columnAxis.text, font) : 0;

  return {
    rows,
    columns,
    ratio,
    width: Math.min(
      width,
      ceil(Math.max(left + gridWidth + right, legend?.end ?? 0, axesEnd), ratio),
    ),
    height: ceil(legend ? legend.top + 28 : bottom, ratio),
    left,
    top,
    cellWidth,
    cellHeight,
    gap: Math.min(cellWidth, cellHeight) >= leastForGap ? 1 : 0,
    valueSize: values ? sizeFor(values, cellWidth, cellHeight, theme.mono, measure) : 0,
    rowLabels: {
      size: sizeOf(cellHeight),
      labels: thin(rowTexts?.texts, cellHeight, (text, index) => ({
        index,
        text,
        x: left - labelGap,
        y: top + (index + 0.5) * cellHeight,
        angle: 0,
      })),
    },
    columnLabels: {
      size: turned.angle === 0 ? labelSize : sizeOf(cellWidth),
      labels: thin(columnTexts?.texts, cellWidth, (text, index) => {
        const flat = turned.angle > slant && upright.test(text) && measure(text, font) <= side;
        const angle = flat ? 0 : turned.angle;
        const y = top - labelGap - (angle === 0 ? labelSize / 2 - 2 : 0);
        return { index, text, x: left + (index + 0.5) * cellWidth, y, angle };
      }),
    },
    axes,
    legend,
  };
}

/**
 * @param {Geometry} geometry
 * @param {number} x in CSS pixels from the figure's left edge
 * @param {number} y
 * @returns {{ row: number, column: number } | null}
 */
export function cellAt({ rows, columns, left, top, cellWidth, cellHeight }, x, y) {
  const row = Math.floor((y - top) / cellHeight);
  const column = Math.floor((x - left) / cellWidth);
  return row >= 0 && row < rows && column >= 0 && column < columns ? { row, column } : null;
}

/**
 * The box of some cells, on whole device pixels, without the gap that follows them.
 * @param {Geometry} geometry
 * @param {number} row
 * @param {number} column
 * @param {number} [high] rows
 * @param {number} [wide] columns
 */
export function boxOf(geometry, row, column, high = 1, wide = 1) {
  const { left, top, cellWidth, cellHeight, gap, ratio } = geometry;
  const x = left + Math.round(column * cellWidth * ratio) / ratio;
  const y = top + Math.round(row * cellHeight * ratio) / ratio;
  return {
    x,
    y,
    width: left + Math.round((column + wide) * cellWidth * ratio) / ratio - gap - x,
    height: top + Math.round((row + high) * cellHeight * ratio) / ratio - gap - y,
  };
}

/**
 * How the column labels lie: flat, slanted, or upright, the first of them that has room.
 * @param {number} widest label
 * @param {(right: number) => number} cellFor
 * @param {number} flags
 */
function turn(widest, cellFor, flags) {
  const cell = cellFor(flags);
  if (widest + 6 <= cell) return { angle: 0, overhang: 0, height: labelSize + 8 };
  const overhang = Math.max(0, widest * Math.cos(slant) + smallLabel / 2 - cell / 2);
  const slanted = cellFor(Math.max(flags, overhang));
  if (slanted * Math.sin(slant) > labelSize + 1 && slanted > 0.85 * cell) {
    const height = (widest + labelSize) * Math.sin(slant) + labelGap;
    return { angle: slant, overhang, height };
  }
  const half = Math.max(0, (smallLabel - cell) / 2);
  return { angle: Math.PI / 2, overhang: half, height: widest + labelGap + 2 };
}

/**
 * @param {readonly string[]} texts
 * @param {number} most width of a label
 * @param {string} font
 * @param {Measure} measure
 */
function shorten(texts, most, font, measure) {
  let width = 0;
  const short = texts.map((text) => {
    const fitting = ellipsis(text, most, font, measure);
    width = Math.max(width, measure(fitting, font));
    return fitting;
  });
  return { texts: short, width };
}

/**
 * @param {string} text
 * @param {number} most
 * @param {string} font
 * @param {Measure} measure
 * @returns {string} the text, cut and closed with … when it is wider than `most`
 */
export function ellipsis(text, most, font, measure) {
  if (measure(text, font) <= most) return text;
  const signs = Array.from(text);
  let fits = 0;
  let fails = signs.length;
  while (fails - fits > 1) {
    const middle = (fits + fails) >> 1;
    if (measure(`${signs.slice(0, middle).join('')}…`, font) <= most) fits = middle;
    else fails = middle;
  }
  return `${signs.slice(0, fits).join('')}…`;
}

/** @param {number} pitch between two labels */
const sizeOf = (pitch) => (pitch >= labelSize + 2 ? labelSize : smallLabel);

/**
 * Every n-th label, so that two lines of text are never closer than their height.
 * @param {string[] | undefined} texts
 * @param {number} pitch
 * @param {(text: string, index: number) => Label} place
 */
function thin(texts, pitch, place) {
  const step = Math.ceil((smallLabel + 1) / pitch);
  return (texts ?? []).map(place).filter(({ index }) => index % step === 0);
}

/**
 * @param {readonly string[]} values
 * @param {number} cellWidth
 * @param {number} cellHeight
 * @param {string} mono
 * @param {Measure} measure
 * @returns {number} font size at which the widest value fits a cell, 0 when that is too small
 */
function sizeFor(values, cellWidth, cellHeight, mono, measure) {
  const longest = values.reduce((most, value) => (value.length > most.length ? value : most), '0');
  const unit = measure('0', `${figureSize}px ${mono}`) / figureSize;
  const size = Math.min(figureSize, cellHeight - 4, (cellWidth - 5) / (longest.length * unit));
  return size < smallestValue ? 0 : Math.floor(size * 2) / 2;
}

/**
 * @param {number} left
 * @param {number} top
 * @param {number} gridWidth
 * @param {number} available
 * @param {readonly string[]} notes
 * @param {string} font
 * @param {Measure} measure
 */
function legendAt(left, top, gridWidth, available, notes, font, measure) {
  const width = Math.min(160, Math.max(96, gridWidth));
  const starts = [];
  let end = width;
  for (const note of notes) {
    starts.push(end + 16);
    end += 16 + swatch + 6 + measure(note, font);
  }
  const start = Math.max(0, Math.min(left, available - end));
  return { left: start, top, width, notes: starts.map((x) => x + start), end: start + end };
}

/**
 * @param {number} left
 * @param {string} rowAxis
 * @param {string} columnAxis
 * @param {string} font
 * @param {Measure} measure
 */
function axesAt(left, rowAxis, columnAxis, font, measure) {
  const rowText = `${rowAxis} ↓`;
  const x = Math.max(left, measure(rowText, font) + 14);
  return {
    rowAxis: { index: 0, text: rowText, x: 0, y: labelSize / 2 + 1, angle: 0 },
    columnAxis: { index: 0, text: `${columnAxis} →`, x, y: labelSize / 2 + 1, angle: 0 },
  };
}

/**
 * Whole device pixels when that costs at most a quarter of the room.
 * @param {number} length
 * @param {number} ratio
 */
function snap(length, ratio) {
  const whole = Math.floor(length * ratio + 1e-6);
  return whole >= 0.75 * length * ratio && whole > 0 ? whole / ratio : length;
}

/**
 * @param {number} length
 * @param {number} ratio
 */
function ceil(length, ratio) {
  return Math.ceil(length * ratio - 1e-6) / ratio;
}
