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
    const answer = await fetch(`/_simulator/page/main.html${location.search}`);
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
  if (remove !== undefined) void send('DELETE', `/_simulator/faults/${remove}`.replace(/\/$/, ''));
  if (act !== undefined) void send('POST', `/_simulator/act/${act}`, JSON.parse(ref));
});

setInterval(refresh, 1000);
void refresh();
