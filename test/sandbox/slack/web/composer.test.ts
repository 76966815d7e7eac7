import { describe, expect, it } from 'vitest';
import { encodeTyped } from '../../../../sandbox/slack/web/src/app/encode-typed.ts';
import { completionsFor, splitCommand } from '../../../../sandbox/slack/web/src/composer/completions.ts';

const deckhand = {
  command: '/deckhand',
  description: 'Deployments from chat',
  usage_hint: 'help | test [project|url] | server add [project] | server show <server>',
  app_id: 'A1',
};
const other = { command: '/deck', description: 'Something else', usage_hint: '[words]', app_id: 'A2' };
const commands = [deckhand, other];

describe('completion', () => {
  it.each<[string, string[]]>([
    ['', []],
    ['hello /deck', []],
    ['/', ['/deckhand', '/deck']],
    ['/deckh', ['/deckhand']],
    ['/deckhand ', ['/deckhand help', '/deckhand test', '/deckhand server add', '/deckhand server show']],
    ['/deckhand ser', ['/deckhand server add', '/deckhand server show']],
    ['/deckhand TEST storefront', ['/deckhand test']],
    ['/deckhand nothing', []],
    ['/deck some words', ['/deck']],
    ['/deckhand test\nsecond line', []],
  ])('of %j offers %j', (text, titles) => {
    expect(completionsFor(text, commands).map(({ title }) => title)).toEqual(titles);
  });

  it('shows what may follow, brackets whole', () => {
    expect(completionsFor('/deckhand te', commands)).toEqual([
      { text: '/deckhand test ', title: '/deckhand test', hint: '[project|url]', description: '' },
    ]);
  });

  it('tells commands from messages', () => {
    expect(splitCommand('/deckhand  test "a b"\nc', commands)).toEqual({
      command: '/deckhand',
      rest: 'test "a b"\nc',
    });
    expect(splitCommand('/deckhands test', commands)).toBeUndefined();
    expect(splitCommand('run /deckhand test', commands)).toBeUndefined();
  });
});

describe('typed text', () => {
  const team = {
    id: 'T1',
    name: 'Acme',
    domain: 'acme',
    users: [{ id: 'U1', name: 'max', real_name: 'Max' }],
    channels: [
      { id: 'C1', name: 'deploys', kind: 'public' as const, members: [] },
      { id: 'D1', name: 'max', kind: 'im' as const, members: [] },
    ],
    apps: [],
    commands: [],
  };
  it.each([
    ['a < b & c > d', 'a &lt; b &amp; c &gt; d'],
    ['@max, see #deploys.', '<@U1>, see <#C1|deploys>.'],
    ['mail max@max.example, @nobody, #max', 'mail max@max.example, @nobody, #max'],
    ['<@U1>', '&lt;@U1&gt;'],
  ])('%s is sent as %s', (typed, sent) => {
    expect(encodeTyped(typed, { team })).toBe(sent);
  });
});
