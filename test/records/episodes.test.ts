import { describe, expect, it } from 'vitest';
import { type EpisodeRecord, type Outcome, withOutcomes } from '../../src/records/episodes.ts';
import { describeEpisode } from '../../src/views/episodes/episode.ts';

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
    ['begin with a failure', '-2', ['Storefront: deployments are failing since 12:02']],
    ['do not begin with a success', '+2', []],
    ['end with a success', '-2 -4 -9 +40', ['Storefront recovered after 38 min and 3 failures.']],
    [
      'count a failure that is noted twice once',
      '-2 -2 -4 -2',
      ['Storefront: deployments are failing, 2 failures since 12:02'],
    ],
    [
      'begin anew',
      '-2 +4 -9',
      ['Storefront recovered after 2 min and 1 failure.', 'Storefront: deployments are failing since 12:09'],
    ],
    [
      'take an earlier failure that comes late',
      '-4 -2',
      ['Storefront: deployments are failing, 2 failures since 12:02'],
    ],
    [
      'do not end with a success that comes late',
      '-2 -9 +4',
      ['Storefront: deployments are failing, 2 failures since 12:02'],
    ],
    [
      'count a failure that comes after their end',
      '-2 +9 -4',
      ['Storefront recovered after 7 min and 2 failures.'],
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
