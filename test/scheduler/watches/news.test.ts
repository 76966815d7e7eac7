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
  it.each<[string, string, known?: number[], failing?: object]>([
    ['-a -b +a', 'failure 0, failure 1, success 2, id-b fails'],
    ['-a deploy_cancelled deploy_started -a', 'failure 0, failure 3, id-a fails'],
    ['test_failed deployment_check_failed build_failed deploy_completed', ''],
    ['deployment_failed deploy_completed', 'failure 0, success 1'],
    ['-a@web-1,web-2 +a@web-1 +a@WEB-2', 'failure 0, success 2'],
    ['-a@web-1 -a@web-2 +a@web-2 +a@web-1', 'failure 0, failure 1, success 3'],
    ['-a@web-1 +a', 'failure 0, success 1'],
    // A failure comes late, a success comes late between two failures, all was there before.
    ['-a +a', 'failure 0, success 1', [1]],
    ['-a +a -a', 'id-a fails', [0, 2], failingSince(NOW + 2_000)],
    ['-b +b', 'id-a fails', [0, 1], failingSince(NOW)],
  ])('of %s is %s', (words, expected, known, failing) => {
    expect(outcomes(words, known, failing)).toBe(expected);
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
    ['deployment_check_failed', [watch('failures'), watch('transitions')], ['1 event for w-failures-all']],
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

  it('ends a failure that a watch of a server follows by a success there', () => {
    const watches = [{ ...watch('failures'), server: { identifier: 's1', name: 'WEB\u20131' } }];
    expect(posted('-a@web-1,web-2 +a@web-1', ...watches)).toEqual(['failure success for w-failures-all']);
  });

  it('posts nothing while it is muted, and still shows that a failure is over', () => {
    const muted: Watch = { ...watch('all'), mutedUntil: NOW + 1 };
    const feed = { ...begin(page(), 'D1'), failing: failingSince(NOW) };
    const { pending } = afterPage(feed, [muted], page('+a', '-b', '+c'), CONTEXT);
    expect(pending.map(({ episode }) => episode?.outcomes)).toMatchObject([
      [{ kind: 'success', isQuiet: true }],
    ]);
  });

  it('says that some may be missing where a full page holds one event that cannot be read', () => {
    const many = page(...Array.from({ length: 99 }, (_, at) => `+b${at}`));
    const shown = (unread: number) =>
      JSON.stringify(afterPage(begin(page('+a')), [watch('all')], { ...many, unread }, CONTEXT).pending);
    expect(shown(1)).toContain('some may be missing');
    expect(shown(0)).not.toContain('some may be missing');
  });

  it('keeps the newest 200 events outside working hours, and says how many older ones there were', () => {
    const hours = { from: '13:00', to: '18:00', zone: 'UTC' };
    const watches = [{ ...watch('all'), hours }];
    let feed = begin(page());
    for (let at = 0; at < 3; at += 1) {
      const later = (time: string) => new Date(Date.parse(time) + at * 600_000).toISOString();
      const { events: all } = page(...Array.from({ length: 99 }, (_, n) => `+r${at}-${n}`));
      const moved = all.map((event) => ({ ...event, created_at: later(event.created_at) }));
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
