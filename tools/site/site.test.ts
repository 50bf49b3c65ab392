import { describe, expect, test } from 'vitest';
import { renderDocument } from './content.ts';
import type { Repository } from './repository.ts';
import { readSite } from './site.ts';

/** A repository with these files, a home page whose list names `named`, and a README. */
function repositoryOf(files: Readonly<Record<string, string>>, named: readonly string[] = []): Repository {
  const links = named.map((path) => `[the ${path}](${path})`).join(', ');
  const all: Readonly<Record<string, string>> = {
    'README.md': '# The project\n',
    'docs/index.md': `# Home\n\n- **Start:** [readme](../README.md), ${links}\n`,
    ...files,
  };
  const paths = Object.keys(all).toSorted();
  return {
    paths,
    has: (path) => Object.hasOwn(all, path),
    below: (folder) => paths.filter((path) => path.startsWith(`${folder}/`)),
    read: (path) => all[path] ?? '',
  };
}

/** What is wrong with a page with this text, if there are also a guide with a chapter, a sample and a picture. */
function problemsWith(text: string): readonly string[] {
  const files = {
    'docs/page.md': `# Page\n\n${text}\n`,
    'docs/guides/first.md': '# First\n\n## One\n\n## One\n\n## What `x.y` is, and why\n',
    'deploy/sample.yaml': 'a: 1\n',
    'docs/diagrams/a.svg': '<svg/>\n',
  };
  return readSite(repositoryOf(files, ['page.md', 'guides/first.md'])).problems;
}

describe('a link', () => {
  test.each([
    'guides/first.md',
    'guides/first.md#one',
    'guides/first.md#one-1',
    'guides/first.md#what-xy-is-and-why',
    '#page',
    '../deploy/sample.yaml',
    '../deploy',
    '../README.md#the-project',
    'https://example.com/nothing',
    'mailto:somebody@example.com',
  ])('to %s is right', (link) => expect(problemsWith(`See [this](${link}).`)).toEqual([]));

  test.each([
    ['guides/second.md', 'leads to nothing'],
    ['first.md', 'leads to nothing'],
    ['/docs/guides/first.md', 'leads to nothing'],
    ['../../outside.md', 'leads to nothing'],
    ['guides/first.md#two', 'leads to a heading that does not exist'],
    ['guides/first.md#One', 'leads to a heading that does not exist'],
    ['#nowhere', 'leads to a heading that does not exist'],
    ['../deploy/sample.yaml#L1', 'leads to a heading that does not exist'],
  ])('to %s %s', (link, what) => {
    expect(problemsWith(`See [this](${link}).`)).toEqual([`docs/page.md: link ${link} ${what}`]);
  });

  test('in code is not a link', () =>
    expect(problemsWith('`[this](nowhere.md)`\n\n```md\n[this](nowhere.md)\n```')).toEqual([]));
});

test.each([
  ['![A](diagrams/a.svg)', []],
  ['![B](diagrams/b.svg)', ['docs/page.md: image diagrams/b.svg is not a file of the repository']],
  [
    '![C](https://example.com/c.svg)',
    ['docs/page.md: image https://example.com/c.svg is not a file of the repository'],
  ],
  ['<!-- test: in order -->', []],
  ['Press <kbd>Enter</kbd>', ['docs/page.md: <kbd> looks different on GitHub and on the site']],
  ['```mermaid\nflowchart LR\n```', ['docs/page.md: mermaid looks different on GitHub and on the site']],
  ['# Another title', ['docs/page.md does not have exactly one title, at its start']],
])('of %j it is said: %j', (text, problems) => expect(problemsWith(text).slice(0, 1)).toEqual(problems));

describe('the menu', () => {
  const files = { 'docs/a.md': '# A\n', 'docs/b.md': '# B\n' };

  test('is the list of the home page', () => {
    expect(readSite(repositoryOf(files, ['b.md', 'a.md'])).navigation).toEqual([
      {
        name: 'Start',
        entries: [
          { name: 'Readme', path: 'README.md' },
          { name: 'The b.md', path: 'docs/b.md' },
          { name: 'The a.md', path: 'docs/a.md' },
        ],
      },
    ]);
  });

  test.each([
    [['a.md'], 'docs/b.md is not in the list of docs/index.md, which is the menu'],
    [['a.md', 'b.md', 'a.md'], 'docs/a.md is twice in the list of docs/index.md, which is the menu'],
  ])('that names %j is wrong', (named, problem) => {
    expect(readSite(repositoryOf(files, named)).problems).toEqual([problem]);
  });
});

