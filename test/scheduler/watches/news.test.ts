import { describe, expect, it } from 'vitest';
import { type Watch, WatchedChannel } from '../../../src/records/watches.ts';
import { afterPage, fromPage, newChannel } from '../../../src/scheduler/watches/feed.ts';
import { follow, select } from '../../../src/scheduler/watches/news.ts';
import type { ActivityEvent } from '../../../src/service/activity.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const CONTEXT = { now: NOW, batch: 'b1', word: '/deckhand', mentions: new Map<string, string>() };

/** `+a` is a deployment of project a that went well, `-a` one that failed, any other word an event of project a. */
function events(...words: string[]): ActivityEvent[] {
  return words.map((word, at) => {
    const kind = { '+': 'deploy_completed', '-': 'deploy_failed' }[word[0] ?? ''];
    const project = kind === undefined ? 'a' : word.slice(1);
    return {
      event: kind ?? word,
      properties: { end_ref: String(at), servers: [] },
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
    id,
    requestId: id,
    mode,
    setUpBy: 'U1',
    setUpAt: 0,
    state: { kind: 'active' },
    ...(of ? { project: of } : {}),
  };
}

function turnsOf(...words: string[]): string[] {
  const all = events(...words);
  const { turns } = follow({}, all);
  return all.flatMap((event, at) => (turns.get(event) ? [`${words[at]} ${turns.get(event)}`] : []));
}

describe('transitions', () => {
  it.each<[string[], string[]]>([
    [['+a', '+a'], []],
    [['-a', '-a', '-a'], ['-a started failing']],
    [
      ['-a', '+a', '-a'],
      ['-a started failing', '+a recovered', '-a started failing'],
    ],
    [
      ['-a', '-b', '+a'],
      ['-a started failing', '-b started failing', '+a recovered'],
    ],
    [['-a', 'deploy_cancelled', 'deploy_started', '-a'], ['-a started failing']],
    [
      ['test_failed', 'deploy_completed'],
      ['test_failed started failing', 'deploy_completed recovered'],
    ],
  ])('of %j are %j', (words, expected) => {
    expect(turnsOf(...words)).toEqual(expected);
  });

  it('are not made by an event that comes late', () => {
    const [late, then] = events('-a', '+a');
    if (late === undefined || then === undefined) throw new TypeError('two events');
    const { standing } = follow({}, [then]);
    expect(follow(standing, [late]).turns.size).toBe(0);
  });

  it('go on from how a project stood before', () => {
    const { standing } = follow({}, events('-a'));
    expect([...follow(JSON.parse(JSON.stringify(standing)), events('+a')).turns.values()]).toEqual([
      'recovered',
    ]);
  });
});

describe('what is told', () => {
  const all = events('+a', '-a', '-b', 'server_created');
  const told = (...watches: Watch[]) => {
    const found = select(watches, all, follow({}, all).turns);
    return {
      refs: found.news.map(({ event }) => event.properties.end_ref).join(''),
      for: found.for.map(({ id }) => id),
    };
  };

  it.each<[Watch[], string]>([
    [[watch('all')], '0123'],
    [[watch('all', 'b')], '2'],
    [[watch('failures')], '12'],
    [[watch('failures', 'a')], '1'],
    [[watch('transitions', 'b')], '2'],
    [[watch('failures', 'a'), watch('transitions')], '12'],
    [[watch('all'), watch('failures'), watch('transitions')], '0123'],
    [[], ''],
  ])('%# goes by mode and project, each event once', (watches, refs) => {
    expect(told(...watches).refs).toBe(refs);
  });

  it('names the watches that it is for', () => {
    expect(told(watch('failures', 'b'), watch('all', 'c'), watch('transitions')).for.toSorted()).toEqual([
      'w-failures-b',
      'w-transitions-all',
    ]);
  });
});

describe('a watched channel', () => {
  const page = (...marks: string[]) => ({ events: events(...marks).toReversed() });

  it('holds nothing of a first page, and then what its active watches are for', () => {
    const first = fromPage({ ...newChannel('C1', 'acme'), watches: [watch('all')] }, page('+a'), NOW);
    expect(first.pending).toEqual([]);
    expect(afterPage(first, page('+a'), CONTEXT).pending).toEqual([]);
    const next = afterPage(first, page('+a', '-a'), CONTEXT);
    expect(next.pending).toMatchObject([{ id: 'b1', what: '1 event', for: ['w-all-all'] }]);
    expect(afterPage(next, page('+a', '-a'), CONTEXT).pending).toHaveLength(1);
  });

  it('says that some may be missing where a full page holds one event that cannot be read', () => {
    const channel = { ...newChannel('C1', 'acme'), watches: [watch('all')] };
    const first = fromPage(channel, page('+a'), NOW);
    const { events: many } = page(...Array.from({ length: 99 }, (_, at) => `+b${at}`));
    const [batch] = afterPage(first, { events: many, unread: 1 }, CONTEXT).pending;
    expect(JSON.stringify(batch)).toContain('some may be missing');
    const [whole] = afterPage(first, { events: many }, CONTEXT).pending;
    expect(JSON.stringify(whole)).not.toContain('some may be missing');
  });

  it('of an earlier release is read as one that has kept nothing', () => {
    const { kept: _, ...old } = { ...newChannel('C1', 'acme'), watches: [watch('all')] };
    expect(WatchedChannel.parse(JSON.parse(JSON.stringify(old)))).toEqual({
      ...old,
      kept: { lines: [], dropped: 0, isCut: false },
    });
  });

  it('keeps the newest 200 events outside working hours, and says how many older ones there were', () => {
    const hours = { from: '13:00', to: '18:00', zone: 'UTC' };
    let channel = fromPage(
      { ...newChannel('C1', 'acme'), watches: [{ ...watch('all'), hours }] },
      page(),
      NOW,
    );
    for (let at = 0; at < 3; at += 1) {
      const words = Array.from({ length: 99 }, (_, n) => `+r${at}-${n}`);
      const { events: found } = page(...words);
      const moved = found.map((event) => ({ ...event, created_at: later(event.created_at, at * 600) }));
      channel = afterPage(channel, { events: moved }, CONTEXT);
    }
    expect(channel.pending).toEqual([]);
    expect(channel.kept).toMatchObject({ dropped: 97 });
    const open = afterPage(channel, page(), { ...CONTEXT, now: NOW + 3_600_000 });
    expect(open.kept.lines).toEqual([]);
    expect(open.pending).toMatchObject([{ id: 'b1 kept', what: '200 events', for: ['w-all-all'] }]);
    expect(JSON.stringify(open.pending[0]?.root)).toContain('200 deploy completed, and 97 older ones');
  });
});

const later = (at: string, seconds: number) => new Date(Date.parse(at) + seconds * 1000).toISOString();
