/**
 * One group of controls behind a line that says in a few words how it stands. What the core finds wrong
 * with a field is said below its control, and opens the group.
 */
import { makers } from './controls.js';
import { h, setText } from './dom.js';
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
  const { element, describe } = fold(
    strings.groups[/** @type {keyof typeof strings.groups} */ (group)],
    ...controls.flatMap((control) => [control.element, control.error]),
  );
  return {
    element,
    update(model) {
      describe(lesson.summary(group, model.state, strings).join(' · '));
      for (const { name, error, update } of controls) {
        update(model);
        const wrong = model.error?.field === name ? model.error.message : '';
        setText(error, wrong);
        if (wrong) element.open = true;
      }
    },
  };
}
