/**
 * One group of controls behind a line that says in a few words how it stands.
 */

import { makers } from './controls.js';
import { fold } from './fold.js';

/**
 * @param {string} group
 * @param {import('./controls.js').Context} context
 * @returns {import('./controls.js').Part & { element: HTMLDetailsElement }}
 */
export function controlGroup(group, context) {
  const { lesson, strings } = context;
  const controls = lesson.controls[group].map((control) => makers[control.as](control, context));
  const { element, describe } = fold(
    strings.groups[/** @type {keyof typeof strings.groups} */ (group)],
    ...controls.map((control) => control.element),
  );
  return {
    element,
    update(model) {
      describe(lesson.summary(group, model.state, strings).join(' · '));
      for (const control of controls) control.update(model);
    },
  };
}
