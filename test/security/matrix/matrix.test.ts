import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allCommands } from '../../../src/commands/registry.ts';
import type { Role } from '../../../src/core/choices.ts';
import { patientClock } from '../../support/faults.ts';
import { byLength } from '../../support/length.ts';
import {
  ACCOUNT,
  CHANNEL,
  PEOPLE as NAMED,
  openTestWorld,
  TEAM,
  type TestWorld,
} from '../../support/test-world.ts';
import { allDoors, type Cell, type Door, startAnswers, watchSpans } from './doors.ts';
import { ROWS } from './rows.ts';

/** Who comes, and the roles that they hold. */
const PEOPLE: Readonly<Record<string, { user: string; holds: readonly Role[] }>> = {
  stranger: { user: 'U0FAR', holds: [] },
  guest: { user: 'U0GUEST', holds: [] },
  member: { user: NAMED.member, holds: ['member'] },
  operator: { user: 'U0OPS', holds: ['member', 'operator'] },
  billing: { user: NAMED.billing, holds: ['member', 'billing'] },
  admin: { user: NAMED.admin, holds: ['member', 'operator', 'billing', 'admin'] },
};
const ALLOWING = CHANNEL;
const CLOSED = 'C0BILLING';
/** In the closed channel the short form has one of each who is refused there for another reason. */
const IN_CLOSED = byLength(['guest', 'member', 'admin'], Object.keys(PEOPLE));
const channelsOf = (who: string) => (IN_CLOSED.includes(who) ? [ALLOWING, CLOSED] : [ALLOWING]);
const ALWAYS_ALLOWED = ['help', 'start', 'roles'];

const NO_MEMBER: Readonly<Record<string, string>> = {
  stranger: 'Only people of the workspace that installed Deckhand',
  guest: 'Single-channel guests cannot use Deckhand',
};
const NO_ROLE: Readonly<Record<Role, string>> = {
  member: 'Only members can use',
  operator: 'Only operators can ',
  billing: 'Only people with the billing role can see invoices',
  admin: 'Only admins can use',
};
const SWITCHED_OFF = 'switched off in ';
const REFUSALS = [...Object.values(NO_MEMBER), ...Object.values(NO_ROLE), SWITCHED_OFF];

/** What a door has to say: a sentence that refuses, or undefined where it opens. */
function expected(door: Door, role: Role, who: string, channel: string): string | undefined {
  const { isEverywhere, hasNoPerson, command } = door;
  const isOff = channel === CLOSED && !isEverywhere && !ALWAYS_ALLOWED.includes(command);
  const off = isOff ? SWITCHED_OFF : undefined;
  if (hasNoPerson) return off;
  return NO_MEMBER[who] ?? (PEOPLE[who]?.holds.includes(role) ? off : NO_ROLE[role]);
}

const answers = await startAnswers();
const doors = allDoors(answers.url);

