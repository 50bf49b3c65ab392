import { expect, test } from 'vitest';
import { type Lookup, lookupsAtOnce, sharedLookup } from './lookup.ts';

const ALL = { all: true } as const;
const HERE = [{ address: '192.0.2.1', family: 4 }];

/** A resolver that answers when the test says so. */
function aResolver(atOnce: number) {
  const asked: string[] = [];
  const pending = new Map<string, Parameters<Lookup>[2]>();
  const lookup = sharedLookup(atOnce, (hostname, _options, callback) => {
    asked.push(hostname);
    pending.set(hostname, callback);
  });
  const answers: string[] = [];
  const ask = (name: string) =>
    lookup(name, ALL, (error, addresses) => answers.push(`${name} ${error?.code ?? addresses[0]?.address}`));
  const end = (name: string, error: NodeJS.ErrnoException | null = null) => {
    const callback = pending.get(name) ?? expect.unreachable();
    pending.delete(name);
    callback(error, error === null ? HERE : []);
  };
  const miss = (name: string) => end(name, Object.assign(new Error('No answer'), { code: 'EAI_AGAIN' }));
  return { ask, end, miss, asked, answers, pending };
}

test('sharedLookup() leaves room for names that were found, however many others nobody answers for', () => {
  const { ask, end, miss, answers, pending } = aResolver(2);
  ask('cloud');
  end('cloud');
  for (let index = 0; index < 100; index++) ask(`dead-${index}`);
  expect([...pending.keys()]).toEqual(['dead-0']);
  ask('cloud');
  expect([...pending.keys()]).toEqual(['dead-0', 'cloud']);
  end('cloud');
  miss('dead-0');
  expect([[...pending.keys()], answers]).toEqual([
    ['dead-1'],
    ['cloud 192.0.2.1', 'cloud 192.0.2.1', 'dead-0 EAI_AGAIN'],
  ]);
});

test('sharedLookup() looks up a new name before those that were not found, and a name that is found no longer waits', () => {
  const { ask, end, miss, asked } = aResolver(2);
  for (const name of ['dead', 'gone']) {
    ask(name);
    miss(name);
  }
  for (const name of ['dead', 'gone', 'new', 'newer']) ask(name);
  miss('dead');
  end('new');
  ask('new');
  end('newer');
  expect(asked).toEqual(['dead', 'gone', 'dead', 'new', 'newer', 'new', 'gone']);
});

test('sharedLookup() looks up a name once for all who ask meanwhile, and again for whoever asks later', () => {
  const { ask, end, miss, asked, answers } = aResolver(2);
  for (let count = 0; count < 3; count++) ask('cloud');
  end('cloud');
  expect([asked, answers]).toEqual([['cloud'], Array(3).fill('cloud 192.0.2.1')]);
  ask('cloud');
  miss('cloud');
  expect([asked.length, answers.at(-1)]).toEqual([2, 'cloud EAI_AGAIN']);
});

test('sharedLookup() looks up more new names at once if there are more threads', () => {
  const { ask, pending } = aResolver(lookupsAtOnce({ UV_THREADPOOL_SIZE: '64' }));
  for (let index = 0; index < 100; index++) ask(`new-${index}`);
  expect(pending.size).toBe(16);
});

test.each([
  [undefined, 2],
  ['', 2],
  ['1', 1],
  ['64', 32],
])('lookupsAtOnce() knows that of %j threads half may look up names', (threads, atOnce) => {
  expect(lookupsAtOnce(threads === undefined ? {} : { UV_THREADPOOL_SIZE: threads })).toBe(atOnce);
});