test('shows what documents lead to, and what these lead to, and nothing else', () => {
  const repository = repositoryOf({
    'README.md': '# The project\n\n[more](src/more.md) and [samples](deploy)\n',
    'src/more.md': '# More\n\n[even more](even-more.md)\n',
    'src/even-more.md': '# Even more\n',
    'src/nobody-says.md': '# Nobody says\n',
    'deploy/a.yaml': 'a: 1\n',
    'deploy/below/b.yaml': 'b: 1\n',
    'secret.yaml': 'c: 1\n',
  });
  const site = readSite(repository);
  expect(site.problems).toEqual([]);
  expect([...site.documents.keys()].toSorted()).toEqual([
    'README.md',
    'docs/index.md',
    'src/even-more.md',
    'src/more.md',
  ]);
  expect([[...site.folders], [...site.sources]]).toEqual([['deploy'], ['deploy/a.yaml', 'deploy/below/b.yaml']]);
});

describe('a page', () => {
  const repository = repositoryOf({
    'docs/guides/first.md': '# First\n',
    'docs/page.md': '# Page\n',
    'docs/diagrams/a.svg': '<svg/>\n',
    'deploy/sample.yaml': 'a: 1\n',
    'test/README.md': '# Tests\n',
  });
  const render = (text: string) => renderDocument(repository, 'docs/guides/first.md', text).trim();

  test.each([
    ['[a](../page.md#title)', '<a href="../page.html#title">a</a>'],
    ['[a](../index.md)', '<a href="../index.html">a</a>'],
    ['[a](#first)', '<a href="#first">a</a>'],
    ['[a](../../README.md)', '<a href="../README.html">a</a>'],
    ['[a](../../deploy/sample.yaml)', '<a href="../deploy/sample.yaml.html">a</a>'],
    ['[a](../../deploy)', '<a href="../deploy/index.html">a</a>'],
    ['[a](../../test)', '<a href="../test/README.html">a</a>'],
    ['[a](https://example.com/x)', '<a href="https://example.com/x">a</a>'],
    ['![a `b`](../diagrams/a.svg)', '<img src="../diagrams/a.svg" alt="a b">'],
    ['`{{ password }}` and {{ this }}', '<code>{{ password }}</code> and {{ this }}'],
    ['`a<b`', '<code>a&lt;b</code>'],
    ['`spec.list[].name`', '<code>spec.<wbr>list[].<wbr>name</code>'],
    ['`{"a":{"b":1}}`', '<code>{&quot;a&quot;:<wbr>{&quot;b&quot;:<wbr>1}}</code>'],
    ['`a-b --flag ./x ... 1.`', '<code>a-b <span class="flag">--flag</span> ./x ... 1.</code>'],
    [
      '`plan -f=a --exit-code`',
      '<code>plan <span class="flag">-f</span>=<wbr>a <span class="flag">--exit-code</span></code>',
    ],
  ])('has %s as %s', (text, html) => expect(render(text)).toBe(`<p>${html}</p>`));

  test('shows no comments', () => expect(render('a <!-- b -->\n\n<!-- c -->\n\nd')).toBe('<p>a </p>\n<p>d</p>'));

  test('has anchors that can be linked to', () => {
    expect(render('## A `b`')).toBe(
      '<h2 id="a-b">A <code>b</code> <a class="anchor" href="#a-b" aria-label="Link to this">#</a></h2>',
    );
  });

  test('has an anchor for each word that a table explains, where it appears first', () => {
    const table = (...cells: readonly string[]) => `| A |\n| - |\n${cells.map((cell) => `| ${cell} |\n`).join('')}`;
    const words = table('`NotSeen`', '`--flag`', 'Not', '`Taken`', '`OneOf`, `Two`');
    const html = render(`## Taken\n\n${words}\n${table('`NotSeen`', '`Other`')}`);
    expect([...html.matchAll(/<tr( id="\w+")?>\n<td>/g)].map(([, id]) => id)).toEqual([
      ' id="notseen"',
      ...[undefined, undefined, undefined, undefined, undefined],
      ' id="other"',
    ]);
  });
});
