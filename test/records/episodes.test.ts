import { describe, expect, it } from 'vitest';
import type { EpisodeRecord, Outcome } from '../../src/records/episodes.ts';
import { withOutcomes } from '../../src/records/outcomes.ts';
import { describeEpisode } from '../../src/views/episodes/describe-episode.ts';

const NOON = Date.parse('2026-03-02T12:00:00Z');
const SUBJECT = {
  kind: 'deployments',
  channel: 'C1',
  account: 'acme',
  project: 'p1',
  name: 'Storefront',
} as const;
const NONE: EpisodeRecord = { subject: SUBJECT, counted: [], episodes: [] };

/** `-5` failed five minutes after noon, `+9` passed nine minutes after. */
function outcome(word: string): Outcome {
  const kind = word.startsWith('-') ? 'failure' : 'success';
  return { kind, id: word, at: NOON + Number(word.slice(1)) * 60_000, lines: [word] };
}

const AGAIN = (ordinal: string) => `Storefront is failing again, the ${ordinal} time within an hour`;

function recordAfter(words: string, record = NONE): EpisodeRecord {
  return withOutcomes(record, words.split(' ').map(outcome), NOON + 3_600_000);
}

const shown = (record: EpisodeRecord): string[] =>
  record.episodes.map((episode) => {
    const { title, more } = describeEpisode(record.subject, episode);
    return `${title}${more}`.replace(/<!date.*\|2026-03-02 ([\d:]+) UTC>/, '$1');
  });

describe('the episodes of a project', () => {
  it.each<[string, string, string[]]>([
    ['begin with a failure', '-2', ['Storefront: the deployment failed at 12:02']],
    ['do not begin with a success', '+2', []],
    ['end with a success', '-2 -4 -9 +40', ['Storefront recovered after 38 min: 3 deployments failed.']],
    [
      'count a failure that is noted twice once',
      '-2 -2 -4 -2',
      ['Storefront has been failing since 12:02: 2 deployments failed'],
    ],
    [
      'begin anew half an hour after a recovery',
      '-2 +4 -35',
      [
        'Storefront recovered after 2 min: 1 deployment failed.',
        'Storefront: the deployment failed at 12:35',
      ],
    ],
    ['go on if they fail again before', '-2 +4 -9', [`${AGAIN('second')}: the deployment failed at 12:09`]],
    [
      'count the failures since they went on',
      '-2 -3 +4 -9 +12 -14 -16',
      [`${AGAIN('third')}: 2 deployments failed since 12:14`],
    ],
    [
      'tell how often they failed',
      '-2 +4 -9 +12',
      ['Storefront recovered after 3 min: 1 deployment failed. It failed 2 times within an hour.'],
    ],
    [
      'do not count what is more than an hour ago',
      '-2 +50 -70',
      ['Storefront is failing again: the deployment failed at 13:10'],
    ],
    [
      'take an earlier failure that comes late',
      '-4 -2',
      ['Storefront has been failing since 12:02: 2 deployments failed'],
    ],
    [
      'do not end with a success that comes late',
      '-2 -9 +4',
      ['Storefront has been failing since 12:02: 2 deployments failed'],
    ],
    [
      'count a failure that comes after their end',
      '-2 +9 -4',
      ['Storefront recovered after 7 min: 2 deployments failed.'],
    ],
  ])('%s', (_, words, expected) => {
    expect(shown(recordAfter(words))).toEqual(expected);
  });

  it('stay the same where everything is noted again after a kill', () => {
    const words = '-1 -2 +4 -4 +6 -7';
    const record = recordAfter(words);
    expect(recordAfter(words, JSON.parse(JSON.stringify(record)))).toEqual(record);
  });
});
