/**
 * What the project's own pages need beside the figure. Inline scripts are forbidden there, so all are
 * elements too.
 *
 *   <attention-settings>  the choice of language and theme for the whole page, remembered where the
 *                         browser allows it
 *   <attention-lessons>   the row of lessons; an address such as index.html?lesson=kernel-regression
 *                         chooses one for the page's figure
 *   <attention-frame>     the content of embed.html: a figure made from the address, as in
 *                         embed.html?controls=tokens+masks&lang=zh-CN&theme=dark#v1.…, which tells the
 *                         page around it how high it is: { type: 'attention-playground:height', height }
 */
import { languageOf, named, stringsOf, watchLanguage } from '../i18n/index.js';
import { defaultLesson, lessons } from '../lessons/index.js';
import { query } from './address.js';
import { h, setAttribute, setText } from './dom.js';

/** @param {string} name */
function recall(name) {
  try {
    return localStorage.getItem(`attention-playground.${name}`);
  } catch {
    return null;
  }
}

/** @param {string} name @param {string} value */
function remember(name, value) {
  try {
    localStorage.setItem(`attention-playground.${name}`, value);
  } catch {
    // Sandboxed frames have no storage; the choice then lasts as long as the page.
  }
}

/** @type {Record<string, string>} */
const languages = { en: 'English', 'zh-CN': '中文' };

export class AttentionSettings extends HTMLElement {
  #languages = Object.entries(languages).map(([tag, name]) =>
    h('button', { type: 'button', lang: tag, onclick: () => this.#speak(tag) }, name),
  );
  #theme = h('button', { type: 'button', onclick: () => this.#turn() });
  /** @type {() => void} */
  #stop = () => {};

  connectedCallback() {
    const page = document.documentElement;
    page.lang = recall('language') ?? (/^zh\b/i.test(navigator.language) ? 'zh-CN' : 'en');
    const theme = recall('theme');
    if (theme) page.dataset.theme = theme;
    this.replaceChildren(...this.#languages, this.#theme);
    this.#stop = watchLanguage(this, () => this.#show());
    this.#show();
  }

  disconnectedCallback() {
    this.#stop();
  }

  get #dark() {
    const dark = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
    return (document.documentElement.dataset.theme ?? dark) === 'dark';
  }

  /** @param {string} tag */
  #speak(tag) {
    document.documentElement.lang = tag;
    remember('language', tag);
  }

  #turn() {
    const theme = this.#dark ? 'light' : 'dark';
    document.documentElement.dataset.theme = theme;
    remember('theme', theme);
    this.#show();
  }

  #show() {
    const language = languageOf(this);
    const { settings } = stringsOf(language);
    for (const button of this.#languages) {
      setAttribute(button, 'aria-pressed', String(button.lang === language));
    }
    setText(this.#theme, this.#dark ? settings.light : settings.dark);
  }
}

/**
 * The lessons in a row, the one of the address marked, and what it is about; the page's figure becomes the
 * figure of that lesson.
 */
export class AttentionLessons extends HTMLElement {
  #asked = new URLSearchParams(location.search).get('lesson');
  #links = Object.keys(lessons).map((name) => {
    const current = name === (this.#asked ?? defaultLesson) ? 'page' : null;
    const link = h('a', { 'aria-current': current });
    link.href = `index.html${query(name)}`;
    return { name, link };
  });
  #nav = h('nav', null, ...this.#links.map(({ link }) => link));
  #lead = h('p');
  /** @type {() => void} */
  #stop = () => {};

  connectedCallback() {
    if (this.#asked !== null) {
      document.querySelector('attention-playground')?.setAttribute('lesson', this.#asked);
    }
    this.replaceChildren(this.#lead, this.#nav);
    this.#stop = watchLanguage(this, () => this.#show());
    this.#show();
  }

  disconnectedCallback() {
    this.#stop();
  }

  #show() {
    const strings = stringsOf(languageOf(this));
    setAttribute(this.#nav, 'aria-label', strings.settings.lessons);
    for (const { name, link } of this.#links) setText(link, named(name, strings).title);
    const asked = this.#asked ?? '';
    const name = Object.hasOwn(lessons, asked) ? asked : defaultLesson;
    setText(this.#lead, named(name, strings).lead);
  }
}

export class AttentionFrame extends HTMLElement {
  #size = new ResizeObserver(() => this.#report());

  connectedCallback() {
    const asked = new URLSearchParams(location.search);
    const figure = document.createElement('attention-playground');
    for (const name of ['lesson', 'controls']) {
      const value = asked.get(name);
      if (value !== null) figure.setAttribute(name, value);
    }
    const { lang, theme } = Object.fromEntries(asked);
    if (lang) document.documentElement.lang = lang;
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
    figure.setAttribute('follow-hash', '');
    // What is not drawn yet has another height.
    const watch = () => this.#size.observe(figure);
    figure.addEventListener('attentionchange', watch, { once: true });
    this.replaceChildren(figure);
  }

  disconnectedCallback() {
    this.#size.disconnect();
  }

  #report() {
    if (parent === window) return;
    const height = Math.ceil(this.getBoundingClientRect().height);
    parent.postMessage({ type: 'attention-playground:height', height }, '*');
  }
}
