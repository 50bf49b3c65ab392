import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { manualClock } from '../../../test/support/clock.ts';
import { ServerClient } from '../../database/client.ts';
import { Session } from '../../database/session.ts';
import { loneServer } from '../../simulator/lone-server.ts';
import { createSeededRandom } from '../../simulator/seeded-random.ts';
import { createSimulator } from '../../simulator/simulator.ts';
import { converse, interrupt, Shell, suspend } from './shell.ts';

const ADDRESS = 'server.example.com:8443';
const LOGIN = { username: 'app', password: 'sesame' };
const signal = new AbortController().signal;

/** A shell on a server of its own, with an empty database `orders`. */
function aShell() {
  const clock = manualClock();
  const random = createSeededRandom(1);
  const simulator = createSimulator({
    clock,
    random,
    knobs: { passwordCheckMs: 0, latencyMs: [0, 0], queryMs: 0 },
    state: loneServer(ADDRESS, LOGIN, ['orders', 'other']),
  });
  const client = new ServerClient({ baseURL: `https://${ADDRESS}`, clock, random, transport: simulator.transport });
  const shell = new Shell(new Session(client, LOGIN), 'orders');
  const type = async (...lines: readonly string[]) => {
    let text = '';
    for (const line of lines) text += (await shell.line(line, signal)).text;
    return text;
  };
  return { shell, type, simulator };
}

describe('Shell', () => {
  it('runs a query that ends with an empty line, in a transaction of its own', async () => {
    const { shell, type } = aShell();
    expect(await type('\\schema define entity person, owns name; attribute name, value string;')).toBe('Done.\n');
    expect(await type('match', '$p isa person;')).toBe('');
    expect(shell.prompt).toBe('... ');
    expect(await type('')).toContain('0 rows');
    expect(shell.prompt).toBe('orders> ');
  });

  it('keeps what was done in a transaction with \\commit, and discards it with \\rollback', async () => {
    const { shell, type } = aShell();
    await type('\\begin schema', 'define entity person;', '');
    expect(shell.prompt).toBe('orders (schema)> ');
    expect(await type('\\rollback')).toBe('Discarded.\n');
    expect(await type('match $p isa person;', '')).toMatch(/person/);
    await type('\\begin schema', 'define entity person;', '');
    expect(await type('\\commit')).toBe('Committed.\n');
    expect(await type('match $p isa person;', '')).toContain('0 rows');
  });

  it('treats \\commit right after a query as the end of it', async () => {
    const { shell, type } = aShell();
    await type('\\begin schema', 'define', 'entity person;');
    expect(await type('\\commit ')).toBe('Done.\nCommitted.\n');
    expect(await type('match $p isa person;', '\\quit')).toContain('0 rows');
    await type('\\begin schema', 'nonsense');
    expect(await type('\\commit')).toMatch(/\n\\commit was not done, as the query failed\n$/);
    expect(shell.prompt).toBe('orders (schema)> ');
  });

  it.each([
    [408, true],
    [502, true],
    [404, false],
  ])('says of a commit that is answered %i whether its outcome is unknown: %s', async (status, isUnknown) => {
    const { type, simulator } = aShell();
    await type('\\begin schema', 'define entity person;', '');
    simulator.faults.add({ match: { operation: 'commitTransaction' }, effect: 'errorBefore', status, times: 1 });
    const text = await type('\\commit');
    expect(text).toContain(`HTTP ${status}`);
    expect(text.includes('It is not known whether it was committed: check before you repeat it')).toBe(isUnknown);
  });

  it('ends a read with \\commit as well, which keeps nothing and is not a commit', async () => {
    const { shell, type, simulator } = aShell();
    await type('\\begin read', 'match $p isa person;', '');
    expect(await type('\\commit')).toBe('Ended: nothing was changed in it.\n');
    expect(shell.prompt).toBe('orders> ');
    expect([simulator.count('commitTransaction'), simulator.count('closeTransaction')]).toEqual([0, 1]);
  });

  it.each(['write', 'schema'])('runs no \\%s beside an open transaction, as that would be kept', async (word) => {
    const { type, simulator } = aShell();
    await type('\\begin schema');
    expect(await type(`\\${word} define entity person;`)).toContain(`leave \\${word} out`);
    expect(simulator.count('query')).toBe(0);
    await type('\\rollback');
  });

  it('shows what the last query gave even if the transaction cannot be closed', async () => {
    const { shell, type, simulator } = aShell();
    await type('\\begin schema', 'define entity person;');
    simulator.faults.add({ match: { operation: 'closeTransaction' }, effect: 'reset' });
    expect((await shell.finish(signal)).text).toMatch(/^Done\.\nAn open schema transaction was discarded/);
  });

  it('runs the last query at the end of the input, and says that an open transaction is discarded', async () => {
    const { shell, type } = aShell();
    await type('\\begin schema', 'define entity person;');
    const { text, failed } = await shell.finish(signal);
    expect(text).toBe('Done.\nAn open schema transaction was discarded: end it with \\commit to keep it\n');
    expect(failed).toBe(true);
    expect(await shell.finish(signal)).toEqual({ text: '' });
  });

  it('says how to run a query that does more than its transaction may', async () => {
    const { type } = aShell();
    expect(await type('define entity person;', '')).toMatch(
      /seems to be a change of the schema: write \\schema before it/,
    );
    await type('\\begin write');
    expect(await type('define entity person;', '')).toMatch(/run as a write, .*: \\rollback, then \\begin schema\n$/);
  });

  it('says what is wrong, and goes on', async () => {
    const { type } = aShell();
    expect(await type('this is no query', '')).toContain('refused');
    expect(await type('\\begin nothing')).toContain('use read, write, schema');
    expect(await type('\\commit')).toContain('No transaction is open');
    expect(await type('\\begin read', '\\begin read')).toContain('open already');
    expect(await type('\\database other')).toContain('A transaction is open');
    expect(await type('\\what')).toContain('There is no command "\\what": \\help');
    expect(await type('\\help')).toContain('\\begin read|write|schema');
  });

  it('counts as failed what a script got wrong', async () => {
    const { shell } = aShell();
    for (const line of ['\\begin nothing', '\\commit', '\\rollback', '\\what'])
      expect(await shell.line(line, signal), line).toMatchObject({ failed: true });
    await shell.line('\\begin read', signal);
    for (const line of ['\\begin read', '\\database other'])
      expect(await shell.line(line, signal), line).toMatchObject({ failed: true });
  });

  it('discards a query that is not finished, and says whether there was one', async () => {
    const { shell, type } = aShell();
    await type('\\schema define entity person;', 'match', '$p isa person;');
    expect(shell.discard()).toBe(true);
    expect(shell.discard()).toBe(false);
    expect(await type('')).toBe('');
  });

  it('uses another database, and ends with \\quit, which leaves no transaction open', async () => {
    const { shell, type } = aShell();
    await type('\\database other');
    expect(shell.prompt).toBe('other> ');
    await type('\\begin schema');
    expect(await shell.line('\\quit', signal)).toEqual({ text: '', ended: true });
    const again = await type('\\begin schema', 'define entity person;', '');
    expect(again).toBe('Done.\n');
  });
});

