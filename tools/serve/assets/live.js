// Reads the page again every two seconds, and puts its new figures in the places of the old ones. Without it the page
// shows the figures of its load.
'use strict';
(() => {
  if (!document.body.classList.contains('live')) return;
  const button = document.getElementById('live');
  const trouble = document.getElementById('live-trouble');
  let on = true;
  let reading = false;
  const put = (fresh) => {
    for (const old of document.querySelectorAll('[data-live]')) {
      const now = fresh.querySelector(`[data-live="${CSS.escape(old.dataset.live)}"]`);
      if (!now || now.isEqualNode(old)) continue;
      // The element with the focus keeps it.
      const at = [...old.querySelectorAll('a, button')].indexOf(document.activeElement);
      const taken = document.importNode(now, true);
      old.replaceWith(taken);
      if (at >= 0) taken.querySelectorAll('a, button')[at]?.focus({preventScroll: true});
    }
  };
  const read = async () => {
    if (!on || reading || document.hidden) return;
    reading = true;
    try {
      const answer = await fetch(location.href, {headers: {accept: 'text/html'}, redirect: 'error'});
      if (!answer.ok) throw new Error();
      put(new DOMParser().parseFromString(await answer.text(), 'text/html'));
      trouble.textContent = '';
    } catch {
      trouble.textContent = 'The server does not answer. The figures are old.';
    } finally {
      reading = false;
    }
  };

  button.parentElement.hidden = false;
  button.addEventListener('click', () => {
    on = !on;
    button.setAttribute('aria-pressed', String(on));
    read();
  });
  document.addEventListener('visibilitychange', read);
  setInterval(read, 2000);
})();
