import { openBrowser } from '../support/installing.ts';
import { storedRows } from '../support/stored-text.ts';
import { ACCOUNT, API_KEY, EMAIL, PEOPLE } from '../support/test-world.ts';
import type { Act } from './acts.ts';
import type { Site } from './site.ts';

const teamOf = (n: number): string => `T0OUT${n}X`;
/** A row of Postgres' locks: its key, who holds it, and until when. */
const LEASE = /,[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12},"[\d-]+ [\d:.+]+"\)$/;
const channelOf = (n: number): string => `C0OUT${n}X`;

/** Takes Deckhand out of a workspace that has a key, a schedule and what belongs to them. */
export const uninstall: Act = {
  name: 'uninstall',
  byOauth: true,
  async prepare(site, n) {
    const [team, channel] = [teamOf(n), channelOf(n)];
    const { slack } = site;
    const users = [{ id: PEOPLE.admin, name: 'ann', is_admin: true }];
    slack.addWorkspace({
      id: team,
      name: team,
      installed: false,
      users,
      channels: [{ id: channel, name: 'deploys', members: [PEOPLE.admin] }],
    });
    await openBrowser(site).install(team, PEOPLE.admin);
    slack.invite(team, channel, 'bot');
    await connect(site, team, channel);
    await slack.as(team, PEOPLE.admin).command(channel, '/deckhand digest add daily 9:00 UTC');
    await slack.until(() => slack.messages(team, channel).length > 0, { what: 'the digest' });
  },
  async ask({ slack }, n) {
    slack.uninstall(teamOf(n));
    return true;
  },
  /** Nothing names the workspace any more, but for the mark that it is swept again, and what a dead replica held locked. */
  async seen({ storeUrl }, n) {
    const rows = (await storedRows(storeUrl)).split('\n');
    const isLeft = (row: string): boolean => !row.includes('-/uninstalled/') && !LEASE.test(row);
    return rows.some((row) => row.includes(teamOf(n)) && isLeft(row)) ? 0 : 1;
  },
};

async function connect({ slack }: Site, team: string, channel: string): Promise<void> {
  const ann = slack.as(team, PEOPLE.admin);
  await ann.command(channel, '/deckhand connect');
  await slack.until(() => ann.openView()?.content.callback_id === 'connect', { what: 'the form' });
  await ann.submit('connect', { account: ACCOUNT, email: EMAIL, api_key: API_KEY });
  const said = () =>
    slack.ephemerals(team, PEOPLE.admin).some(({ text }) => /^Connected .+ with /.test(text));
  await slack.until(said, { what: 'the connected account' });
}
