import { describe, expect, it } from 'vitest';
import { completionsFor, splitCommand } from '../../../slack/web/src/composer/completions.ts';

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