describe('converse()', () => {
  const query = ['define entity person;', ''];
  /** With these lines, after which the signal aborts if that is asked for. */
  async function conversed(typed: readonly string[], { isTerminal = false, aborts = false } = {}) {
    const { shell } = aShell();
    const controller = new AbortController();
    async function* lines() {
      yield* typed;
      if (aborts) controller.abort();
    }
    let text = '';
    const stdout = (more: string) => {
      text += more;
    };
    const ask = () => stdout(shell.prompt);
    const code = await converse(shell, lines(), { stdout, ask, isTerminal, signal: controller.signal });
    return { code, text };
  }

  it('ends well if everything did, and asks before each line', async () => {
    expect(await conversed(['\\begin schema', ...query, '\\commit'])).toEqual({
      code: 0,
      text: 'orders> orders (schema)> ... Done.\norders (schema)> Committed.\norders> ',
    });
    expect(await conversed(['\\quit', '\\what'])).toMatchObject({ code: 0 });
  });

  it('reports earlier failures to a script, but not to a person', async () => {
    expect(await conversed(['\\what', '\\help'])).toMatchObject({ code: 1 });
    expect(await conversed(['\\what', '\\help'], { isTerminal: true })).toMatchObject({ code: 0 });
  });

  it('reports a signal, as not all of a script may have been run', async () => {
    expect(await conversed(['\\begin schema', ...query], { aborts: true })).toMatchObject({ code: 130 });
    expect(await conversed([], { aborts: true, isTerminal: true })).toMatchObject({ code: 130 });
  });
});

