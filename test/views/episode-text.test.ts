import { describe, expect, it } from 'vitest';
import { describeMessage } from '../../src/core/message-text.ts';
import type { Episode, ShownSubject } from '../../src/records/episodes.ts';
import { episodeText } from '../../src/views/episodes/describe-episode.ts';

const AT = Date.parse('2026-03-02T10:12:00Z');
const DEPLOYMENTS: ShownSubject = {
  kind: 'deployments',
  channel: 'C1',
  account: 'acme',
  project: 'p1',
  name: 'Storefront',
};
const REACHABILITY: ShownSubject = { ...DEPLOYMENTS, kind: 'reachability' };
const REFUSED = 'Connection refused';
const down = (title: string, message: string | null = REFUSED) => ({
  key: `server:${title}`,
  title,
  message,
});

function text(subject: ShownSubject, episode: Partial<Episode>): string {
  const base = {
    id: 'e1',
    since: AT,
    failures: 1,
    first: [],
    latest: [],
    latestAt: AT,
    newsAt: AT,
    replies: [],
  };
  const whole = episodeText(subject, { ...base, ...episode });
  return describeMessage({ text: whole, blocks: [], isTextWhole: true }).replace(
    /<!date[^|]*\|2026-03-02 ([\d:]+) UTC>/g,
    '$1',
  );
}

describe('the text of a failure, as a phone shows it', () => {
  const words = '`d4fc766` by Marta Reis';
  const servers = ['web-1', 'web-2'];
  const line = 'web-1 cannot be reached: Connection refused';
  const diagnosis = { at: AT, line, items: [down('web-1')] };
  const recovered = { kind: 'recovered', at: AT + 38 * 60_000, words: '`4bcef3e` by Grace Park' } as const;
  const closed = { kind: 'closed', at: AT } as const;

  it.each<[string, ShownSubject, Partial<Episode>, string]>([
    [
      'the first failed deployment',
      DEPLOYMENTS,
      { words, servers, diagnosis, owner: 'U1' },
      `Storefront: the deployment to web-1 and web-2 failed at 10:12. d4fc766 by Marta Reis on web-1 and web-2. ${line}. <@U1> is on it.`,
    ],
    [
      'the third, in one of several accounts',
      { ...DEPLOYMENTS, isAccountShown: true },
      { failures: 3, words },
      'Storefront in acme has been failing since 10:12: 3 deployments failed. d4fc766 by Marta Reis.',
    ],
    [
      'its end',
      DEPLOYMENTS,
      { failures: 3, owner: 'U1', ending: recovered, words, diagnosis },
      'Storefront recovered after 38 min: 3 deployments failed, then 4bcef3e by Grace Park succeeded. <@U1> was on it.',
    ],
    [
      'what a person closed',
      DEPLOYMENTS,
      { ending: { ...closed, requestedBy: 'U1' } },
      'Failure of Storefront closed by <@U1>, not mended. 1 deployment failed.',
    ],
    [
      'what is followed no more',
      REACHABILITY,
      { ending: { ...closed, why: 'unfollowed' } },
      'Failure of Storefront closed: it is no longer followed here.',
    ],
    [
      'servers that cannot be reached',
      REACHABILITY,
      { items: [down('web_1'), down('web-2', 'No route to host.'), down('web-3'), down('web-4')] },
      'Storefront: web_1, web-2 and 2 others are unreachable since 10:12. web_1: Connection refused, web-2: No route to host, web-3: Connection refused, web-4: Connection refused.',
    ],
    [
      'one of them, with its reason',
      REACHABILITY,
      { items: [down('web-2')] },
      'Storefront: web-2 is unreachable since 10:12. Connection refused.',
    ],
    [
      'a server that can be reached again',
      REACHABILITY,
      { ending: recovered, items: [], allItems: [down('web-2', 'No route to host')], failures: 7 },
      'Storefront recovered. web-2 was unreachable for 38 min: No route to host.',
    ],
  ])('is whole: %s', (_, subject, episode, expected) => {
    expect(text(subject, episode)).toBe(expected);
  });

  it('has no formatting, and at most 1,500 characters', () => {
    const items = Array.from({ length: 30 }, (_, at) => down(`*web* \`${at}\``, 'x'.repeat(200)));
    expect(text(REACHABILITY, { items }).length).toBeLessThanOrEqual(1_500);
    expect(text(DEPLOYMENTS, { words: '`a*b` by Kim' }).replace(/<[^>]*>/g, '')).not.toMatch(/[*`]/);
  });
});