describe('the matrix of who may do what, where', () => {
  const spans = watchSpans();
  let world: TestWorld;
  beforeAll(async () => {
    const projects = Object.keys(PEOPLE).map((who) => ({
      name: who,
      permalink: who,
      servers: [{ name: 'web' }],
    }));
    const storefront = { name: 'Storefront', permalink: 'storefront', servers: [{ name: 'web-1' }] };
    world = await openTestWorld({
      connected: true,
      projects: [storefront, ...projects],
      tracing: spans.tracing,
      // Or a form would be answered later than by its ack on a loaded machine.
      clock: patientClock,
      slackApp: { unfurlDomains: ['127.0.0.1'] },
      env: {
        MCP: 'on',
        PUBLIC_URL: 'https://deckhand.test',
        SERVICE_OAUTH_CLIENT_ID: 'deckhand',
        SERVICE_OAUTH_CLIENT_SECRET: 'secret',
        SLACK_RESPONSE_HOSTS: answers.host,
        LOG_LEVEL: 'warn',
      },
    });
    const { slack, app, service } = world;
    Object.assign(service.world.state.accounts.get(ACCOUNT)?.users[0] ?? {}, { billing: true });
    service.world.addInvoice({ account: ACCOUNT });
    slack.addPerson(TEAM, { id: 'U0FAR', team_id: 'T0FAR', is_admin: true });
    slack.addPerson(TEAM, { id: 'U0GUEST', guest: 'single' });
    slack.addPerson(TEAM, { id: 'U0OPS' });
    for (const channel of [ALLOWING, CLOSED])
      for (const who of ['U0FAR', 'U0GUEST', 'U0OPS', 'bot']) slack.invite(TEAM, channel, who);
    const { roles, channels, integrations } = app.workspaces.open(TEAM);
    // What was given to strangers and guests does not count.
    const given = (user: string) => [user, 'U0FAR', 'U0GUEST'];
    const [admin, operator, billing] = [given(NAMED.admin), given('U0OPS'), given(NAMED.billing)];
    await roles.set({ admin, operator, billing, changedBy: NAMED.admin, changedAt: 0 });
    await channels.change(CLOSED, () => ({ commands: [] }));
    const project = { permalink: 'storefront', name: 'Storefront' };
    const kept = { hookType: 'webhook', name: 'Hook', project };
    await integrations.remember({ ...kept, account: ACCOUNT, flags: [], savedAt: 0 });
  });
  afterAll(async () => {
    await world.stop();
    answers.stop();
  });

  it('has a row for every door, and no other', () => {
    expect(
      doors.map(({ name }) => name).toSorted(),
      'Add the way in to the role that opens it in test/security/matrix/rows.ts, or take it out there.',
    ).toEqual(Object.keys(ROWS).toSorted());
  });

  let serial = 0;
  let refused = 0;
  const cellsOf = (door: Door) =>
    Object.entries(PEOPLE).flatMap(([who, { user }]) =>
      channelsOf(who).map((channel) => {
        serial += 1;
        const cell: Cell = { id: `cell-${serial}`, ts: `${serial}.1`, user, channel, project: who };
        return { door, cell, who, is: `${who} in ${channel}` };
      }),
    );

  it.each(doors.map((door) => [door.name, door] as const))('%s', async (name, door) => {
    const cells = cellsOf(door);
    const before = door.span === undefined ? 0 : spans.count(door.span);
    const said = await Promise.all(cells.map(({ cell }) => door.send(world, cell)));
    if (door.span !== undefined) await spans.until(door.span, before + cells.length);
    const seen = cells.map(({ cell, is }, at) => {
      const text = said[at] + answers.to(cell.id) + (door.saidIn?.(world, cell) ?? '');
      const refusal = REFUSALS.find((sentence) => text.includes(sentence));
      return `${is}: ${door.isSilent ? text !== '' : (refusal ?? true)}`;
    });
    const wanted = cells.map(({ cell, who, is }) => {
      const refusal = expected(door, ROWS[name] ?? 'admin', who, cell.channel);
      return `${is}: ${door.isSilent ? refusal === undefined : (refusal ?? true)}`;
    });
    expect(seen).toEqual(wanted);
    if (!UNWRITTEN.test(name)) refused += wanted.filter((line) => !line.endsWith('true')).length;
  });

  it('leaves each refusal in the audit log', async () => {
    const all = await world.app.workspaces.open(TEAM).audit.latest(5_000);
    expect(all.filter(({ entry }) => entry.result === 'refused')).toHaveLength(refused);
  });

  it('met nothing that is a fault of ours, although nothing of it was asked as Slack would', () => {
    expect(world.logs.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });

  it('never meets a door that asks for less than its command, but for looking', () => {
    const rank = { member: 0, billing: 1, operator: 1, admin: 2 } as const;
    const needed = new Map(allCommands().map(({ name, role }) => [name, role]));
    const weaker = doors
      .filter(({ name, command }) => rank[ROWS[name] ?? 'admin'] < rank[needed.get(command) ?? 'member'])
      .map(({ name }) => name);
    expect(weaker, 'Raise its `role` to that of its command. If it shows nothing, add it to LOOKS.').toEqual(
      LOOKS,
    );
  });
});

/** What is asked with each letter or look, and changes nothing. */
const UNWRITTEN = /^(?:menu|unfurl|home)/;

/** Menus that other forms use too, and a list that anybody may read. */
const LOOKS = ['action setup:all', 'menu zone', 'menu project'];
