import { describe, expect, it } from 'vitest';
import { HttpError } from '../base/transport.ts';
import { KubeError } from '../kube/api.ts';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { INTERRUPTED } from './command-line/exit-code.ts';
import { watchDrawing } from './watch.ts';

const AWAY = new HttpError('unreachable', 'connect ECONNREFUSED');

/** Draws one answer after the other, and the last one for ever; errors are thrown. */
function watching(answers: readonly (string | Error)[], isScreen: boolean) {
  const clock = virtualClock(Date.parse('2026-11-21T11:00:00Z'));
  const stop = new AbortController();
  const shown: string[] = [];
  let at = 0;
  const draw = async () => {
    const answer = answers[Math.min(at++, answers.length - 1)] ?? '';
    if (typeof answer !== 'string') throw answer;
    return answer;
  };
  const screen = isScreen ? { draw: (text: string, note = '') => void shown.push(`drawn: ${text}${note}`) } : undefined;
  const tools = { clock, signal: stop.signal, screen, stdout: (text: string) => void shown.push(text) };
  const ended = watchDrawing(draw, tools);
  ended.catch(() => {});
  const end = async () => {
    stop.abort();
    return ended;
  };
  return { clock, shown, ended, end };
}

describe('watchDrawing()', () => {
  it('draws every two seconds over the previous output, until Ctrl-C', async () => {
    const { clock, shown, end } = watching(['a\n', 'b\n'], true);
    await clock.advance(3_000);
    expect(shown).toEqual(['drawn: a\n', 'drawn: b\n']);
    expect(await end()).toBe(INTERRUPTED);
  });

  it('goes on while the API server is away, says since when, and draws again when it is back', async () => {
    const { clock, shown, end } = watching(['a\n', AWAY, AWAY, 'b\n'], true);
    await clock.advance(5_000);
    const line =
      'The API server has not answered since 2026-11-21T11:00:02Z, and is tried again every 2 s: connect ECONNREFUSED\n';
    expect(shown).toEqual(['drawn: a\n', `drawn: a\n${line}`, `drawn: a\n${line}`]);
    await clock.advance(2_000);
    expect(shown.at(-1)).toBe('drawn: b\n');
    await end();
  });

  it('says so once if nothing is drawn over', async () => {
    const busy = new KubeError('overloaded', { status: 503 });
    const { clock, shown, end } = watching(['a\n', busy, busy, 'b\n', AWAY], false);
    await clock.advance(9_000);
    expect(shown).toEqual([
      'a\n',
      expect.stringContaining('since 2026-11-21T11:00:02Z, and is tried again every 2 s: overloaded'),
      'b\n',
      expect.stringContaining('since 2026-11-21T11:00:08Z'),
    ]);
    await end();
  });

  it('fails if there was never an answer, and if asking again does not help', async () => {
    await expect(watching([AWAY], true).ended).rejects.toBe(AWAY);
    for (const error of [
      new KubeError('No', { status: 403 }),
      new HttpError('tooLarge', 'Answer is larger than 256 bytes'),
    ]) {
      const { clock, ended } = watching(['a\n', error], true);
      await clock.advance(3_000);
      await expect(ended).rejects.toBe(error);
    }
  });
});
