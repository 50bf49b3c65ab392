import { CLOUD_ROUTES } from '../cloud/routes.ts';
import type { LoggedRequest } from '../exchange/request-log.ts';
import { type ActiveFault, FAULT_EFFECTS } from '../faults/faults.ts';
import type { ClusterSnapshot, Snapshot, TeamSnapshot } from '../inspect.ts';
import type { Simulator } from '../interface.ts';
import { SERVER_ROUTES } from '../server/routes.ts';

/** More would not help a person; the filter finds the others. */
const SHOWN_CLUSTERS = 200;
const SHOWN_REQUESTS = 50;

/** The inspection page at `/`. Every second, its main part is replaced by a new result of renderMain. */
export function renderPage(simulator: Simulator, filter: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Mooring simulator</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/_simulator/page/style.css">
</head>
<body>
<h1>Mooring simulator</h1>
<p>Simulates the Cluster Management API and the Database Server HTTP API, dialect <b>${escapeHtml(simulator.dialect)}</b>.
The same as JSON: <a href="/_simulator/state">state</a>, <a href="/_simulator/requests">requests</a>,
<a href="/_simulator/faults">faults</a>, <a href="/_simulator/knobs">knobs</a>,
<a href="/_simulator/sentinels">sentinels</a>.</p>
<p id="notice" class="bad" role="status"></p>
${renderFaultForm()}
<form><label>Show clusters whose id contains <input name="filter" value="${escapeHtml(filter)}"></label></form>
<main>
${renderMain(simulator, filter)}
</main>
<script src="/_simulator/page/script.js"></script>
</body>
</html>
`;
}

export function renderMain(simulator: Simulator, filter: string): string {
  const snapshot = simulator.inspect();
  return [
    renderFaults(snapshot.faults),
    ...snapshot.teams.map((team) => renderTeam(team, filter)),
    renderRequests(snapshot),
  ].join('\n');
}

function renderFaultForm(): string {
  const buttons = Object.entries(FAULT_EFFECTS).map(
    ([effect, about]) => `<button data-effect="${effect}" title="${escapeHtml(about)}">${effect}</button>`,
  );
  return `<form id="fault"><fieldset><legend>Faults</legend>
<label>API <select name="api">${options(['', 'cloud', 'server'])}</select></label>
<label>Operation <select name="operation">${options(['', ...operations()])}</select></label>
<label>Cluster id <input name="clusterID"></label>
<label>Times <input name="times" type="number" min="0" value="1" title="0: until it is removed"></label>
<div>${buttons.join('')}</div>
</fieldset></form>`;
}

function operations(): string[] {
  return [...CLOUD_ROUTES, ...SERVER_ROUTES].map((route) => route.operation);
}

function options(values: readonly string[]): string {
  return values.map((value) => `<option value="${value}">${value === '' ? 'any' : value}</option>`).join('');
}

function renderFaults(faults: readonly ActiveFault[]): string {
  if (faults.length === 0) return '<p id="faults" class="quiet">No fault is active.</p>';
  const rows = faults.map(({ id, effect, match, times, hits }) => [
    code(effect),
    escapeHtml(
      Object.entries(match ?? {})
        .map(([name, value]) => `${name} ${value}`)
        .join(', ') || 'every request',
    ),
    `${hits}${times === undefined ? '' : ` of ${times}`}`,
    `<button data-remove="${escapeHtml(id)}">Remove</button>`,
  ]);
  return `<div id="faults">${table(['Active fault', 'Requests', 'Hits', ''], rows)}
<button data-remove="">Remove all</button></div>`;
}

function renderTeam(team: TeamSnapshot, filter: string): string {
  const payment = team.paymentMethod ? 'has a payment method' : 'has no payment method';
  return [
    `<h2>Team ${escapeHtml(team.id)} <span class="quiet">${payment}</span></h2>`,
    ...team.spaces.map((space) => {
      const chosen = space.clusters.filter((cluster) => cluster.id.includes(filter));
      const tokens = team.apiTokens.filter((token) => token.spaceID === space.id);
      return `<section data-space="${escapeHtml(space.id)}">
<h3>Space ${escapeHtml(space.id)} <span class="quiet">${count(space.clusters.length, 'cluster')}, API tokens ${escapeHtml(
        tokens.map((token) => `${token.clientID} (${token.level})`).join(', ') || 'none',
      )}</span></h3>
${renderClusters(chosen)}</section>`;
    }),
  ].join('\n');
}

function renderClusters(clusters: readonly ClusterSnapshot[]): string {
  if (clusters.length === 0) return '<p class="quiet">No clusters.</p>';
  const shown = clusters.slice(0, SHOWN_CLUSTERS);
  const more = clusters.length - shown.length;
  return `${table(
    ['Cluster', 'Status', 'Machine', 'Servers', 'Users', 'Databases', 'Act as somebody else'],
    shown.map(renderCluster),
  )}${more === 0 ? '' : `<p>and ${count(more, 'more cluster')}: filter by id to see them.</p>`}`;
}

function renderCluster(cluster: ClusterSnapshot): string[] {
  return [
    `<b>${escapeHtml(cluster.id)}</b><br><span class="quiet">version ${escapeHtml(cluster.version)}${
      cluster.isFree ? ', free' : ''
    }<br>${new Date(cluster.createdAt).toISOString()}</span>`,
    status(cluster.status),
    `${escapeHtml(cluster.machineType)}<br><span class="quiet">${escapeHtml(cluster.provider)} ${escapeHtml(
      cluster.region,
    )}<br>${cluster.storageSizeGB} GB ${escapeHtml(cluster.storageType)}<br>backup ${escapeHtml(
      cluster.backup.frequency,
    )}, ${cluster.backup.retentionDays} days</span>`,
    cluster.servers.map((server) => `${code(server.address)} ${status(server.status)}`).join('<br>'),
    cluster.users
      .map(
        (user) =>
          `${escapeHtml(user.username)}${user.hasFactoryPassword ? ' <span class="bad">factory password</span>' : ''}`,
      )
      .join('<br>'),
    [
      ...cluster.databases.map(
        (database) =>
          `${escapeHtml(database.name)} ${quiet(
            `${count(database.instances, 'instance')}${database.schemaLocked ? ', schema locked' : ''}`,
          )}`,
      ),
      quiet(count(cluster.openTransactions, 'open transaction')),
    ].join('<br>'),
    ['vanish', 'replaceCluster', 'restartServers', 'moveServers'].map((act) => actButton(act, cluster)).join(''),
  ];
}

function actButton(act: string, { id, teamID, spaceID }: ClusterSnapshot): string {
  const ref = JSON.stringify({ teamID, spaceID, clusterID: id });
  return `<button data-act="${act}" data-ref="${escapeHtml(ref)}">${act}</button>`;
}

function renderRequests({ requests, counters }: Snapshot): string {
  const last = requests.slice(-SHOWN_REQUESTS).reverse();
  return `<h2>Requests <span class="quiet">${counters.total} so far</span></h2>
<div id="requests">${table(['Time', 'Operation', 'Request', 'Status', 'Faults'], last.map(renderRequest))}</div>`;
}

function renderRequest(request: LoggedRequest): string[] {
  return [
    new Date(request.time).toISOString().slice(11, 23),
    escapeHtml(request.operation || 'none'),
    code(`${request.method} ${request.path}`),
    request.status === 0 ? '<span class="bad">no answer</span>' : String(request.status),
    escapeHtml(request.faults.join(', ')),
  ];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (tag: string, values: readonly string[]) => values.map((value) => `<${tag}>${value}</${tag}>`).join('');
  const body = rows.map((row) => `<tr>${cells('td', row)}</tr>`).join('\n');
  return `<table><thead><tr>${cells('th', head)}</tr></thead><tbody>\n${body}\n</tbody></table>`;
}

const status = (word: string): string => `<span class="status ${escapeHtml(word)}">${escapeHtml(word)}</span>`;
/** Takes markup, not text. */
const quiet = (html: string): string => `<span class="quiet">${html}</span>`;
const code = (value: string): string => `<code>${escapeHtml(value)}</code>`;
const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Ids, names and paths come from requests: they are text, never markup. */
function escapeHtml(value: string): string {
  return value.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
