import { setTimeout as wait } from 'node:timers/promises';
import { DEMO_IDS } from '../../sandbox/service/seed/demo-facts.ts';
import { CHANNEL, PEOPLE, TEAM, type TestWorld } from './test-world.ts';

/** Words after a command, beyond its own examples. */
const WORDS: Record<string, readonly string[]> = {
  help: ['', 'test', 'nonsense'],
  test: ['storefront', 'storefront web-1', 'nonsense'],
  'server show': ['web-1 storefront', 'nonsense storefront'],
  hosting: ['', `show ${DEMO_IDS.reportsMachine}`, 'regions', 'sizes', 'show nonsense'],
  'hosting sync': [DEMO_IDS.stagingMachine],
  build: [`${DEMO_IDS.storefrontBuild} storefront`, 'nonsense storefront'],
  'integration add': ['storefront'],
  'integration edit': [`${DEMO_IDS.storefrontChat} storefront`],
  activity: ['', 'today stats', '30d'],
  invoices: ['', '1001', 'nonsense'],
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

const QUIET_MS = 40;
const MOST_CLICKS = 120;
/** Pressed by nobody here: it would end the walk early. */
const LAST = /^disconnect:/;

/** Runs every command, presses every kind of button once, and fills in every form that opens, as the admin. */
export async function walk(house: TestWorld): Promise<void> {
  const ann = house.as('admin');
  const pressed = new Set<string>();
  for (const command of house.app.commands) {
    const words = WORDS[command.name] ?? [''];
    const lines = [...words.map((rest) => `${command.name} ${rest}`.trim()), ...(command.examples ?? [])];
    for (const line of new Set(lines)) {
      await ann.command(CHANNEL, `/deckhand ${line}`);
      await quiet(house);
      await finishForms(house);
    }
    await pressAll(house, pressed);
  }
}

/** Until nothing has moved in Slack for a moment, or what goes on is a long run that goes on by itself. */
async function quiet(house: TestWorld): Promise<void> {
  const count = () => house.slack.calls.length + house.slack.deliveries.length + house.logs.length;
  for (let tries = 0; tries < 10; tries += 1) {
    const before = count();
    await wait(QUIET_MS);
    if (count() === before) return;
  }
}

async function finishForms(house: TestWorld): Promise<void> {
  const ann = house.as('admin');
  for (let tries = 0; tries < 4 && ann.openView() !== undefined; tries += 1) {
    await fillForm(house);
    if (ann.openView()?.content.submit !== undefined) await ann.submit();
    await quiet(house);
  }
  while (ann.openView() !== undefined) await ann.close();
}

async function fillForm(house: TestWorld): Promise<void> {
  const ann = house.as('admin');
  const view = ann.openView();
  for (const block of (view?.content.blocks ?? []) as Block[]) {
    const { element, block_id: blockId } = block;
    if (view === undefined || element === undefined || blockId === undefined) continue;
    const value = await valueFor(house, view.id, blockId, element);
    if (value !== undefined) ann.fill(view.id, { [blockId]: value });
  }
}

async function valueFor(
  house: TestWorld,
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
      const { options } = await house.as('admin').suggest({ viewId }, name);
      return (options as Array<{ value?: string }>)[0]?.value;
    }
    default:
      return undefined;
  }
}

/** Each kind of button or menu, told by its `action_id` without what only tells rows apart. */
async function pressAll(house: TestWorld, pressed: Set<string>): Promise<void> {
  const ann = house.as('admin');
  for (let clicks = 0; clicks < MOST_CLICKS; clicks += 1) {
    const next = elementsOn(house).find(
      ({ element }) =>
        !pressed.has(kindOf(element)) && !LAST.test(kindOf(element)) && element.url === undefined,
    );
    if (next === undefined) return;
    const { ts, element, blockId } = next;
    pressed.add(kindOf(element));
    const use = { actionId: element.action_id ?? '', blockId };
    const place = { channel: next.channel, ts };
    if (element.type === 'button') await ann.click(place, use);
    else await choose(house, place, element, use);
    await quiet(house);
    await finishForms(house);
  }
}

async function choose(
  house: TestWorld,
  place: { channel: string; ts: string },
  element: Element,
  name: { actionId: string; blockId: string },
): Promise<void> {
  const ann = house.as('admin');
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
