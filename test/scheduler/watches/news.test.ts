import { describe, expect, it } from 'vitest';
import type { Watch } from '../../../src/records/schedules.ts';
import { afterPage, fromPage, newFeed } from '../../../src/scheduler/watches/feed.ts';
import { followOutcomes } from '../../../src/scheduler/watches/news.ts';
import type { ActivityEvent } from '../../../src/service/activity.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const CONTEXT = { now: NOW, batch: 'b1', word: '/deckhand', mentions: new Map<string, string>() };

/** `+a` is a deployment of project a that went well, `-a@web-1` one that failed there, any other word an event of project a. */
function events(...words: string[]): ActivityEvent[] {
  return words.map((word, at) => {
    const kind = { '+': 'deploy_completed', '-': 'deploy_failed' }[word[0] ?? ''];
    const [project = '', servers] = kind === undefined ? ['a'] : word.slice(1).split('@');
    return {
      event: kind ?? word,
      properties: { end_ref: String(at), servers: servers?.split(',') ?? [] },
      project: { name: project.toUpperCase(), permalink: project, identifier: `id-${project}` },
      user: null,
      created_at: new Date(NOW + at * 1000).toISOString(),
    };
  });
}

function watch(mode: Watch['mode'], project?: string): Watch {
  const id = `w-${mode}-${project ?? 'all'}`;
  const of = project && { permalink: project, identifier: `id-${project}`, name: project };
  return {
    kind: 'watch',
    channel: 'C1',
    account: 'acme',
    id,
    requestId: id,
    mode,
    createdBy: 'U1',
    createdAt: 0,
    state: { kind: 'active' },
    ...(of ? { project: of } : {}),
  };
}

/** What a watch for everything finds, word by word, where all is new but what `known` names. */
function outcomes(words: string, known: readonly number[] = [], before = {}): string {
  const all = events(...words.split(' '));
  const fresh = new Set(all.filter((_, at) => !known.includes(at)));
  const { failing, outcomes } = followOutcomes(before, all.toReversed(), fresh, () => [watch('all')]);
  const named = outcomes.map(({ event, kind }) => `${kind} ${event.properties.end_ref}`);
  return [...named, ...Object.keys(failing).map((key) => `${key} fails`)].join(', ');
}

const failingSince = (at: number) => ({ 'id-a': [{ server: '', at }] });

describe('what belongs to episodes', () => {
  it.each<[string, string]>([
    ['-a -b +a', 'failure 0, failure 1, success 2, id-b fails'],
    ['-a deploy_cancelled deploy_started -a', 'failure 0, failure 3, id-a fails'],
    ['test_failed deploy_completed', 'failure 0, success 1'],
    ['-a@web-1,web-2 +a@web-1 +a@WEB-2', 'failure 0, success 2'],
    ['-a@web-1 -a@web-2 +a@web-2 +a@web-1', 'failure 0, failure 1, success 3'],
    ['-a@web-1 +a', 'failure 0, success 1'],
  ])('of %s is %s', (words, expected) => {
    expect(outcomes(words)).toBe(expected);
  });

  it.each<[string, string, number[], string]>([
    [
      'a failure that comes late, with the success that was seen before',
      '-a +a',
      [1],
      'failure 0, success 1',
    ],
    ['a success that comes late, between two failures, is none', '-a +a -a', [0, 2], 'id-a fails'],
    ['nothing of what was before', '-b +b', [0, 1], 'id-a fails'],
  ])('%s', (_, words, known, expected) => {
    const failing =
      words.startsWith('-a') && known.includes(0) ? failingSince(NOW + (known.length - 1) * 2_000) : {};
    expect(outcomes(words, known, words.includes('b') ? failingSince(NOW) : failing)).toBe(expected);
  });
});

