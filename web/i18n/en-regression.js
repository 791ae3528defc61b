/** What the kernel regression lesson says in English; en.js takes it in. */
export default {
  lesson: {
    title: 'Kernel regression',
    name: 'Kernel regression, live',
    lead: 'Attention at its oldest: every prediction is a mean of the values, weighed by how near their keys are. Drag a point or the query.',
  },
  groups: { kernel: 'Kernel', learning: 'Learned width', points: 'Points' },
  controls: {
    kernel: {
      label: 'Kernel K',
      choices: {
        average: 'average: all alike',
        gaussian: 'Gaussian',
        boxcar: 'boxcar',
        triangular: 'triangular',
        epanechikov: 'Epanechikov',
        tricube: 'tricube',
      },
    },
    width: {
      label: 'Width w',
      value:
        'Distances are multiplied by w: the larger it is, the narrower the kernel. One unit of the kernel is {reach} wide here.',
    },
    startWidth: {
      label: 'Width w starts at',
      value: 'Learned so far: w = {width}; one unit of the kernel is {reach} wide.',
    },
    learned: { label: 'Learn w from the points' },
    rate: { label: 'Learning rate' },
    step: { label: 'Steps of SGD' },
    truth: { label: 'Show the true function' },
  },
  summaries: {
    width: 'w = {value}',
    startWidth: 'w from {value}',
    step: 'step {value}',
    notLearned: 'set by hand',
    points: '{count} points',
  },
  experiments: {
    average: {
      title: 'all alike',
      look: 'Average pooling gives every key the same weight, so the curve is flat: the query is not asked. Choose another kernel and it begins to matter.',
    },
    narrow: {
      title: 'too narrow',
      look: 'With w = 20 hardly more than one key counts at a time: the curve runs through every point, noise and all. Lower w until it is smooth, then further until it misses the peak.',
    },
    reach: {
      title: 'out of reach',
      look: 'The boxcar reaches as far as 1 ÷ w = 0.25, and no key lies that near this query: every weight is 0, and there is no prediction. Lower w, or add a point in the gap.',
    },
    learned: {
      title: 'learned width',
      look: 'Five steps at rate 0.5, as in the book “Dive into Deep Learning”: the first one leaps too far, and the curve grows rough. Play on: w comes back to where the points predict each other best. Then try the rate 0.05.',
    },
    outlier: {
      title: 'an outlier',
      look: 'One point lies far below the others and bends the curve. Drag it up and down: the prediction follows by the share of its weight. With a smaller w more neighbours outvote it.',
    },
  },
  regression: {
    prediction: 'prediction',
    truth: 'true function 2 sin x + x⁰·⁸',
    point: 'points; discs and bars: weights',
    weight: 'weight',
    plot: 'Points and predicted curve',
    points: 'Points, from left to right',
    pointName: 'Point {place} of {count}',
    pointValue: 'key {x}, value {y}, weight {weight}',
    pointHelp:
      'Arrow keys move the point, with Shift farther. Page Up and Page Down go to the next and the previous point. Delete removes it.',
    query: 'Query',
    queryValue: 'x {x}, prediction {prediction}',
    queryEmpty: 'x {x}, no key within reach',
    hint: 'Drag a point, or the query’s line. A double click adds a point, Delete removes the one in focus.',
    add: 'Add a point here',
    addHelp:
      'It lies on the predicted curve; where nothing is predicted, halfway between the values to its left and right.',
    remove: 'Remove the point',
    full: 'At most {most} points.',
    removed: 'Point removed, {count} left.',
    added: 'Point added at x {x}, y {y}.',
    map: 'Weights of all queries',
    scores: 'Scores log K of all queries',
    queryAxis: 'query x',
    keyAxis: 'key x',
    outOfReach: 'beyond the kernel’s reach',
    inspector: 'Query',
    at: 'x = {x}',
    sum: 'Key: weight × value, summed',
    term: '{key}: {weight} × {value} = {product}',
    rest: '{count} more, each with a weight below 0.001',
    total: '= {sum}',
    none: 'No key is within the kernel’s reach: every weight is 0, and nothing is predicted. The curve has a gap here.',
    training: 'Learning the width',
    objective:
      'Each point is predicted from all others; a step of SGD lowers the sum of their squared errors.',
    flat: 'The weights of this kernel do not change with a small change of w: there is nothing to learn.',
    play: 'Play',
    pause: 'Pause',
    one: 'One step',
    rewind: 'Rewind',
    width: 'learned w = {width}',
    loss: 'sum of squared errors',
  },
};
