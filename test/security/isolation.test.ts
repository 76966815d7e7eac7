import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openBrowser } from '../support/installing.ts';
import { CHANNEL, openTestWorld, PEOPLE, type TestWorld } from '../support/test-world.ts';

/** Three workspaces whose channel and people have the same ids; what belongs to one tells itself by its name. */
const SIDES = [1, 2, 3].map((n) => ({
  n,
  team: `T0SIDE${n}`,
  account: `side-${n}`,
  email: `canary-${n}@example.com`,
  apiKey: `canary${n}key`.padEnd(40, String(n)),
  project: { name: `Canary ${n} shop`, permalink: `shop-${n}`, servers: [{ name: `canary-${n}-web` }] },
}));
type Side = (typeof SIDES)[number];

/** What somebody types; `other` is the side that they reach for. */
const LINES: ReadonlyArray<(other: Side) => string> = [
  () => 'projects',
  () => 'accounts',
  () => 'whoami',
  () => 'activity',
  () => 'activity 30d stats',
  () => 'invoices',
  () => 'hosting',
  () => 'audit',
  () => 'digest list',
  () => 'start',
  () => 'failing all',
  () => 'history',
  () => 'list all',
  () => 'invoices unpaid',
  () => 'doctor',
  () => 'use none',
  () => 'digest add daily 09:00 UTC today',
  ({ project }) => `test ${project.permalink}`,
  ({ project }) => `use ${project.permalink}`,
  ({ project }) => `last ${project.permalink}`,
  ({ project }) => `server show 1 ${project.permalink}`,
  ({ account }) => `projects --account ${account}`,
  ({ account }) => `activity --account ${account}`,
];

describe('three workspaces with the same channel and people', () => {
  let world: TestWorld;

  beforeAll(async () => {
    world = await openTestWorld({ byOauth: true });
    for (const side of SIDES) {
      const users = [{ email: side.email, apiKey: side.apiKey, role: 'admin' as const, billing: true }];
      world.service.world.addAccount({ name: side.account, users, projects: [side.project] });
      const members = Object.values(PEOPLE);
      world.slack.addWorkspace({
        id: side.team,
        name: `Side ${side.n}`,
        installed: false,
        users: members.map((id) => ({ id, name: id.toLowerCase(), is_admin: id === PEOPLE.admin })),
        channels: [{ id: CHANNEL, name: 'deploys', members }],
      });
      await openBrowser(world).install(side.team, PEOPLE.admin);
    }
    await Promise.all(SIDES.map(connect));
  });
  afterAll(() => world.stop());

  async function connect({ team, account, email, apiKey }: Side): Promise<void> {
    const ann = world.slack.as(team, PEOPLE.admin);
    await ann.command(CHANNEL, '/deckhand connect');
    await world.slack.until(() => ann.openView()?.content.callback_id === 'connect');
    await ann.submit('connect', { account, email, api_key: apiKey });
  }

  /** All that people of a workspace can see, and all that was sent there. */
  function seenIn({ team }: Side): string {
    const { slack } = world;
    const roots = slack.messages(team, CHANNEL);
    return JSON.stringify([
      slack.calls.filter((call) => call.team === team).map(({ args }) => args),
      roots,
      roots.map(({ ts }) => slack.thread(team, CHANNEL, ts)),
      Object.values(PEOPLE).map((user) => [
        slack.ephemerals(team, user),
        slack.dms(team, user),
        slack.modals(team, user),
      ]),
      slack.files(team).map(({ name, title }) => [name, title]),
    ]);
  }

  /** Until every command that was typed so far has been answered. */
  const answered = (typed: number) =>
    vi.waitFor(
      async () => {
        const metrics = await world.app.parts.metrics.text();
        const counts = [...metrics.matchAll(/^deckhand_commands_total\{[^}]*\} (\d+)/gm)];
        expect(counts.reduce((sum, [, count]) => sum + Number(count), 0)).toBeGreaterThanOrEqual(typed);
      },
      { timeout: 60_000 },
    );

  it('share nothing, whatever is typed in them at once', async () => {
    const typed = SIDES.flatMap((side, at) =>
      LINES.flatMap((line) =>
        [PEOPLE.admin, PEOPLE.member].map((who) =>
          world.slack.as(side.team, who).command(CHANNEL, `/deckhand ${line(SIDES[(at + 1) % 3] ?? side)}`),
        ),
      ),
    );
    await Promise.all(typed);
    await answered(SIDES.length + typed.length);
    for (const side of SIDES) {
      await world.slack.as(side.team, PEOPLE.admin).command(CHANNEL, '/deckhand projects');
      await world.slack.until(() => new RegExp(`Canary ${side.n} shop`).test(seenIn(side)));
      const workspace = world.app.workspaces.open(side.team);
      const kept = JSON.stringify([
        await workspace.accounts.list(),
        await workspace.runs.newest(100),
        await workspace.audit.latest(1000),
        await workspace.channels.get(CHANNEL),
      ]);
      for (const { n } of SIDES.filter((one) => one !== side)) {
        expect(seenIn(side), `of side ${n} in side ${side.n}`).not.toMatch(new RegExp(`canary-?${n}`, 'i'));
        expect(kept).not.toMatch(new RegExp(`canary-?${n}|"side-${n}`, 'i'));
      }
    }
  });

  it('have set-ups of their own: what one moves stays in the other', async () => {
    const [mover, other] = SIDES as [Side, Side];
    const channelsOf = async ({ team }: Side) =>
      (await world.app.workspaces.open(team).schedules.list('watch')).map(({ channel }) => channel);
    for (const { team, project } of [mover, other]) {
      world.slack.addChannel(team, { id: 'C0ONCALL', name: 'oncall', members: Object.values(PEOPLE) });
      for (const channel of [CHANNEL, 'C0ONCALL']) world.slack.invite(team, channel, 'bot');
      await world.slack
        .as(team, PEOPLE.admin)
        .command(CHANNEL, `/deckhand watch ${project.permalink} failures`);
    }
    await vi.waitFor(async () => expect(await channelsOf(other)).toEqual([CHANNEL]));
    await vi.waitFor(async () => expect(await channelsOf(mover)).toEqual([CHANNEL]));
    await world.slack.as(mover.team, PEOPLE.admin).command(CHANNEL, '/deckhand setup move <#C0ONCALL>');
    const isTold = () =>
      world.slack
        .messages(mover.team, 'C0ONCALL')
        .flatMap(({ ts }) => world.slack.thread(mover.team, 'C0ONCALL', ts))
        .some(({ text }) => text.includes('moved this here'));
    await world.slack.until(isTold);
    expect(await channelsOf(mover)).toEqual(['C0ONCALL']);
    expect(await channelsOf(other)).toEqual([CHANNEL]);
    expect(world.slack.messages(other.team, 'C0ONCALL')).toEqual([]);
  });

  it('ask the service with their own key alone', () => {
    // The service's public description is read without a key.
    const requests = world.service.requests.all.filter(({ path }) => !path.endsWith('/docs.json'));
    const asked = new Set(requests.map(({ account, user }) => `${account} ${user}`));
    expect(asked).toEqual(new Set(SIDES.map(({ account, email }) => `${account} ${email}`)));
  });
});