describe('a watched channel', () => {
  const begin = (words: ReturnType<typeof page>, channel = 'C1') =>
    fromPage(newFeed({ channel, account: 'acme' }, NOW), words, NOW);
  const page = (...marks: string[]) => ({ events: events(...marks).toReversed() });

  /** What is posted of the words after a first page without any, by batch. */
  function posted(words: string, ...watches: Watch[]): string[] {
    const { pending } = afterPage(begin(page()), watches, page(...words.split(' ')), CONTEXT);
    return pending.map(
      ({ what, episode, for: ids }) =>
        `${episode?.outcomes.map(({ kind }) => kind).join(' ') ?? what} for ${ids.toSorted().join(' ')}`,
    );
  }

  it.each<[string, Watch[], string[]]>([
    ['+a -a -b', [watch('all')], ['failure for w-all-all', 'failure for w-all-all', '1 event for w-all-all']],
    ['+a -a +a server_created', [watch('failures')], ['failure success for w-failures-all']],
    ['+a -a +a', [watch('transitions', 'b')], []],
    [
      '-a +a +a',
      [watch('failures', 'a'), watch('transitions'), watch('all')],
      ['failure success for w-all-all w-failures-a w-transitions-all', '1 event for w-all-all'],
    ],
  ])('of %s posts what its watches are for, each event once (%#)', (words, watches, expected) => {
    expect(posted(words, ...watches)).toEqual(expected);
  });

  it.each<[string, Partial<ActivityEvent>, number]>([
    ['moments later', {}, 1],
    ['with its servers in another order', { properties: { end_ref: 'r1', servers: ['WEB-2', 'web-1'] } }, 1],
    ['of another server', { properties: { end_ref: 'r1', servers: ['web-2'] } }, 2],
    ['a minute later', { created_at: new Date(NOW + 60_000).toISOString() }, 2],
    ['of another person at the same moment', { user: 'Lee', created_at: new Date(NOW).toISOString() }, 2],
  ])('counts a deployment that is reported once more, %s, as often as it happened', (_, change, amount) => {
    const of = { properties: { end_ref: 'r1', servers: ['web-1', 'web-2'] }, user: 'Kim' };
    const failures = events('-a', '-a').map((event) => ({ ...event, ...of }));
    const successes = events('+b', '+b').map((event) => ({ ...event, ...of }));
    const twins = [failures, successes].flatMap(([one, other]) => [one, other && { ...other, ...change }]);
    const all = twins.filter((event) => event !== undefined).toReversed();
    const { pending } = afterPage(begin(page()), [watch('all')], { events: all }, CONTEXT);
    const failed = pending.flatMap(({ episode }) => episode?.outcomes.map(({ id }) => id) ?? []);
    expect(new Set(failed).size).toBe(amount);
    expect(pending.at(-1)?.what).toBe(amount === 1 ? '1 event' : `${amount} events`);
  });

  it.each(['web-1', 'WEB\u20131'])(
    'ends a failure that a watch of the server %s follows by a success there',
    (name) => {
      const watches = [{ ...watch('failures'), server: { identifier: 's1', name } }];
      const { pending } = afterPage(begin(page()), watches, page('-a@web-1,web-2', '+a@web-1'), CONTEXT);
      expect(pending.map(({ episode }) => episode?.outcomes.map(({ kind }) => kind))).toEqual([
        ['failure', 'success'],
      ]);
    },
  );

  it('posts nothing while it is muted, and still shows that a failure is over', () => {
    const muted: Watch = { ...watch('all'), mutedUntil: NOW + 1 };
    const feed = { ...begin(page(), 'D1'), failing: failingSince(NOW) };
    const { pending } = afterPage(feed, [muted], page('+a', '-b', '+c'), CONTEXT);
    expect(pending.map(({ episode }) => episode?.outcomes)).toMatchObject([
      [{ kind: 'success', isQuiet: true }],
    ]);
  });

  it('says that some may be missing where a full page holds one event that cannot be read', () => {
    const watches = [watch('all')];
    const first = begin(page('+a'));
    const { events: many } = page(...Array.from({ length: 99 }, (_, at) => `+b${at}`));
    const [batch] = afterPage(first, watches, { events: many, unread: 1 }, CONTEXT).pending;
    expect(JSON.stringify(batch)).toContain('some may be missing');
    const [whole] = afterPage(first, watches, { events: many }, CONTEXT).pending;
    expect(JSON.stringify(whole)).not.toContain('some may be missing');
  });

  it('keeps the newest 200 events outside working hours, and says how many older ones there were', () => {
    const hours = { from: '13:00', to: '18:00', zone: 'UTC' };
    const watches = [{ ...watch('all'), hours }];
    let feed = begin(page());
    for (let at = 0; at < 3; at += 1) {
      const words = Array.from({ length: 99 }, (_, n) => `+r${at}-${n}`);
      const { events: outcomes } = page(...words);
      const moved = outcomes.map((event) => ({ ...event, created_at: later(event.created_at, at * 600) }));
      feed = afterPage(feed, watches, { events: moved }, CONTEXT);
    }
    expect(feed.pending).toEqual([]);
    expect(feed.backlog).toMatchObject({ dropped: 97 });
    const open = afterPage(feed, watches, page(), { ...CONTEXT, now: NOW + 3_600_000 });
    expect(open.backlog.lines).toEqual([]);
    expect(open.pending).toMatchObject([{ id: 'b1 kept', what: '200 events', for: ['w-all-all'] }]);
    expect(JSON.stringify(open.pending[0]?.root)).toContain('deploy completed (200), and 97 older ones');
  });
});

const later = (at: string, seconds: number) => new Date(Date.parse(at) + seconds * 1000).toISOString();
