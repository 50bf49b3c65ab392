import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Memo } from './memo.ts';

/** A memo of texts, and the texts that were parsed, in order. */
function aMemo() {
  const made: string[] = [];
  const memo = new Memo<{ readonly text: string }>();
  /** Reads an answer with these elements. If `breaks`, it breaks off after them. */
  const read = (elements: readonly string[], breaks = false) =>
    memo.read(
      (bytes, index) => {
        const text = Buffer.from(bytes).toString();
        if (text === 'bad') throw new Error(`bad at ${index}`);
        made.push(text);
        return { text };
      },
      async (recall) => {
        const all = elements.map((text, index) => recall(Buffer.from(text), index));
        if (breaks) throw new Error('The answer broke off');
        return all;
      },
    );
  /** Returns the texts that are parsed for an answer. */
  const news = async (elements: readonly string[]) => {
    await read(elements);
    return made.splice(0);
  };
  return { read, news, made };
}

const texts = (read: readonly { readonly text: string }[]) => read.map(({ text }) => text);

test('Memo parses only elements that the answer before did not have, whatever their order', async () => {
  const { news } = aMemo();
  expect(await news(['a', 'b', 'c'])).toEqual(['a', 'b', 'c']);
  expect(await news(['c', 'a', 'b'])).toEqual([]);
  expect(await news(['c', 'B', 'a', 'd'])).toEqual(['B', 'd']);
  expect(await news(['a'])).toEqual([]);
});

test('Memo returns each element in its place, even one that occurs twice', async () => {
  const { read, made } = aMemo();
  await read(['a', 'b']);
  expect(texts(await read(['b', 'x', 'b', 'x', 'a']))).toEqual(['b', 'x', 'b', 'x', 'a']);
  expect(made).toEqual(['a', 'b', 'x']);
});

test('Memo forgets elements that the newest answer does not have', async () => {
  const { news } = aMemo();
  await news(['a', 'b']);
  await news(['c', 'd']);
  expect(await news(['a', 'b', 'd'])).toEqual(['a', 'b']);
  await news([]);
  expect(await news(['d'])).toEqual(['d']);
});

test('Memo keeps nothing of a failed answer, and loses nothing by it', async () => {
  const { read, news, made } = aMemo();
  await read(['a', 'b']);
  await expect(read(['a', 'c'], true)).rejects.toThrow('broke off');
  await expect(read(['d', 'bad'])).rejects.toThrow('bad at 1');
  await expect(read(['bad'])).rejects.toThrow('bad at 0');
  made.length = 0;
  expect(await news(['a', 'b', 'c', 'd'])).toEqual(['c', 'd']);
});

test('Memo gives the same results as without it, whatever answers come and fail', async () => {
  const answer = fc.record({ elements: fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'bad')), breaks: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(answer), async (answers) => {
      const { read } = aMemo();
      for (const { elements, breaks } of answers) {
        const outcome = await read(elements, breaks).then(texts, () => 'failed');
        expect(outcome).toEqual(breaks || elements.includes('bad') ? 'failed' : elements);
      }
    }),
  );
});