describe('A signal that ends the shell', () => {
  it('says that the server may go on with the query that ran, and discards a transaction', async () => {
    const { shell, type, simulator } = aShell();
    await type('\\begin schema');
    simulator.faults.add({ match: { operation: 'queryTransaction' }, effect: 'hang', times: 1 });
    await type('define entity person;');
    const end = new AbortController();
    const reply = shell.line('', end.signal);
    end.abort();
    expect((await reply).text).toMatch(/: it was canceled\nThe server may still be running it\.\n$/);
    expect((await shell.finish(end.signal)).text).toBe(
      'An open schema transaction was discarded: end it with \\commit to keep it\n',
    );
  });

  it('runs nothing more', async () => {
    const { shell, type } = aShell();
    await type('match $p isa person;');
    expect(await shell.finish(AbortSignal.abort())).toEqual({ text: '' });
  });
});

describe('Ctrl-C', () => {
  /** At a real line editor, with this much typed. */
  function interrupted(typed: string, discards = false, runs = false) {
    const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} });
    const lines = createInterface({ input, output: new PassThrough(), terminal: true });
    lines.write(typed);
    const goesOn = interrupt(lines, { discard: () => discards, giveUp: () => runs });
    const rest = lines.line;
    const prompts = () => lines.prompt();
    return { goesOn, rest, prompts };
  }

  it('discards what was typed, and asks again', () => {
    const { goesOn, rest, prompts } = interrupted('match $p isa');
    expect([goesOn, rest]).toEqual([true, '']);
    expect(prompts).not.toThrow();
    expect(interrupted('', true).goesOn).toBe(true);
  });

  it('gives up what the server was asked for, and goes on after the reply', async () => {
    const { goesOn, prompts } = interrupted('', false, true);
    expect(goesOn).toBe(false);
    expect(prompts).not.toThrow();
    const { shell, type, simulator } = aShell();
    await type('\\begin schema');
    simulator.faults.add({ match: { operation: 'query' }, effect: 'hang', times: 1 });
    await type('define entity person;');
    const reply = shell.line('', signal);
    expect(shell.giveUp()).toBe(true);
    expect(await reply).toEqual({
      text: expect.stringMatching(
        /: it was canceled\nThe server may still be running it: \\rollback discards what it does\.\n$/,
      ),
      failed: true,
    });
    expect(shell.giveUp()).toBe(false);
    expect(await type('\\rollback', 'define entity person;')).toBe('Discarded.\n');
  });

  it('ends a wait for a server that does not close the transaction: \\quit quits, \\rollback asks again', async () => {
    const { shell, type, simulator } = aShell();
    simulator.faults.add({ match: { operation: 'closeTransaction' }, effect: 'hang' });
    const givenUp = (line: string) => {
      const reply = shell.line(line, signal);
      shell.giveUp();
      return reply;
    };
    await type('\\begin read');
    expect(await givenUp('\\rollback')).toMatchObject({
      text: expect.stringMatching(/: it was canceled\n/),
      failed: true,
    });
    expect(await type('\\begin read')).toBe('');
    expect(await givenUp('\\quit')).toEqual({ text: '', ended: true });
  });

  it('is the end if nothing was typed: nothing can be asked then', () => {
    const { goesOn, prompts } = interrupted('');
    expect(goesOn).toBe(false);
    expect(prompts).toThrow('readline was closed');
  });
});

describe('Ctrl-Z', () => {
  it('stops the job with the terminal as others want it, and reads on afterwards', async () => {
    const done: string[] = [];
    const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} });
    const lines = createInterface({ input, output: new PassThrough(), terminal: true });
    const job = { setRawMode: (isRaw: boolean) => done.push(`raw: ${isRaw}`), stop: () => done.push('stop') };
    const clock = manualClock();
    const resumed = new Promise<void>((resolve) => {
      lines.on('SIGTSTP', () => void suspend(job, clock, resolve));
    });
    input.write('match\u001a');
    await clock.advance(50);
    await resumed;
    expect(done).toEqual(['raw: false', 'stop', 'raw: true']);
    const [line] = await Promise.all([once(lines, 'line'), input.write(' $p isa person;\r')]);
    expect(line).toEqual(['match $p isa person;']);
    lines.close();
  });
});
