import { setTimeout as wait } from 'node:timers/promises';
import { ACCOUNT, PEOPLE, TEAM } from '../support/test-world.ts';
import type { Random } from './storm.ts';
import { ACTIVITY, BILLING, CHANNELS, PROJECTS, type World } from './world.ts';

/** A line that somebody typed. Everybody types one line, so that their id tells what came of it. */
export interface Ask {
  kind: 'read' | 'use' | 'test' | 'digest';
  user: string;
  channel: string;
  line: string;
  project?: (typeof PROJECTS)[number];
  /** This machine's time, in milliseconds. */
  at: number;
  /** Slack's id of the request, by which Deckhand knows it. */
  request: string;
  isAcked: boolean;
}

/** A deployment or an invoice at the service. */
export interface Happening {
  words: string;
  /** The line that tells of it in a channel, beside which others may name it: the commit, or the last good deployment. */
  line: RegExp;
  channel: string;
}

const READS = ['whoami', 'projects', 'audit 5', 'help', 'accounts', 'activity today'] as const;
export const DIGEST_LINE = 'digest add cron:"* * * * *" UTC today';
const MOST_DIGESTS = 4;
/** Five at once would be an outage, whose message names projects, not deployments. */
const MAY_FAIL = new Set(PROJECTS.slice(0, 4).map(({ permalink }) => permalink));

/** A watch and invoice notices, which go on by themselves. */
export async function prepare({ slack }: World): Promise<void> {
  const ann = slack.as(TEAM, PEOPLE.admin);
  for (const [channel, line] of [
    [ACTIVITY, 'watch all'],
    [BILLING, 'invoices notify here'],
  ] as const) {
    await ann.command(channel, `/deckhand ${line}`);
    await slack.until(() => slack.messages(TEAM, channel).length > 0, { what: line });
  }
}

/** People ask and things happen until it is told to end; that resolves when every request has its ack. */
export function startTraffic(
  world: World,
  random: Random,
  { askMs, happeningMs }: { askMs: number; happeningMs: number },
) {
  const asks: Ask[] = [];
  const happenings: Happening[] = [];
  const open: Array<Promise<void>> = [];
  let isOver = false;
  async function repeat(everyMs: number, act: () => void): Promise<void> {
    while (!isOver) {
      await wait(everyMs * random.between(0.5, 1.5));
      act();
    }
  }
  const going = [
    repeat(askMs, () => {
      const ask = chooseAsk(asks, random);
      asks.push(ask);
      open.push(type(world, ask));
    }),
    repeat(happeningMs, () => happenings.push(happen(world, random, happenings.length))),
  ];
  return {
    asks,
    happenings,
    async end() {
      isOver = true;
      await Promise.all(going);
      await Promise.all(open);
    },
  };
}

function chooseAsk(before: readonly Ask[], random: Random): Ask {
  const project = random.pick(PROJECTS);
  const ask = {
    user: `U0P${before.length}`,
    channel: random.pick(CHANNELS),
    at: Date.now(),
    request: '',
    isAcked: false,
  };
  const chance = random.next();
  const digests = before.filter(({ kind }) => kind === 'digest').length;
  if (digests === 0 || (chance < 0.03 && digests < MOST_DIGESTS))
    return { ...ask, kind: 'digest', line: DIGEST_LINE };
  if (chance < 0.15) return { ...ask, kind: 'use', line: `use ${project.permalink}` };
  if (chance < 0.6) return { ...ask, kind: 'test', line: `test ${project.permalink}`, project };
  return { ...ask, kind: 'read', line: random.pick(READS) };
}

async function type({ slack, route }: World, ask: Ask): Promise<void> {
  addPerson(slack, ask.user);
  route();
  const { outcome, delivery } = await slack.as(TEAM, ask.user).command(ask.channel, `/deckhand ${ask.line}`);
  ask.request = String(delivery?.payload.trigger_id);
  ask.isAcked = outcome === 'ok';
}

/** Somebody who may do everything that Ann may. */
function addPerson(slack: World['slack'], id: string): void {
  const { people, channels } = slack.workspace(TEAM);
  const ann = people.get(PEOPLE.admin);
  if (ann === undefined) throw new Error('Ann is gone');
  people.set(id, { ...ann, id, name: id.toLowerCase(), real_name: id });
  for (const channel of channels.values()) if (channel.kind !== 'im') channel.members.add(id);
}

function happen({ service }: World, random: Random, count: number): Happening {
  if (random.next() < 0.2) {
    const { number } = service.world.addInvoice({ account: ACCOUNT });
    return { words: `invoice ${number}`, line: new RegExp(`New invoice \`${number}\``), channel: BILLING };
  }
  // As much of a revision as Deckhand shows.
  const endRef = `r${1_000 + count}x`;
  const project = random.pick(PROJECTS).permalink;
  const succeeded = random.next() < 0.5 || !MAY_FAIL.has(project);
  service.world.addDeployment({ account: ACCOUNT, project, endRef, succeeded });
  return { words: endRef, line: new RegExp(`(?:deploy \\w+  |>: )\`${endRef}\``), channel: ACTIVITY };
}
