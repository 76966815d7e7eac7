import { describe, expect, it } from 'vitest';
import type { ActivityFeed } from '../../../src/records/feeds.ts';
import { toEntry } from '../../../src/records/ledger.ts';
import type { Watch } from '../../../src/records/schedules.ts';
import { afterEntries } from '../../../src/scheduler/watches/channel-news.ts';
import { newFeed } from '../../../src/scheduler/watches/feed.ts';
import { type FailingServer, followOutcomes, type ReadEvent } from '../../../src/scheduler/watches/news.ts';
import type { ActivityEvent } from '../../../src/service/activity.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const CONTEXT = {
  now: NOW,
  batch: 'b1',
  word: '/deckhand',
  mentions: new Map<string, string>(),
  findMentioned: () => undefined,
  isQuiet: () => false,
};

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

/** Events as the ledger numbers them, read an hour later. */
function readAll(all: readonly ActivityEvent[], first = 0): ReadEvent[] {
  return all.map((event, at) => ({
    entry: { ...toEntry(event, NOW + 3_600_000), number: first + at },
    event,
  }));
}

/** What a watch for everything finds, word by word, where all is new but what `known` names. */
function outcomes(
  words: string,
  known: readonly number[] = [],
  before: readonly FailingServer[] = [],
): string {
  const all = readAll(events(...words.split(' ')));
  const fresh = new Set(all.filter((_, at) => !known.includes(at)));
  const found = followOutcomes(new Map([['id-a', before]]), all, fresh, () => [watch('all')]);
  return found.map(({ entry, kind }) => `${kind} ${entry.ref}`).join(', ');
}

const failingSince = (at: number): FailingServer[] => [{ server: '', at }];

describe('what belongs to episodes', () => {
  it.each<[string, string, known?: number[], failing?: FailingServer[]]>([
    ['-a -b +a', 'failure 0, failure 1, success 2'],
    ['-a deploy_cancelled deploy_started -a', 'failure 0, failure 3'],
    ['test_failed deployment_check_failed build_failed deploy_completed', ''],
    ['deployment_failed deploy_completed', 'failure 0, success 1'],
    ['-a@web-1,web-2 +a@web-1 +a@WEB-2', 'failure 0, success 2'],
    ['-a@web-1 -a@web-2 +a@web-2 +a@web-1', 'failure 0, failure 1, success 3'],
    ['-a@web-1 +a', 'failure 0, success 1'],
    // A failure comes late, a success comes late between two failures, all was there before.
    ['-a +a', 'failure 0, success 1', [1]],
    ['-a +a -a', '', [0, 2], failingSince(NOW + 2_000)],
    ['-b +b', '', [0, 1], failingSince(NOW)],
  ])('of %s is %s', (words, expected, known, failing) => {
    expect(outcomes(words, known, failing)).toBe(expected);
  });
});

describe('a watched channel', () => {
  const begin = (channel = 'C1') => newFeed({ channel, account: 'acme' }, 0);
  /** The feed after some events, which are all new. */
  function tell(
    feed: ActivityFeed,
    watches: readonly Watch[],
    all: readonly ActivityEvent[],
    { failing = [], isTruncated = false }: { failing?: FailingServer[]; isTruncated?: boolean } = {},
  ): ActivityFeed {
    const from = feed.position;
    const ledger = {
      read: readAll(all, from),
      from,
      next: from + all.length,
      failing: new Map([['id-a', failing]]),
      isTruncated,
    };
    return afterEntries(feed, watches, ledger, CONTEXT);
  }

  /** What is posted of the words after a first page without any, by batch. */
  function posted(words: string, ...watches: Watch[]): string[] {
    const { pending } = tell(begin(), watches, events(...words.split(' ')));
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

  it('ends a failure that a watch of a server follows by a success there', () => {
    const watches = [{ ...watch('failures'), server: { identifier: 's1', name: 'WEB\u20131' } }];
    expect(posted('-a@web-1,web-2 +a@web-1', ...watches)).toEqual(['failure success for w-failures-all']);
  });

  it('posts nothing while it is muted, and still shows that a failure is over', () => {
    const muted: Watch = { ...watch('all'), mutedUntil: NOW + 1 };
    const failing = failingSince(NOW);
    const { pending } = tell(begin('D1'), [muted], events('+a', '-b', '+c'), { failing });
    expect(pending.map(({ episode }) => episode?.outcomes)).toMatchObject([
      [{ kind: 'success', isQuiet: true }],
    ]);
  });

  it('says that some may be missing where the ledger lacks some', () => {
    const shown = (isTruncated: boolean) =>
      JSON.stringify(tell(begin(), [watch('all')], events('+b'), { isTruncated }).pending);
    expect(shown(true)).toContain('some may be missing');
    expect(shown(false)).not.toContain('some may be missing');
    const [post] = tell(begin(), [watch('failures')], events('+b'), { isTruncated: true }).pending;
    expect(post?.root?.text).toMatch(/^Some activity of `acme` may be missing here/);
  });

  it('keeps the newest 200 events outside working hours, and says how many older ones there were', () => {
    const hours = { from: '13:00', to: '18:00', zone: 'UTC' };
    const watches = [{ ...watch('all'), hours }];
    const all = events(...Array.from({ length: 297 }, (_, n) => `+r${n}`));
    const feed = tell(begin(), watches, all);
    expect(feed.pending).toEqual([]);
    expect(feed.waiting).toMatchObject({ dropped: 97 });
    const ledger = { read: readAll(all), from: 297, next: 297, failing: new Map(), isTruncated: false };
    const open = afterEntries(feed, watches, ledger, { ...CONTEXT, now: NOW + 3_600_000 });
    expect(open.waiting.entries).toEqual([]);
    expect(open.pending).toMatchObject([{ id: 'b1 kept', what: '200 events', for: ['w-all-all'] }]);
    expect(JSON.stringify(open.pending[0]?.root)).toContain('deploy completed (200), and 97 older ones');
  });

  it('tells a failure that waited with the success that came outside working hours', () => {
    const hours = { from: '13:00', to: '18:00', zone: 'UTC' };
    const watches = [{ ...watch('failures'), hours }];
    const all = events('-a', '+a');
    const feed = tell(tell(begin(), watches, all.slice(0, 1)), watches, all.slice(1));
    expect(feed.waiting.entries).toMatchObject([{ number: 0 }]);
    const ledger = { read: readAll(all), from: 2, next: 2, failing: new Map(), isTruncated: false };
    const { pending } = afterEntries(feed, watches, ledger, { ...CONTEXT, now: NOW + 3_600_000 });
    expect(pending.map(({ episode }) => episode?.outcomes)).toMatchObject([
      [{ kind: 'failure' }, { kind: 'success' }],
    ]);
  });
});
