import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** A page in a real browser, driven over the DevTools protocol; this needs so little that no library is used. */
export interface Page {
  goto(url: string): Promise<void>;
  /** The value of an expression in the page. */
  evaluate(expression: string): Promise<unknown>;
  /** Waits until the expression is true. */
  until(expression: string): Promise<void>;
  /** Clicks with the mouse at a point of the window, in CSS pixels. */
  click(x: number, y: number): Promise<void>;
  /** Types text into the focused element. */
  type(text: string): Promise<void>;
  /** Sets the size of the window, in CSS pixels, and the colour scheme of the system. */
  appear(look: { readonly width: number; readonly height: number; readonly scheme: 'light' | 'dark' }): Promise<void>;
  /** What the page has put on the clipboard; the page reads it itself, and is allowed to. */
  clipboard(): Promise<string>;
  /** Errors and violations of the page's policy so far. */
  complaints(): readonly string[];
  /** Every URL that the page has requested. */
  requested(): readonly string[];
  screenshot(): Promise<Buffer>;
  close(): Promise<void>;
}

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
const FLAGS = [
  '--headless=new',
  '--remote-debugging-port=0',
  '--no-first-run',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  // The page is ours, and build machines often run as root, where the sandbox cannot.
  '--no-sandbox',
];
/** What the browser says of a question if the page changes to another one before the answer. */
const GONE = /Inspected target navigated or closed|Execution context was destroyed|Cannot find context/;
const POLL_MS = 20;
const GIVE_UP_MS = 20_000;

/** The browser on this machine, or undefined. */
export function findChromium(): string | undefined {
  const named = process.env['MOORING_CHROMIUM'];
  if (named !== undefined) return named;
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export async function openPage(browser: string): Promise<Page> {
  const profile = await mkdtemp(join(tmpdir(), 'chromium-'));
  // A process group of its own: the browser's helpers end with it.
  const child = spawn(browser, [...FLAGS, `--user-data-dir=${profile}`, 'about:blank'], {
    stdio: 'ignore',
    detached: true,
    // What it leaves behind when it is killed is deleted with its profile.
    env: { ...process.env, TMPDIR: profile },
  });
  const port = await readPort(profile);
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as {
    type: string;
    webSocketDebuggerUrl: string;
  }[];
  const target = targets.find(({ type }) => type === 'page');
  if (target === undefined) throw new Error('The browser has no page');
  const connection = await connect(target.webSocketDebuggerUrl);
  for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await connection.call(`${domain}.enable`);
  return {
    ...pageOf(connection),
    close: async () => {
      connection.close();
      await end(child);
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function pageOf({ call, events }: Connection): Omit<Page, 'close'> {
  const evaluate = async (expression: string): Promise<unknown> => {
    const { result, exceptionDetails } = (await call('Runtime.evaluate', {
      expression,
      returnByValue: true,
      awaitPromise: true,
    })) as { result: { value?: unknown }; exceptionDetails?: { text: string } };
    if (exceptionDetails !== undefined) throw new Error(`${expression}: ${exceptionDetails.text}`);
    return result.value;
  };
  const until = (expression: string) =>
    poll(expression, async () => {
      try {
        return (await evaluate(expression)) === true;
      } catch (error) {
        if (GONE.test(String(error))) return false;
        throw error;
      }
    });
  return {
    evaluate,
    until,
    goto: async (url) => {
      await call('Page.navigate', { url });
      await until(`location.href === ${JSON.stringify(url)} && document.readyState === 'complete'`);
    },
    click: async (x, y) => {
      for (const type of ['mousePressed', 'mouseReleased'])
        await call('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1 });
    },
    type: async (text) => {
      await call('Input.insertText', { text });
    },
    appear: async ({ width, height, scheme }) => {
      await call('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: width < 600 });
      await call('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
    },
    clipboard: async () => {
      // Permissions that are not named are revoked: writing text is not the permission for reading it.
      await call('Browser.grantPermissions', { permissions: ['clipboardReadWrite', 'clipboardSanitizedWrite'] });
      return String(await evaluate('navigator.clipboard.readText()'));
    },
    complaints: () => events.filter(isComplaint).map((event) => JSON.stringify(event)),
    requested: () =>
      events.flatMap(({ method, params }) =>
        method === 'Network.requestWillBeSent' ? [String((params['request'] as { url: string }).url)] : [],
      ),
    screenshot: async () => {
      const { data } = (await call('Page.captureScreenshot', { captureBeyondViewport: true })) as { data: string };
      return Buffer.from(data, 'base64');
    },
  };
}

function isComplaint({ method, params }: Event): boolean {
  if (method === 'Runtime.consoleAPICalled') return params['type'] === 'error' || params['type'] === 'warning';
  return method === 'Runtime.exceptionThrown' || method === 'Log.entryAdded';
}

interface Event {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

interface Connection {
  call(method: string, params?: unknown): Promise<unknown>;
  readonly events: readonly Event[];
  close(): void;
}

function connect(url: string): Promise<Connection> {
  const socket = new WebSocket(url);
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  const events: Event[] = [];
  let lastID = 0;
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Event & { id?: number; result?: unknown; error?: { message: string } };
    if (message.id === undefined) {
      events.push(message);
      return;
    }
    const waiter = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.error === undefined) waiter?.resolve(message.result);
    else waiter?.reject(new Error(message.error.message));
  });
  const call = (method: string, params: unknown = {}) =>
    new Promise<unknown>((resolve, reject) => {
      lastID += 1;
      waiting.set(lastID, { resolve, reject });
      socket.send(JSON.stringify({ id: lastID, method, params }));
    });
  return new Promise((resolve, reject) => {
    socket.addEventListener('open', () => resolve({ call, events, close: () => socket.close() }));
    socket.addEventListener('error', () => reject(new Error('The browser does not talk')));
  });
}

/** The browser writes the port that it has chosen into its profile. */
async function readPort(profile: string): Promise<string> {
  let port = '';
  await poll('the browser to start', async () => {
    port = (await readFile(join(profile, 'DevToolsActivePort'), 'utf8').catch(() => '')).split('\n')[0] ?? '';
    return port !== '';
  });
  return port;
}

async function poll(what: string, holds: () => Promise<boolean>): Promise<void> {
  const start = performance.now();
  while (!(await holds())) {
    if (performance.now() - start > GIVE_UP_MS) throw new Error(`Waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.pid === undefined) return resolve();
    child.once('exit', () => resolve());
    process.kill(-child.pid, 'SIGKILL');
  });
}
