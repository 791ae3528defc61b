/**
 * What the project's own pages need beside the figure. Inline scripts are forbidden there, so both are
 * elements too.
 *
 *   <attention-settings>  the choice of language and theme for the whole page, remembered where the
 *                         browser allows it
 *   <attention-frame>     the content of embed.html: a figure made from the address, as in
 *                         embed.html?controls=tokens+masks&lang=zh-CN&theme=dark#v1.…, which tells the
 *                         page around it how high it is: { type: 'attention-playground:height', height }
 */
import { languageOf, stringsOf } from '../i18n/index.js';
import { h } from './dom.js';

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

export class AttentionSettings extends HTMLElement {
  connectedCallback() {
    const page = document.documentElement;
    const language = recall('language') ?? (/^zh\b/i.test(navigator.language) ? 'zh-CN' : 'en');
    page.lang = language;
    const theme = recall('theme');
    if (theme) page.dataset.theme = theme;
    this.#build();
  }

  #build() {
    const page = document.documentElement;
    const { settings } = stringsOf(languageOf(this));
    const languages = { en: 'English', 'zh-CN': '中文' };
    const dark = () =>
      (page.dataset.theme ??
        (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
    const language = Object.entries(languages).map(([tag, name]) =>
      h(
        'button',
        {
          type: 'button',
          lang: tag,
          'aria-pressed': String(page.lang === tag),
          onclick: () => {
            page.lang = tag;
            remember('language', tag);
            this.#build();
          },
        },
        name,
      ),
    );
    const theme = h(
      'button',
      {
        type: 'button',
        onclick: () => {
          page.dataset.theme = dark() ? 'light' : 'dark';
          remember('theme', page.dataset.theme);
          this.#build();
        },
      },
      dark() ? settings.light : settings.dark,
    );
    this.replaceChildren(...language, theme);
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
