import { describe, expect, it, vi } from 'vitest';
import { bench, LOGIN, TOKENS } from '../../../../test/support/connections-bench.ts';

describe('SpaceConnection.serverURL()', () => {
  it.each([
    ['https://{host}:{port}', 'db.test:8000', 'https://db.test:8000'],
    ['https://{host}:{port}', 'db.test', 'https://db.test:443'],
    ['https://{host}.proxy.test/{port}', 'db:8000', 'https://db.proxy.test/8000'],
    ['https://{host}:{port}', '[::1]:8000', 'https://[::1]:8000'],
  ])('makes %s and %s into %s', (serverURL, address, url) => {
    const { connections, spec, of } = bench();
    connections.connect('a/one', spec({ serverURL }), TOKENS, LOGIN, '1');
    expect([of('a/one').serverURL(address), of('a/one').findServerURL(address)]).toEqual([url, url]);
  });

  it.each([['http://{host}:{port}', 'db.test:8000', 'is not https']])(
    'refuses what %s makes of %s',
    (serverURL, address, why) => {
      const { connections, spec, of } = bench();
      connections.connect('a/one', spec({ serverURL }), TOKENS, LOGIN, '1');
      expect(() => of('a/one').serverURL(address)).toThrow(why);
      expect(of('a/one').findServerURL(address)).toBeUndefined();
    },
  );

  it.each([
    ...[
      'db test:8000',
      '127.0.0.1:9105/evil',
      '127.0.0.1:99999',
      'db:0',
      'http://x',
      'u:p@db:1',
      '::1:80',
      'db:1?',
      '',
    ],
  ])('refuses %j, which is not a host and port, before any call', (address) => {
    const { connections, spec, of } = bench();
    connections.connect('a/one', spec({ serverURL: 'https://{host}:{port}' }), TOKENS, LOGIN, '1');
    expect(() => of('a/one').serverURL(address)).toThrow('is not the host and port of a server');
    expect(of('a/one').findServerURL(address)).toBeUndefined();
  });

  it('keeps the logins of a server together', () => {
    const { connections, spec, of } = bench();
    connections.connect('a/one', spec(), TOKENS, LOGIN, '1');
    connections.connect('b/two', spec(), TOKENS, LOGIN, '1');
    const [one, two] = [of('a/one'), of('b/two')];
    expect(one.logins('https://db.test:1', 'orders')).toBe(two.logins('https://db.test:1', 'orders'));
    expect(one.logins('https://db.test:1', 'orders')).not.toBe(one.logins('https://db.test:2', 'orders'));
    expect(one.logins('https://db.test:1', 'orders')).not.toBe(one.logins('https://db.test:1', 'other'));
  });

  it('forgets the logins at former addresses of a cluster: each time that it runs again it may have others', () => {
    const { connections, spec, of } = bench();
    connections.connect('a/one', spec(), TOKENS, LOGIN, '1');
    const { logins } = of('a/one');
    const at = (run: number) => logins(`https://db-${run}.test:1`, 'orders');
    const former = at(0);
    for (let run = 1; run < 100; run++) at(run);
    const latest = Array.from({ length: 9 }, (_, index) => at(100 + index));
    expect(latest.map((each, index) => each === at(100 + index))).toEqual(latest.map(() => true));
    expect(at(0)).not.toBe(former);
  });

  it('finds with a List which logins to forget without reading what is known of the clusters', async () => {
    const { connections, spec, of, simulator } = bench();
    connections.connect('a/one', spec(), TOKENS, LOGIN, '1');
    const { poller, logins } = of('a/one');
    for (const id of ['a', 'b', 'c']) simulator.deployForeign({ id });
    await poller.refresh();
    for (const id of ['a', 'b', 'c']) logins('https://db.test:1', id);
    const get = vi.spyOn(poller, 'get');
    await poller.refresh();
    expect(get).not.toHaveBeenCalled();
  });

  it('forgets the logins of clusters that are gone', async () => {
    const { connections, spec, of, simulator } = bench();
    connections.connect('a/one', spec(), TOKENS, LOGIN, '1');
    simulator.deployForeign({ id: 'orders' });
    await of('a/one').poller.refresh();
    const [stays, goes] = ['orders', 'gone'].map((id) => of('a/one').logins('https://db.test:1', id));
    await of('a/one').poller.refresh();
    expect(of('a/one').logins('https://db.test:1', 'orders')).toBe(stays);
    expect(of('a/one').logins('https://db.test:1', 'gone')).not.toBe(goes);
  });

  it('forgets logins and failures of servers that were off', async () => {
    const { connections, spec, of, simulator, clock } = bench();
    connections.connect('a/one', spec(), TOKENS, LOGIN, '1');
    for (const id of ['orders', 'other']) simulator.deployForeign({ id });
    const { client, poller, logins } = of('a/one');
    await poller.refresh();
    const [goes, stays] = ['orders', 'other'].map((id) => logins('https://db.test:1', id));
    for (const change of [client.suspend, client.resume]) {
      await change.call(client, 'orders');
      await clock.advance(300_000);
    }
    expect(poller.get('orders')?.status).toBe('running');
    expect(logins('https://db.test:1', 'other')).toBe(stays);
    expect(logins('https://db.test:1', 'orders')).not.toBe(goes);
  });
});
