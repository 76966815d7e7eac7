import type { SimulatedService } from '../../sandbox/service/server.ts';
import type { LocalSlack } from '../../sandbox/slack/local-slack.ts';
import { PEOPLE } from '../support/test-world.ts';

type NewProject = NonNullable<Parameters<SimulatedService['world']['addAccount']>[0]['projects']>[number];

/** A workspace with an account of its own. Everything that belongs to it has its word in its name. */
export interface Side {
  word: string;
  team: string;
  account: string;
  email: string;
  apiKey: string;
  channels: readonly [string, ...string[]];
  billing: string;
  activity: string;
  projects: readonly [ChaosProject, ...ChaosProject[]];
}

function hasFailedRuns(at: number): boolean {
  return at % 5 === 4;
}

function hasBadServer(at: number): boolean {
  return at % 3 === 1;
}

function serverId(permalink: string, at: number): string {
  return `${permalink}-web-${at}`;
}

/** A project whose tests always end alike. */
export interface ChaosProject {
  name: string;
  permalink: string;
  /** What the root message says in the end, after the target's name. */
  words: string;
  /** What the thread tells, by what Deckhand names each piece. */
  news: ReadonlyMap<string, string>;
}

const PROJECTS = 10;
const RUN_MS = 2_500;

export const SIDES = [sideOf('north'), sideOf('south')] as const;

function sideOf(word: string): Side {
  const id = word.toUpperCase();
  const [first = projectOf(word, 0), ...others] = Array.from({ length: PROJECTS }, (_, at) =>
    projectOf(word, at),
  );
  return {
    word,
    team: `T0${id}`,
    account: `${word}-harbour`,
    email: `ann@${word}.example`,
    apiKey: `${word}Key`.padEnd(40, '0'),
    channels: ['C0ONE', 'C0TWO', 'C0THREE', 'C0FOUR'],
    billing: 'C0BILLING',
    activity: 'C0ACTIVITY',
    projects: [first, ...others],
  };
}

/** Some are well, some have a server that cannot be reached, some runs fail without results. */
function projectOf(word: string, at: number): ChaosProject {
  const name = `${word} shop ${at}`;
  const permalink = `${word}-shop-${at}`;
  if (hasFailedRuns(at)) {
    return { name, permalink, words: 'the test failed without results', news: new Map() };
  }
  const isWell = !hasBadServer(at);
  if (isWell) return { name, permalink, words: 'all 2 servers are reachable', news: new Map() };
  const key = `server:${serverId(permalink, 2)}`;
  const news = new Map([[key, `:x: *${word} web-2* is unreachable\nConnection refused`]]);
  return { name, permalink, words: '1 of 2 servers is unreachable', news };
}

/** Makes the account and the workspace; nothing is installed yet. */
export function addSide(side: Side, slack: LocalSlack, service: SimulatedService): void {
  const { account, apiKey, email, projects, team, word } = side;
  const users = [{ email, apiKey, role: 'admin' as const, billing: true }];
  service.world.addAccount({
    name: account,
    users,
    projects: projects.map((_, at) => serverProject(side, at)),
  });
  for (const [at, { permalink }] of projects.entries())
    service.world.setRunOutcome({
      account,
      project: permalink,
      status: hasFailedRuns(at) ? 'failed' : 'completed',
      durationMs: RUN_MS,
    });
  service.world.addDeployment({ account, project: projects[0].permalink, succeeded: false });
  slack.addWorkspace({
    id: team,
    name: `The ${word}`,
    installed: false,
    users: [{ id: PEOPLE.admin, name: 'ann', is_admin: true }],
    channels: [...side.channels, side.billing, side.activity].map((id) => ({ id, name: id.toLowerCase() })),
  });
}

function serverProject({ projects, word }: Side, at: number): NewProject {
  const { name = '', permalink = '' } = projects[at] ?? {};
  const outcome = { status: hasBadServer(at) ? ('error' as const) : ('ok' as const) };
  const server = (at: number) => ({ name: `${word} web-${at}`, identifier: serverId(permalink, at) });
  return { name, permalink, servers: [server(1), { ...server(2), outcome }] };
}

/** Somebody new, who may do everything; whoever asks only once can be told apart by their id. */
export function addPerson({ team }: Side, slack: LocalSlack, id: string): void {
  const workspace = slack.workspace(team);
  const ann = workspace.people.get(PEOPLE.admin);
  if (ann === undefined) throw new Error('Ann is gone');
  workspace.people.set(id, { ...ann, id, name: id.toLowerCase(), real_name: id });
  for (const channel of workspace.channels.values()) if (channel.kind !== 'im') channel.members.add(id);
}
