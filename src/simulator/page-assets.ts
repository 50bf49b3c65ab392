/** The page's style and script, served beside it: its content security policy takes nothing inline and nothing foreign. */

export const PAGE_STYLE = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 20%, transparent); }
body { font: 14px/1.45 system-ui, sans-serif; margin: 1.5rem; }
h1 { font-size: 1.4rem; margin: 0; }
h2 { font-size: 1.1rem; margin: 1.6rem 0 .4rem; }
h3 { font-size: 1rem; margin: 1rem 0 .3rem; font-weight: 600; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .25rem .7rem .25rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
code { font: 12px ui-monospace, monospace; }
button, select, input { font: inherit; }
button { margin: 0 .25rem .25rem 0; }
.status { padding: 0 .4rem; border-radius: .6rem; border: 1px solid; white-space: nowrap; }
.status.running { color: #15803d; }
.status.suspended { color: #6b7280; }
.status.starting, .status.resuming, .status.suspending, .status.pending { color: #b45309; }
.status.destroying { color: #b91c1c; }
.bad { color: #b91c1c; }
.quiet { opacity: .7; font-weight: normal; }
td .quiet { white-space: nowrap; }
form { margin-bottom: .8rem; }
main table { margin-bottom: .3rem; }
#notice { position: sticky; top: 0; }
fieldset { border: 1px solid var(--line); margin: .5rem 0; }
label { margin-right: .8rem; white-space: nowrap; }
`.trimStart();

export const PAGE_SCRIPT = `
'use strict';
const main = document.querySelector('main');
const notice = document.querySelector('#notice');
const form = document.querySelector('#fault');

async function send(method, path, body) {
  const answer = await fetch(path, {
    method,
    headers: { 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  notice.textContent = answer.ok ? '' : (await answer.json()).message;
  await refresh();
}

async function refresh() {
  try {
    const answer = await fetch('/_simulator/page/main.html' + location.search);
    const html = await answer.text();
    // Replaced only when it changed: what a person is selecting stays selected.
    if (answer.ok && html !== main.dataset.shown) {
      main.innerHTML = html;
      main.dataset.shown = html;
    }
    document.body.dataset.connected = 'true';
  } catch {
    document.body.dataset.connected = 'false';
    notice.textContent = 'The simulator does not answer.';
  }
}

function faultOf(effect) {
  const fields = new FormData(form);
  const match = {};
  for (const name of ['api', 'operation', 'clusterID']) {
    if (fields.get(name) !== '') match[name] = fields.get(name);
  }
  const times = Number(fields.get('times'));
  return { effect, match, ...(times > 0 ? { times } : {}) };
}

document.addEventListener('click', (event) => {
  const button = event.target.closest('button');
  if (button === null) return;
  event.preventDefault();
  const { effect, remove, act, ref } = button.dataset;
  if (effect !== undefined) void send('POST', '/_simulator/faults', faultOf(effect));
  if (remove !== undefined) void send('DELETE', '/_simulator/faults' + (remove === '' ? '' : '/' + remove));
  if (act !== undefined) void send('POST', '/_simulator/act/' + act, JSON.parse(ref));
});

setInterval(refresh, 1000);
void refresh();
`.trimStart();
