/**
 * What the project's own pages need beside the figure. Inline scripts are forbidden there, so all are
 * elements too.
 *
 *   <attention-settings>  the choice of language and theme for the whole page, remembered where the
 *                         browser allows it
 *   <attention-lessons>   the row of lessons, each as the reader left it
 *   <attention-frame>     the content of embed.html: a figure made from the address, which tells the page
 *                         around it how high it is: { type: 'attention-playground:height', height }
 *
 * Their address says the rest, as in embed.html?lesson=transformer&controls=corpus&lang=zh-CN&theme=dark#v1.…
 */
import { languageOf, named, nearest, stringsOf, watchLanguage } from '../i18n/index.js';
import { defaultLesson, lessons } from '../lessons/index.js';
import { h, setAttribute, setText } from './dom.js';

/** @typedef {'localStorage' | 'sessionStorage'} Storage */

/** @param {string} name @param {Storage} [storage] */
function recall(name, storage = 'localStorage') {
  try {
    return window[storage].getItem(`attention-playground.${name}`);
  } catch {
    return null;
  }
}

/** @param {string} name @param {string} value @param {Storage} [storage] */
function remember(name, value, storage = 'localStorage') {
  try {
    window[storage].setItem(`attention-playground.${name}`, value);
  } catch {
    // Sandboxed frames have no storage; the choice then lasts as long as the page.
  }
}

/** What the address asks for. @param {string} name */
const asked = (name) => new URLSearchParams(location.search).get(name);

/**
 * @param {string | null} lang what the page speaks where its address asks for no language
 * @param {string | null} theme
 */
function dress(lang, theme) {
  const { documentElement: page } = document;
  const tag = asked('lang') || lang;
  if (tag) page.lang = nearest(tag);
  const scheme = [asked('theme'), theme].find((each) => each === 'light' || each === 'dark');
  if (scheme) page.dataset.theme = scheme;
}

/**
 * What the reader chooses is remembered, and the address asks for nothing else.
 * @param {string} name
 * @param {string} value
 */
function choose(name, value) {
  remember(name, value);
  if (asked(name) !== null) history.replaceState(history.state, '', addressWith(name, value));
}

/**
 * This page's address, asking for something else.
 * @param {string} name
 * @param {string | null} value null for what it asks for where it says nothing
 */
function addressWith(name, value) {
  const address = new URL(location.href);
  if (value === null) address.searchParams.delete(name);
  else address.searchParams.set(name, value);
  return address;
}

/** The lesson of the address. */
function askedLesson() {
  const name = asked('lesson') ?? '';
  return Object.hasOwn(lessons, name) ? name : defaultLesson;
}

/**
 * Names the page after its lesson.
 * @param {HTMLElement} element whose language it is in
 * @returns what is said of the lesson
 */
function entitle(element) {
  const strings = stringsOf(languageOf(element));
  const words = named(askedLesson(), strings);
  document.title = `${words.title} · ${strings.settings.name}`;
  return words;
}

const ask = (/** @type {BeforeUnloadEvent} */ event) => event.preventDefault();

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
    dress(recall('lang') ?? navigator.language, recall('theme'));
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
    choose('lang', tag);
  }

  #turn() {
    const theme = this.#dark ? 'light' : 'dark';
    document.documentElement.dataset.theme = theme;
    choose('theme', theme);
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
 * The lessons in a row, the one of the address marked, and what it is about. Who goes to another one and
 * back, by the row or through the browser's history, finds the very figure that was left; after a reload,
 * what its address said. A figure that is away is asked for as well before it is lost with the page.
 */
export class AttentionLessons extends HTMLElement {
  /** The one that is shown. */
  #lesson = '';
  /** Of every lesson that was shown. @type {Map<string, import('./attention-playground.js').AttentionPlayground>} */
  #figures = new Map();
  #links = Object.keys(lessons).map((name) => {
    const onclick = (/** @type {MouseEvent} */ event) => this.#go(event, name);
    return { name, link: h('a', { onclick }) };
  });
  #nav = h(
    'nav',
    { onpointerdown: () => this.#aim(), onfocusin: () => this.#aim() },
    ...this.#links.map(({ link }) => link),
  );
  #lead = h('p');
  #stop = new AbortController();

  connectedCallback() {
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    signal.addEventListener(
      'abort',
      watchLanguage(this, () => this.#show()),
    );
    addEventListener('popstate', () => this.#turn(), { signal });
    this.replaceChildren(this.#lead, this.#nav);
    this.#turn();
  }

  disconnectedCallback() {
    this.#stop.abort();
    removeEventListener('beforeunload', ask);
  }

  /** @param {string} name */
  #addressOf(name) {
    const address = addressWith('lesson', name === defaultLesson ? null : name);
    address.hash = this.#figures.get(name)?.hash ?? recall(name, 'sessionStorage') ?? '';
    return address.href;
  }

  /** @param {MouseEvent} event @param {string} name */
  #go(event, name) {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (name === this.#lesson) return;
    history.pushState(null, '', this.#addressOf(name));
    this.#turn();
  }

  /** To the lesson of the address. */
  #turn() {
    const lesson = askedLesson();
    if (lesson === this.#lesson) return;
    const figure = /** @type {import('./attention-playground.js').AttentionPlayground} */ (
      document.querySelector('attention-playground')
    );
    let next = this.#figures.get(lesson);
    if (!next) {
      next = this.#lesson ? /** @type {typeof figure} */ (figure.cloneNode(true)) : figure;
      next.setAttribute('lesson', asked('lesson') ?? lesson);
      this.#figures.set(lesson, next);
    }
    if (this.#lesson) remember(this.#lesson, figure.hash, 'sessionStorage');
    figure.replaceWith(next);
    const away = [...this.#figures.values()].filter((each) => each !== next);
    if (away.some(({ unsaved }) => unsaved)) addEventListener('beforeunload', ask);
    else removeEventListener('beforeunload', ask);
    this.#lesson = lesson;
    this.#show();
  }

  /** Theme, language and state may have changed since. */
  #aim() {
    for (const { name, link } of this.#links) link.href = this.#addressOf(name);
  }

  #show() {
    const strings = stringsOf(languageOf(this));
    setAttribute(this.#nav, 'aria-label', strings.settings.lessons);
    for (const { name, link } of this.#links) {
      setText(link, named(name, strings).title);
      setAttribute(link, 'aria-current', name === this.#lesson && 'page');
    }
    this.#aim();
    setText(this.#lead, entitle(this).lead);
  }
}

export class AttentionFrame extends HTMLElement {
  #size = new ResizeObserver(() => this.#report());

  connectedCallback() {
    dress(null, null);
    entitle(this);
    const figure = document.createElement('attention-playground');
    for (const name of ['lesson', 'controls']) setAttribute(figure, name, asked(name));
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
