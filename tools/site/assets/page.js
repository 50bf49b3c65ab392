// What a page does besides being read. All of it can be read without.
(() => {
  const SHOWN_MS = 2_000;

  /** Puts a button before a block, which takes its text to the clipboard. */
  function offerToCopy(block) {
    const button = document.createElement('button');
    let timer;
    const say = (text) => {
      button.textContent = text;
      clearTimeout(timer);
      timer = setTimeout(() => {
        button.textContent = 'Copy';
      }, SHOWN_MS);
    };
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.setAttribute('aria-live', 'polite');
    button.addEventListener('click', () => {
      // Without the last end of line: what is pasted into a terminal waits for Enter.
      navigator.clipboard.writeText(block.textContent.trimEnd()).then(
        () => say('Copied'),
        () => say('Not allowed'),
      );
    });
    block.before(button);
  }

  // A page that came over plain HTTP from elsewhere has no clipboard.
  if (navigator.clipboard !== undefined) document.querySelectorAll('pre[data-language]').forEach(offerToCopy);

  // The menu is longer than many windows: it begins where the page is named.
  const menu = document.getElementById('menu');
  const current = menu.querySelector('[aria-current]');
  if (current !== null) menu.scrollTop = current.offsetTop - menu.clientHeight / 2;
})();
