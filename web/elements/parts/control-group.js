/**
 * One group of controls behind a line that says in a few words how it stands. What the core finds wrong
 * with a field is said below its control, and opens the group.
 */

import { h, setText } from '../dom.js';
import { makers } from './controls.js';
import { fold } from './fold.js';

/**
 * @param {string} group
 * @param {import('./controls.js').Context} context
 * @returns {import('./controls.js').Part & { element: HTMLDetailsElement }}
 */
export function controlGroup(group, context) {
  const { lesson, strings } = context;
  const controls = lesson.controls[group].map((control) => ({
    name: control.name,
    error: h('p', { class: 'error', role: 'alert' }),
    ...makers[control.as](control, context),
  }));
  /** Where two controls share a field, the last one is the finer: what is wrong stands below it. */
  const errors = new Map(controls.map(({ name, error }) => [name, error]));
  const { element, describe } = fold(
    strings.groups[/** @type {keyof typeof strings.groups} */ (group)],
    ...controls.flatMap((control) => [control.element, control.error]),
  );
  return {
    element,
    update(model) {
      describe(lesson.summary(group, model.state, strings).join(' · '));
      for (const { update } of controls) update(model);
      for (const [name, error] of errors) {
        const wrong = model.error?.field === name ? model.error.message : '';
        setText(error, wrong);
        if (wrong) element.open = true;
      }
    },
  };
}
