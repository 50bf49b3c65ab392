import { messageOf } from '../../base/errors.ts';
import { DIALECT_RULES } from '../dialect.ts';
import { type Answer, empty, type Incoming, json, Refusal } from '../exchange/message.ts';
import { missAnswer } from '../exchange/refusals.ts';
import { createRouter, isMiss, type Route } from '../exchange/router.ts';
import { SENTINELS } from '../faults/sentinels.ts';
import type { Simulator } from '../interface.ts';
import { KNOB_SPECS, parseKnobs } from '../knobs.ts';
import { act, readFault } from './admin-requests.ts';
import { renderMain, renderPage } from './page.ts';
import { PAGE_SCRIPT, PAGE_STYLE } from './page-assets.ts';

/** Operations that neither document has: the page for people, and the same as JSON for scripts. */
type AdminOperation =
  | 'page'
  | 'main'
  | 'style'
  | 'script'
  | 'state'
  | 'requests'
  | 'counters'
  | 'resetCounters'
  | 'listFaults'
  | 'addFault'
  | 'clearFaults'
  | 'removeFault'
  | 'knobs'
  | 'setKnobs'
  | 'sentinels'
  | 'act';

const ROOT = '/_simulator';

const ROUTES: readonly Route<AdminOperation>[] = [
  { operation: 'page', method: 'GET', path: '/' },
  { operation: 'main', method: 'GET', path: `${ROOT}/page/main.html` },
  { operation: 'style', method: 'GET', path: `${ROOT}/page/style.css` },
  { operation: 'script', method: 'GET', path: `${ROOT}/page/script.js` },
  { operation: 'state', method: 'GET', path: `${ROOT}/state` },
  { operation: 'requests', method: 'GET', path: `${ROOT}/requests` },
  { operation: 'counters', method: 'GET', path: `${ROOT}/counters` },
  { operation: 'resetCounters', method: 'DELETE', path: `${ROOT}/counters` },
  { operation: 'listFaults', method: 'GET', path: `${ROOT}/faults` },
  { operation: 'addFault', method: 'POST', path: `${ROOT}/faults` },
  { operation: 'clearFaults', method: 'DELETE', path: `${ROOT}/faults` },
  { operation: 'removeFault', method: 'DELETE', path: `${ROOT}/faults/:id` },
  { operation: 'knobs', method: 'GET', path: `${ROOT}/knobs` },
  { operation: 'setKnobs', method: 'PATCH', path: `${ROOT}/knobs` },
  { operation: 'sentinels', method: 'GET', path: `${ROOT}/sentinels` },
  { operation: 'act', method: 'POST', path: `${ROOT}/act/:name` },
];

const route = createRouter(ROUTES);

export const isAdminPath = (path: string): boolean => path === '/' || path.startsWith('/?') || path.startsWith(ROOT);

export function adminRespond(simulator: Simulator, request: Incoming): Answer {
  try {
    return respond(simulator, request);
  } catch (error) {
    const { status, code } = error instanceof Refusal ? error : { status: 400, code: 'badRequest' };
    return json(status, { code, message: messageOf(error) });
  }
}

function respond(simulator: Simulator, request: Incoming): Answer {
  const url = new URL(request.path, simulator.baseURL);
  const match = route(request.method, url.pathname);
  if (isMiss(match)) return missAnswer(match, 'cloud', DIALECT_RULES.document);
  if (request.method !== 'GET') refuseStrangers(request);
  const filter = url.searchParams.get('filter') ?? '';
  switch (match.route.operation) {
    case 'page':
      return page('text/html', renderPage(simulator, filter));
    case 'main':
      return page('text/html', renderMain(simulator, filter));
    case 'style':
      return page('text/css', PAGE_STYLE);
    case 'script':
      return page('text/javascript', PAGE_SCRIPT);
    case 'state':
      return json(200, simulator.inspect());
    case 'requests':
      return json(200, simulator.inspect().requests);
    case 'counters':
      return json(200, simulator.inspect().counters);
    case 'resetCounters':
      simulator.resetCounters();
      return empty(204);
    case 'listFaults':
      return json(200, simulator.faults.list());
    case 'addFault':
      return json(201, { id: simulator.faults.add(readFault(bodyOf(request))) });
    case 'clearFaults':
      simulator.faults.clear();
      return empty(204);
    case 'removeFault':
      if (simulator.faults.remove(match.params['id'] ?? '')) return empty(204);
      throw new Refusal(404, 'faultNotFound', 'There is no such fault');
    case 'knobs':
      return json(200, { values: simulator.knobs(), specs: KNOB_SPECS });
    case 'setKnobs':
      simulator.setKnobs(parseKnobs(bodyOf(request)));
      return json(200, { values: simulator.knobs() });
    case 'sentinels':
      return json(200, SENTINELS);
    case 'act':
      act(simulator, match.params['name'] ?? '', bodyOf(request));
      return empty(204);
  }
}

/** Other sites' pages open in the same browser must not be able to change anything. */
function refuseStrangers({ headers }: Incoming): void {
  const { origin, host } = headers;
  if (origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host)) {
    throw new Refusal(403, 'crossOrigin', 'Requests from other origins are refused');
  }
}

function bodyOf(request: Incoming): unknown {
  if (request.body === '') return {};
  try {
    return JSON.parse(request.body);
  } catch {
    throw new Refusal(400, 'malformedRequest', 'The body is not valid JSON');
  }
}

function page(type: string, body: string): Answer {
  return {
    status: 200,
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'cache-control': 'no-store',
      'content-security-policy':
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
    },
    body,
  };
}
