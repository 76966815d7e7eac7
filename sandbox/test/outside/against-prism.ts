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
import { type Met, type PlayedService, playDocument } from './prism.ts';
import { createSteps, type Line, type Outcome, say } from './report.ts';

const BAD = /answered unexpectedly|unexpected error|undefined|NaN|\[object/;

const NamedSchema = z.looseObject({ permalink: z.string().optional(), identifier: z.string().optional() });
const ProjectsSchema = z.union([z.array(NamedSchema), z.object({ projects: z.array(NamedSchema) })]);

/** Deckhand against a service that Prism plays: once with the document's examples, then with drawn answers. */
export async function talkToPrism(path: string | undefined, rounds: number): Promise<Line[]> {
  const service = await playDocument(path);
  const all: Line[] = [];
  try {
    for (let round = 0; round <= rounds; round += 1) {
      service.play(round === 0 ? 'static' : 'dynamic');
      say(round === 0 ? '\nPrism, static' : `\nPrism, dynamic, round ${round}`);
      all.push(...(await playRound(service)));
    }
  } finally {
    await service.stop();
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
  const { lines, step } = createSteps(
    () => service.met.length,
    (text, since) =>
      judge(text instanceof Error ? `unexpected error: ${text}` : text, service.met.slice(since)),
  );
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

function judge(text: string, met: readonly Met[]): Outcome {
  const refused = met.find(({ status }) => status >= 400);
  const where = refused && `${refused.method} ${refused.path}: ${refused.refusal ?? refused.status}`;
  if (refused?.refusal?.startsWith('NO_')) return ['absent', `${where}`];
  if (refused !== undefined) return ['FAILED', `${where} ${refused.detail}`];
  if (BAD.test(text)) return ['FAILED', `${text.slice(0, 160)} ${met.at(-1)?.detail}`];
  return ['ok', text];
}

/** How the first project of the played list is called. */
async function projectOf(service: PlayedService): Promise<string | undefined> {
  const authorization = `Basic ${btoa(`${EMAIL}:${API_KEY}`)}`;
  const address = `${service.baseUrl.replace('{account}', ACCOUNT)}/projects.json`;
  const answer = await fetch(address, { headers: { authorization, accept: 'application/json' } });
  const { data } = ProjectsSchema.safeParse(await answer.json().catch(() => undefined));
  const [first] = Array.isArray(data) ? data : (data?.projects ?? []);
  const name = first?.permalink || first?.identifier;
  return name === undefined ? undefined : `"${name}"`;
}

async function commands(service: PlayedService): Promise<string[]> {
  const project = await projectOf(service);
  const inProject = project === undefined ? [] : [`server show web-1 ${project}`, `build main ${project}`];
  const hosting = ['', ' show anchor', ' sync anchor', ' regions', ' sizes'].map(
    (words) => `hosting${words}`,
  );
  const feed = ['activity', 'activity stats', 'invoices', 'invoices 1001'];
  return ['projects', 'whoami', 'doctor', 'accounts', ...inProject, ...hosting, 'beta', ...feed];
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
