import { EventEmitter, once } from 'node:events';
import { DEMO_IDS } from '../../sandbox/service/seed/demo-facts.ts';
import { NO_TRACING, type Tracing } from '../../src/observability/tracing.ts';
import { CHANNEL, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

/** Words after a command, beyond its own examples. */
const WORDS: Record<string, readonly string[]> = {
  help: ['', 'test', 'nonsense'],
  test: ['storefront', 'storefront web-1', 'nonsense'],
  'server show': ['web-1 storefront', 'nonsense storefront'],
  hosting: ['', `show ${DEMO_IDS.reportsMachine}`, 'regions', 'sizes', 'show nonsense'],
  'hosting sync': [DEMO_IDS.stagingMachine],
  build: [`${DEMO_IDS.storefrontBuild} storefront`, 'nonsense storefront'],
  'integration add': ['storefront'],
  'integration list': ['storefront'],
  'integration remove': [`${DEMO_IDS.storefrontChat} storefront`],
  'integration edit': [`${DEMO_IDS.storefrontChat} storefront`],
  activity: ['', 'today stats', '30d'],
  invoices: ['', '1001', 'last quarter', 'unpaid', '2026 csv', 'nonsense'],
  'guard run': ['storefront'],
  'digest remove': ['all'],
  use: ['storefront', 'none'],
  disconnect: ['nonsense'],
  audit: ['', '5'],
};

/** What is typed into fields that a form requires, by `block_id`. */
const VALUES: Record<string, string> = {
  email: 'someone@example.com',
  email_address: 'someone@example.com',
  account: 'acme',
  subdomain: 'walked',
};

interface Element {
  type: string;
  action_id?: string;
  url?: string;
  options?: Array<{ value: string }>;
}

interface Block {
  block_id?: string;
  element?: Element;
  elements?: Element[];
  accessory?: Element;
}

const MAX_CLICKS = 120;
/** Pressed by nobody here: it would end the walk early. */
const LAST = /^disconnect:/;

type Walked = ReturnType<typeof createWalked>;

/** Tracing for the world that is walked, and an emitter of `end` at the end of whatever a person asked for. */
export function createWalked() {
  const ended = new EventEmitter();
  const tracing: Tracing = {
    ...NO_TRACING,
    trace: (start, work) =>
      NO_TRACING.trace(start, work).finally(() => {
        if (start.attributes?.()['deckhand.command'] !== undefined) ended.emit('end');
      }),
  };
  return { tracing, ended };
}

/** Runs every command, presses every kind of button once, and fills in every form that opens, as the admin. */
export async function walk(world: TestWorld, walked: Walked): Promise<void> {
  const ann = world.as('admin');
  const pressed = new Set<string>();
  for (const command of world.app.commands) {
    const words = WORDS[command.name] ?? [''];
    const lines = [...words.map((rest) => `${command.name} ${rest}`.trim()), ...(command.examples ?? [])];
    for (const line of new Set(lines)) {
      await carriedOut(walked, () => ann.command(CHANNEL, `/deckhand ${line}`));
      await quiet(world);
      await finishForms(world);
    }
    await pressAll(world, walked, pressed);
  }
}

/** Failed deployments of two watched projects, each with one server that cannot be reached, and their diagnoses. */
export async function failWatched(world: TestWorld, walked: Walked): Promise<void> {
  const ann = world.as('admin');
  const failing = [
    { project: 'storefront', server: 'web-1' },
    { project: 'billing-api', server: 'api-1', broken: 'api-2' },
  ];
  for (const { project, server, broken = server } of failing) {
    await carriedOut(walked, () => ann.command(CHANNEL, `/deckhand watch ${project} failures`));
    await quiet(world);
    const outcome = { status: 'error', message: 'Connection refused' } as const;
    world.service.world.setOutcome({ account: 'acme', project, server: broken, ...outcome });
    world.service.world.addDeployment({ account: 'acme', project, succeeded: false, servers: [server] });
  }
  const diagnosed = () =>
    world.slack.messages(TEAM, CHANNEL).filter(({ blocks }) => JSON.stringify(blocks).includes(':mag: '));
  await world.slack.until(() => diagnosed().length === failing.length, { what: 'the diagnoses' });
}

/** Asks for something, and waits for the end of what people asked for. */
async function carriedOut({ ended }: Walked, ask: () => Promise<unknown>): Promise<void> {
  const end = once(ended, 'end');
  await ask();
  await end;
}

/** Until all that was asked is carried out, and what was to be posted is; a long run goes on by itself. */
async function quiet(world: TestWorld): Promise<void> {
  const { engine, slack } = world.app.parts;
  do {
    await slack.idle();
    await new Promise((resolve) => setImmediate(resolve));
  } while (await isAsked(engine));
  await slack.idle();
}

/** Whether anything that a person asked for is still waiting or being carried out. */
async function isAsked(engine: TestWorld['app']['parts']['engine']): Promise<boolean> {
  const { waiting = 0, running = 0 } = (await engine.stats()).requests ?? {};
  return waiting + running > 0;
}

async function finishForms(world: TestWorld): Promise<void> {
  const ann = world.as('admin');
  for (let tries = 0; tries < 4 && ann.openView() !== undefined; tries += 1) {
    await fillForm(world);
    if (ann.openView()?.content.submit !== undefined) await ann.submit();
    await quiet(world);
  }
  while (ann.openView() !== undefined) await ann.close();
}

async function fillForm(world: TestWorld): Promise<void> {
  const ann = world.as('admin');
  const view = ann.openView();
  for (const block of (view?.content.blocks ?? []) as Block[]) {
    const { element, block_id: blockId } = block;
    if (view === undefined || element === undefined || blockId === undefined) continue;
    const value = await valueFor(world, view.id, blockId, element);
    // A form may be replaced or closed by an answer that comes while it is filled in.
    if (ann.openView()?.id !== view.id) return;
    if (value !== undefined) ann.fill(view.id, { [blockId]: value });
  }
}

async function valueFor(
  world: TestWorld,
  viewId: string,
  blockId: string,
  element: Element,
): Promise<string | string[] | undefined> {
  const first = element.options?.[0]?.value;
  switch (element.type) {
    case 'plain_text_input':
    case 'email_text_input':
    case 'url_text_input':
      return VALUES[blockId] ?? '<!channel> <https://evil.example|typed>';
    case 'static_select':
    case 'radio_buttons':
      return first;
    case 'multi_users_select':
      return [PEOPLE.admin];
    case 'external_select': {
      const name = { blockId, actionId: element.action_id ?? '', query: '' };
      const { options } = await world.as('admin').suggest({ viewId }, name);
      return (options as Array<{ value?: string }>)[0]?.value;
    }
    default:
      return undefined;
  }
}

/** Each kind of button or menu, told by its `action_id` without what only tells rows apart. */
async function pressAll(world: TestWorld, walked: Walked, pressed: Set<string>): Promise<void> {
  const ann = world.as('admin');
  for (let clicks = 0; clicks < MAX_CLICKS; clicks += 1) {
    const next = elementsOn(world).find(
      ({ element }) =>
        !pressed.has(kindOf(element)) && !LAST.test(kindOf(element)) && element.url === undefined,
    );
    if (next === undefined) return;
    const { ts, element, blockId } = next;
    pressed.add(kindOf(element));
    const use = { actionId: element.action_id ?? '', blockId };
    const place = { channel: next.channel, ts };
    if (element.type === 'button') await carriedOut(walked, () => ann.click(place, use));
    else await choose(world, place, element, use);
    await quiet(world);
    await finishForms(world);
  }
}

async function choose(
  world: TestWorld,
  place: { channel: string; ts: string },
  element: Element,
  name: { actionId: string; blockId: string },
): Promise<void> {
  const ann = world.as('admin');
  const suggested =
    element.type === 'external_select' ? (await ann.suggest(place, { ...name, query: '' })).options : [];
  const selected = element.options?.[0]?.value ?? (suggested as Array<{ value?: string }>)[0]?.value;
  if (selected !== undefined) await ann.click(place, { ...name, selected });
}

interface Placed {
  channel: string;
  ts: string;
  blockId: string;
  element: Element;
}

function kindOf({ action_id = '' }: Element): string {
  return action_id.split('#')[0] ?? action_id;
}

function elementsOn({ slack }: TestWorld): Placed[] {
  const direct = slack.dms(TEAM, PEOPLE.admin);
  const seen = [...slack.messages(TEAM, CHANNEL), ...slack.ephemerals(TEAM, PEOPLE.admin), ...direct];
  return seen.flatMap(({ ts, channel = CHANNEL, blocks = [] }) =>
    (blocks as Block[])
      .flatMap(({ elements = [], accessory, block_id: blockId = '' }) =>
        [...elements, ...(accessory ? [accessory] : [])].map((element) => ({
          channel,
          ts,
          element,
          blockId,
        })),
      )
      .filter(({ element }) => element.action_id !== undefined),
  );
}
