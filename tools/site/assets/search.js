// The search: the index and the library are loaded when somebody begins to search, from the site itself.
(() => {
  const MOST = 12;
  const AROUND = 70;
  const { library, index } = document.currentScript.dataset;
  const top = new URL('..', new URL(index, document.baseURI));
  const field = document.querySelector('search input');
  const results = document.getElementById('results');
  let loading;

  // Scripts and no fetch, which a page that was opened without a server could not do.
  const load = (source) =>
    new Promise((resolve, reject) => {
      const script = document.createElement('script');
      script.src = source;
      script.onload = resolve;
      script.onerror = () => reject(new Error(`Cannot load ${source}`));
      document.head.append(script);
    });

  async function loadIndex() {
    await Promise.all([load(library), load(index)]);
    const { options, index: content } = window.searchIndex;
    return window.MiniSearch.loadJS(content, options);
  }

  async function search() {
    const words = field.value.trim();
    loading ??= loadIndex();
    const found =
      words === ''
        ? []
        : (await loading).search(words, {
            prefix: true,
            fuzzy: 0.15,
            combineWith: 'AND',
            boost: { heading: 4, title: 2 },
          });
    if (words !== field.value.trim()) return;
    results.replaceChildren(...(found.length === 0 ? [nothing(words)] : found.slice(0, MOST).map(show)));
    results.hidden = words === '';
  }

  function nothing(words) {
    return element('p', `Nothing found for “${words}”`);
  }

  function show({ page, title, heading, text, terms }) {
    const link = element('a');
    link.href = new URL(page, top).href;
    link.append(
      element('strong', heading),
      ...(heading === title ? [] : [element('span', title)]),
      excerpt(text, terms),
    );
    return link;
  }

  /** The text around the first of the words, with all of them marked. */
  function excerpt(text, terms) {
    const marked = new RegExp(
      `(${terms.map(RegExp.escape ?? ((term) => term.replace(/[^\p{L}\p{N}]/gu, '\\$&'))).join('|')})`,
      'giu',
    );
    const at = Math.max(0, text.search(marked));
    const from = at <= AROUND ? 0 : text.lastIndexOf(' ', at - AROUND / 2) + 1;
    const shown = `${from > 0 ? '… ' : ''}${text.slice(from, from + 2 * AROUND)}${text.length > from + 2 * AROUND ? '…' : ''}`;
    const line = element('small');
    // Every second part is what stands in the brackets.
    line.append(...shown.split(marked).map((part, place) => (place % 2 === 1 ? element('mark', part) : part)));
    return line;
  }

  function element(name, text = '') {
    const made = document.createElement(name);
    made.textContent = text;
    return made;
  }

  function leave() {
    results.hidden = true;
  }

  /** One result up or down, beginning at the field. */
  function move(by) {
    const stops = [field, ...results.querySelectorAll('a')];
    stops[Math.min(Math.max(stops.indexOf(document.activeElement) + by, 0), stops.length - 1)].focus();
  }

  field.addEventListener('focus', () => {
    loading ??= loadIndex();
    if (field.value !== '') search();
  });
  field.addEventListener('input', search);
  results.addEventListener('click', leave);
  document.addEventListener('click', ({ target }) => {
    if (!target.closest('search')) leave();
  });
  document.querySelector('search').addEventListener('keydown', (event) => {
    const act = {
      ArrowDown: () => move(1),
      ArrowUp: () => move(-1),
      Escape: leave,
      Enter: event.target === field ? () => results.querySelector('a')?.click() : undefined,
    }[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || /^(INPUT|TEXTAREA)$/.test(event.target.tagName)) return;
    event.preventDefault();
    field.focus();
  });
})();
