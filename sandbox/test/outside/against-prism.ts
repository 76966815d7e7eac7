import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { z } from 'zod';
import { ann } from '../../../test/commands/integrations/support.ts';
import { ask } from '../../../test/support/asking.ts';
import {
  ACCOUNT,
  API_KEY,
  CHANNEL,
  EMAIL,
  openTestWorld,
  TEAM,
  type TestWorld,
} from '../../../test/support/test-world.ts';
import { readDocument } from './document.ts';
import { type Met, type PlayedService, playDocument } from './prism.ts';
import { type Line, report } from './report.ts';

const BAD = /answered unexpectedly|unexpected error|undefined|NaN|\[object/;

const NamedSchema = z.looseObject({ permalink: z.string().optional(), identifier: z.string().optional() });
const ProjectsSchema = z.union([z.array(NamedSchema), z.object({ projects: z.array(NamedSchema) })]);

/** Deckhand against a service that Prism plays: once with the document's examples, then with drawn answers. */
export async function talkToPrism(path: string | undefined, rounds: number): Promise<Line[]> {
  const folder = await mkdtemp(join(tmpdir(), 'deckhand-outside-'));
  const service = await playDocument(await readDocument(path, folder));
  const all: Line[] = [];
  try {
    for (let round = 0; round <= rounds; round += 1) {
      service.play(round === 0 ? 'static' : 'dynamic');
      const lines = await playRound(service);
      report(round === 0 ? 'Prism, static' : `Prism, dynamic, round ${round}`, lines);
      all.push(...lines);
    }
  } finally {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
  return all;
}

async function playRound(service: PlayedService): Promise<Line[]> {
  const { SERVICE_HOOK_TYPES } = process.env;
  const world = await openTestWorld({
    env: {
      SERVICE_BASE_URL: service.baseUrl,
      SERVICE_SIGNUP_URL: '',
      // A played run never ends by itself.
      FOLLOW_TIMEOUT_MINUTES: '0.02',
      ...(SERVICE_HOOK_TYPES === undefined ? {} : { SERVICE_HOOK_TYPES }),
    },
  });
  const lines: Line[] = [];
  async function step(what: string, act: () => Promise<string>): Promise<void> {
    const before = service.met.length;
    const said = await act().catch(
      (error: unknown) => `${BAD.test(String(error)) ? '' : 'unexpected error: '}${error}`,
    );
    lines.push(judge(what, said, service.met.slice(before)));
  }
  try {
    await step('connect', async () => {
      await world.connect();
      return 'connected';
    });
    for (const words of await commands(service))
      await step(words, () => ask(world, `/deckhand ${words}`, 'admin'));
    const project = await projectOf(service);
    if (project === undefined) return lines;
    await step(`test ${project}`, () => run(world, project));
    await step('integration add, http_req', () => addIntegration(world, project));
  } finally {
    await world.stop();
  }
  return lines;
}

function judge(what: string, said: string, met: readonly Met[]): Line {
  const refused = met.find(({ status }) => status >= 400);
  const where = refused && `${refused.method} ${refused.path}: ${refused.refusal ?? refused.status}`;
  if (refused?.refusal?.startsWith('NO_')) return { what, outcome: 'absent', detail: `${where}` };
  if (refused !== undefined) return { what, outcome: 'FAILED', detail: `${where} ${refused.detail}` };
  if (BAD.test(said))
    return { what, outcome: 'FAILED', detail: `${said.slice(0, 160)} ${met.at(-1)?.detail}` };
  return { what, outcome: 'ok', detail: said.slice(0, 100).replaceAll('\n', ' ') };
}

/** How the first project of the played list is called. */
async function projectOf(service: PlayedService): Promise<string | undefined> {
  const { data } = ProjectsSchema.safeParse(await look(service, 'projects.json'));
  const list = Array.isArray(data) ? data : (data?.projects ?? []);
  const first = list.at(0);
  const name = first?.permalink || first?.identifier;
  return name === undefined ? undefined : `"${name}"`;
}

async function look({ baseUrl }: PlayedService, path: string): Promise<unknown> {
  const authorization = `Basic ${Buffer.from(`${EMAIL}:${API_KEY}`).toString('base64')}`;
  const address = `${baseUrl.replace('{account}', ACCOUNT)}/${path}`;
  const answer = await fetch(address, { headers: { authorization, accept: 'application/json' } });
  return answer.json().catch(() => undefined);
}

async function commands(service: PlayedService): Promise<string[]> {
  const project = await projectOf(service);
  return [
    'projects',
    'whoami',
    'doctor',
    'accounts',
    ...(project === undefined ? [] : [`server show web-1 ${project}`, `build main ${project}`]),
    'hosting',
    'hosting show anchor',
    'hosting sync anchor',
    'hosting regions',
    'hosting sizes',
    'beta',
    'activity',
    'activity stats',
    'invoices',
    'invoices 1001',
  ];
}

async function run(world: TestWorld, project: string): Promise<string> {
  const root = (): string => world.slack.messages(TEAM, CHANNEL).at(-1)?.text ?? '';
  await world.as('admin').command(CHANNEL, `/deckhand test ${project}`);
  const isOver = (): boolean => /reachable|completed|failed|stopped|no longer|no results/i.test(root());
  await world.slack.until(isOver, { what: `the end of the run of ${project}` });
  return `${root()} ${JSON.stringify(world.slack.messages(TEAM, CHANNEL).at(-1)?.blocks).slice(0, 300)}`;
}

async function addIntegration(world: TestWorld, project: string): Promise<string> {
  const me = ann(world);
  const before = me.told().length;
  await me.open(`integration add ${project}`);
  await me.choose('hook_type', 'http_req');
  const answer = await me.submit({ name: 'Hook', 'properties.url': 'https://hooks.example.com' });
  if (answer.outcome !== 'ok') return `unexpected error: ${answer.outcome} ${answer.body}`;
  await world.slack.until(() => me.told().length > before, { what: 'the answer of integration add' });
  return me.told().at(-1) ?? '';
}
