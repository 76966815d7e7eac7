import type { SeenMessage } from '../../sandbox/slack/state/types.ts';
import { isCard } from '../support/asking.ts';
import { storedRows } from '../support/stored-text.ts';
import { ACCOUNT, PEOPLE, TEAM } from '../support/test-world.ts';
import type { Act } from './acts.ts';
import { ann, posts } from './schedule-acts.ts';
import type { Site } from './site.ts';

const MINUTE_MS = 60_000;
/** What is set up in a channel. Each is one schedule. */
const SCHEDULES = [
  'watch * failures',
  'watch storefront failures',
  'digest add weekly mon 9:00 UTC',
  'invoices notify here',
];

/** With two feeds, the quiet and the settings. */
const DOCUMENTS = SCHEDULES.length + 4;

const fromOf = (n: number): string => `C0FROM${n}X`;
const toOf = (n: number): string => `C0INTO${n}X`;

/** Moves what a channel has to another one: four schedules, an open failure, a quiet and the settings. */
export const move: Act = {
  name: 'setup move',
  isAlone: true,
  channels: (n) => [fromOf(n), toOf(n)],
  async prepare(site, n) {
    const { slack, service } = site;
    for (const id of [fromOf(n), toOf(n)]) {
      slack.addChannel(TEAM, { id, name: id.toLowerCase(), members: [PEOPLE.admin] });
      slack.invite(TEAM, id, 'bot');
    }
    const project = `shop${n}x`;
    for (const line of SCHEDULES) await say(site, n, line.replace('*', project));
    await say(site, n, `use ${project}`);
    await say(site, n, 'quiet for 1h storefront');
    service.world.addDeployment({ account: ACCOUNT, project, succeeded: false, endRef: `m${10_000 + n}` });
    await site.moveTo(site.now() + 2 * MINUTE_MS);
    await slack.until(() => findFailure(site, fromOf(n), n).length > 0, { what: 'the failure' });
  },
  ask: async (site, n) =>
    (await ann(site).command(fromOf(n), `/deckhand setup move #${toOf(n).toLowerCase()}`)).outcome === 'ok',
  async seen(site, n) {
    const isThere = (await countSetUp(site, toOf(n))) === DOCUMENTS;
    const told = [
      [fromOf(n), 'moved everything that was set up here'],
      [toOf(n), 'moved this here'],
    ] as const;
    const isTold = told.every(([channel, words]) =>
      posts(site, channel).some((text) => text.includes(words)),
    );
    return isThere && isTold && findFailure(site, toOf(n), n).length > 0 ? 1 : 0;
  },
  // One message of the failure there.
  done: (site, n) => new Set(findFailure(site, toOf(n), n).map(({ client_msg_id: name }) => name)).size,
  async isHalf(site, n) {
    const amounts = [await countSetUp(site, fromOf(n)), await countSetUp(site, toOf(n))];
    return amounts.toSorted().join() !== `0,${DOCUMENTS}`;
  },
};

async function say(site: Site, n: number, line: string): Promise<void> {
  const answers = () =>
    site.slack.ephemerals(TEAM, PEOPLE.admin).length +
    site.slack.messages(TEAM, fromOf(n)).filter((one) => !isCard(one)).length;
  const before = answers();
  await ann(site).command(fromOf(n), `/deckhand ${line}`);
  await site.slack.until(() => answers() > before, { what: line });
}

/** The messages of the failure of this time in a channel. */
function findFailure({ slack }: Site, channel: string, n: number) {
  const isMeant = ({ blocks }: SeenMessage): boolean => JSON.stringify(blocks).includes(`m${10_000 + n}`);
  return slack.messages(TEAM, channel).filter(isMeant);
}

/** The documents that name a channel, without what a replica has locked. */
async function listDocuments({ storeUrl }: Site, place: string, channel: string): Promise<string[]> {
  const rows = (await storedRows(storeUrl)).split('\n');
  const isMeant = (row: string): boolean =>
    [`${TEAM}/${place}`, channel, 'doc'].every((words) => row.includes(words));
  return rows.filter(isMeant);
}

/** Number of documents of the set-up in a channel. */
async function countSetUp(site: Site, channel: string): Promise<number> {
  const all = ['schedules/', 'feeds/watch', 'feeds/invoices', 'quiets/', 'channels/'].map((one) =>
    listDocuments(site, one, channel),
  );
  return (await Promise.all(all)).flat().length;
}
