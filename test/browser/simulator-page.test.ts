import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { FAULT_EFFECTS } from '../../src/simulator/faults/faults.ts';
import { type SimulatorServer, startSimulatorServer } from '../../src/simulator/hosting/http-server.ts';
import type { Simulator } from '../../src/simulator/interface.ts';
import { createSeededRandom } from '../../src/simulator/seeded-random.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { findChromium, openPage, type Page } from './chromium.ts';

const browser = findChromium();

/** A newcomer's machine may have no Chromium; the one that runs the project's own checks does. */
describe.skipIf(browser === undefined)("the simulator's page in Chromium", { timeout: 60_000, retry: 1 }, () => {
  let simulator: Simulator;
  let server: SimulatorServer;
  let page: Page;

  beforeAll(async () => {
    simulator = createSimulator({ clock: systemClock, random: createSeededRandom(1), dialect: 'field' });
    server = await startSimulatorServer(simulator);
    simulator.deployForeign({ id: 'orders', serverCount: 3, version: '2.29.1' });
    simulator.deployForeign({ id: 'invoices', spaceID: 'staging' });
    simulator.createDatabase('orders', 'main');
    simulator.setPassword('orders', 'app', 'app-password');
    page = await openPage(browser ?? '');
    await page.goto(`${server.baseURL}/`);
  }, 60_000);

  afterAll(async () => {
    await page?.close();
    await server?.close();
  });

  const text = (selector: string) => `(document.querySelector(${JSON.stringify(selector)})?.textContent ?? '')`;
  const shows = (selector: string, what: string) => `${text(selector)}.includes(${JSON.stringify(what)})`;
  const click = (selector: string) => page.evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`);
  const fill = (selector: string, value: string) =>
    page.evaluate(`document.querySelector(${JSON.stringify(selector)}).value = ${JSON.stringify(value)}`);

  it('shows spaces, clusters, servers, users and databases', async () => {
    for (const what of ['orders', 'app', 'main', 'factory password', 'running', '127.0.0.1:']) {
      await page.until(shows('section[data-space=production]', what));
    }
    await page.until(shows('section[data-space=staging]', 'invoices'));
    expect(await page.evaluate(`document.querySelectorAll('section[data-space=production] code').length`)).toBe(3);
  });

  it('shows what happens without being reloaded', async () => {
    simulator.deployForeign({ id: 'later' });
    await page.until(shows('section[data-space=production]', 'later'));
    await fetch(`${server.baseURL}/api/v1/cluster-versions`);
    await page.until(shows('#requests', 'GET /api/v1/cluster-versions'));
  });

  it.each(Object.keys(FAULT_EFFECTS))('switches on fault %s with its button, and off again', async (effect) => {
    await fill('#fault [name=operation]', 'deploy');
    await fill('#fault [name=clusterID]', 'orders');
    await fill('#fault [name=times]', '3');
    await click(`button[data-effect="${effect}"]`);
    await page.until(shows('#faults', effect));
    expect(simulator.faults.list()).toEqual([
      { id: expect.any(String), effect, times: 3, hits: 0, match: { operation: 'deploy', clusterID: 'orders' } },
    ]);
    await click('#faults button[data-remove^=fault]');
    await page.until(shows('#faults', 'No fault is active'));
    expect(simulator.faults.list()).toEqual([]);
  });

  it('acts as somebody else', async () => {
    await page.until(shows('section[data-space=staging]', 'invoices'));
    await click('section[data-space=staging] button[data-act=vanish]');
    await page.until(shows('section[data-space=staging]', 'No clusters'));
  });

  it('says why something cannot be done', async () => {
    await page.evaluate(`send('POST', '/_simulator/act/vanish', { clusterID: 'nothing' })`);
    await page.until(shows('#notice', 'There is no cluster nothing'));
  });

  it('finds clusters by a part of their id', async () => {
    await fill('[name=filter]', 'ord');
    await page.evaluate(`document.querySelector('[name=filter]').form.requestSubmit()`);
    await page.until(`location.search === '?filter=ord' && document.readyState === 'complete'`);
    await page.until(shows('section[data-space=production]', 'orders'));
    expect(await page.evaluate(shows('section[data-space=production]', 'later'))).toBe(false);
  });

  it('requests nothing from elsewhere, and reports no errors', () => {
    const foreign = page.requested().filter((url) => !url.startsWith(server.baseURL) && !url.startsWith('data:'));
    expect(foreign).toEqual([]);
    // The refused act above is the only thing that the browser had to note.
    expect(page.complaints().filter((complaint) => !complaint.includes('/_simulator/act/vanish'))).toEqual([]);
  });

  it('says so when the simulator is gone', async () => {
    await server.close();
    await page.until(shows('#notice', 'does not answer'));
  });
});
