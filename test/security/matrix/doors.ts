import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { TOOLS } from '../../../src/commands/mcp/tools.ts';
import { allCommands } from '../../../src/commands/registry.ts';
import { STEPS } from '../../../src/commands/workflows/steps.ts';
import { NO_TRACING, type Tracing } from '../../../src/observability/tracing.ts';
import { listenHere } from '../../support/free-port.ts';
import { sendJson, sendPayload, sendSigned } from '../../support/signed.ts';
import { ACCOUNT, TEAM, type TestWorld } from '../../support/test-world.ts';

/** One request through one door. */
export interface Cell {
  /** Unique; Slack's id of the request. */
  id: string;
  user: string;
  channel: string;
  /** A project that no other cell of the door names in that channel. */
  project: string;
  /** A message that no other cell of the door is about. */
  ts: string;
}

/** A way in, as anybody could come through it. */
export interface Door {
  /** Its kind and its registered name, e.g. `action digest:pause`. */
  name: string;
  /** The command that it stands for, which a channel can switch off. */
  command: string;
  /** The span that ends with it; undefined if its answer ends it. */
  span?: string;
  /** True where no channel is named. */
  isEverywhere?: boolean;
  /** True where nobody asks, as in a workflow. */
  hasNoPerson?: boolean;
  /** True where a refusal shows nothing at all. */
  isSilent?: boolean;
  /** Sends it; what is said at once, if anything. */
  send(world: TestWorld, cell: Cell): Promise<string>;
  /** What was said to the person later; by default by the response address. */
  saidIn?(world: TestWorld, cell: Cell): string;
}

const team = { id: TEAM };

/** Every door that there is, from the registries themselves. */
export function allDoors(responseUrl: (id: string) => string): Door[] {
  const asked = ({ id, user, channel }: Cell) => ({
    team,
    user: { id: user },
    channel: { id: channel },
    trigger_id: id,
    response_url: responseUrl(id),
  });
  const doors = allCommands().flatMap(({ name: command, ...more }): Door[] => [
    {
      name: `command ${command}`,
      command,
      span: `command ${command}`,
      async send(world, { id, user, channel }) {
        const fields = { command: '/deckhand', text: command, team_id: TEAM, trigger_id: id };
        const place = { user_id: user, channel_id: channel, response_url: responseUrl(id) };
        return (await sendSigned(world, new URLSearchParams({ ...fields, ...place }).toString())).text;
      },
    },
    ...(more.actions ?? []).map(
      ({ actionId, view }): Door => ({
        name: ['action', actionId, view ?? []].flat().join(' '),
        command,
        span: `action ${command}`,
        async send(world, cell) {
          const button = { type: 'button', action_id: actionId, block_id: 'b', value: '{}', action_ts: '1' };
          const inView = view === undefined ? {} : { view: viewOf(view, cell) };
          const click = { ...asked(cell), type: 'block_actions', ...inView, actions: [button] };
          return (await sendPayload(world, click)).text;
        },
      }),
    ),
    ...(more.submissions ?? []).map(
      ({ callbackId }): Door => ({
        name: `form ${callbackId}`,
        command,
        span: `form ${command}`,
        async send(world, cell) {
          const form = { ...asked(cell), type: 'view_submission', view: viewOf(callbackId, cell) };
          return (await sendPayload(world, form)).text;
        },
      }),
    ),
    ...(more.optionSources ?? []).map(
      ({ actionId }): Door => ({
        name: `menu ${actionId}`,
        command,
        isSilent: true,
        async send(world, cell) {
          const more = { type: 'block_suggestion', action_id: actionId, block_id: 'b', value: '' };
          const { text } = await sendPayload(world, { ...asked(cell), ...more, view: viewOf('menu', cell) });
          return text === '{"options":[]}' ? '' : text;
        },
      }),
    ),
    ...(more.shortcuts ?? []).map(
      ({ callbackId, kind }): Door => ({
        name: `shortcut ${callbackId}`,
        command,
        span: `shortcut ${command}`,
        isEverywhere: kind === 'global',
        send: async (world, cell) => {
          const { channel, response_url, ...rest } = asked(cell);
          const message = { ts: '1.1', text: 'nothing of ours' };
          const more = kind === 'global' ? { type: 'shortcut' } : { type: 'message_action', message };
          const place = kind === 'global' ? {} : { channel, response_url };
          return (await sendPayload(world, { ...rest, ...more, ...place, callback_id: callbackId })).text;
        },
        ...(kind === 'global'
          ? { saidIn: (world, { id }) => argsOf(world, 'views.open', ({ trigger_id }) => trigger_id === id) }
          : {}),
      }),
    ),
  ]);
  return [...doors, ...TOOLS.map(toolDoor), ...Object.entries(STEPS).map(stepDoor), ...EVENT_DOORS];
}

function viewOf(callbackId: string, { id, channel }: Cell) {
  return {
    id: `V${id}`,
    hash: 'h',
    type: 'modal',
    callback_id: callbackId,
    private_metadata: JSON.stringify({ channel, account: ACCOUNT, project: 'storefront' }),
    title: { type: 'plain_text', text: 'Forged' },
    blocks: [],
    state: { values: {} },
  };
}

function toolDoor({ name, command }: (typeof TOOLS)[number]): Door {
  return {
    name: `tool ${name}`,
    command,
    span: `tool ${command}`,
    async send(world, { id, user, channel }) {
      const _meta = { slack: { user_id: user, team_id: TEAM, channel_id: channel } };
      const params = { name, arguments: {}, _meta };
      const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params });
      return (await sendSigned(world, body, { type: 'application/json', path: '/mcp' })).text;
    },
  };
}

function stepDoor([name, { command, actsIn, isMenu }]: [string, (typeof STEPS)[string]]): Door {
  return {
    name: `step ${name}`,
    command,
    // A menu is filled before the ack.
    ...(isMenu ? {} : { span: 'process end-step' }),
    hasNoPerson: true,
    isEverywhere: actsIn === undefined,
    send: (world, { id, channel }) =>
      sendEvent(world, id, {
        type: 'function_executed',
        function: { callback_id: name },
        function_execution_id: `Fx${id}`,
        inputs: { channel },
      }),
    saidIn: (world, { id }) =>
      argsOf(world, 'functions.completeError', ({ function_execution_id: of }) => of === `Fx${id}`),
  };
}

/** What comes as an event: each asks by the function that everything else asks. */
const EVENT_DOORS: readonly Door[] = [
  ...['projects', 'digest list', 'invoices', 'audit'].map(
    (command): Door => ({
      name: `mention ${command}`,
      command,
      span: `command ${command}`,
      // In a thread, so that its private answer names it.
      send(world, { id, user, channel, ts }) {
        const mention = { type: 'app_mention', text: `<@U0BOT> ${command}`, ts, thread_ts: ts };
        return sendEvent(world, id, { ...mention, user, channel });
      },
      saidIn: (world, { ts }) => argsOf(world, 'chat.postEphemeral', ({ thread_ts }) => thread_ts === ts),
    }),
  ),
  ...(['projects', 'server show'] as const).map(
    (command): Door => ({
      name: `unfurl ${command}`,
      command,
      span: 'process events',
      isSilent: true,
      send(world, cell) {
        const { id, user, channel } = cell;
        const links = [{ url: linkOf(world, cell, command) }];
        return sendEvent(world, id, { type: 'link_shared', user, channel, message_ts: '1.1', links });
      },
      saidIn(world, cell) {
        const isOf = (unfurls: unknown) => JSON.stringify(unfurls).includes(linkOf(world, cell, command));
        return argsOf(world, 'chat.unfurl', (args) => args.channel === cell.channel && isOf(args.unfurls));
      },
    }),
  ),
  {
    name: 'details projects',
    command: 'projects',
    span: 'POST entity.presentDetails',
    send(world, { id, user, channel }) {
      const entity_url = `${world.service.baseUrl.replace('{account}', ACCOUNT)}/projects/storefront`;
      const event = { type: 'entity_details_requested', user, channel, trigger_id: id, entity_url };
      return sendEvent(world, id, event);
    },
    saidIn: (world, { id }) => argsOf(world, 'entity.presentDetails', ({ trigger_id }) => trigger_id === id),
  },
  {
    name: 'home',
    command: 'home',
    span: 'process events',
    isEverywhere: true,
    send: (world, { id, user }) => sendEvent(world, id, { type: 'app_home_opened', user, tab: 'home' }),
    saidIn: (world, { user }) => argsOf(world, 'views.publish', (args) => args.user_id === user),
  },
];

/** To a project, or to its only server. */
function linkOf({ service }: TestWorld, { project: permalink }: Cell, command: string): string {
  const { projects = [] } = service.world.state.accounts.get(ACCOUNT) ?? {};
  const server = projects.find((project) => project.permalink === permalink)?.servers[0]?.identifier;
  const path = command === 'projects' ? permalink : `${permalink}/servers/${server}`;
  return `${service.baseUrl.replace('{account}', ACCOUNT)}/projects/${path}`;
}

async function sendEvent(world: TestWorld, id: string, event: object): Promise<string> {
  const body = { type: 'event_callback', event_id: `Ev${id}`, event_time: 1, team_id: TEAM, event };
  return (await sendJson(world, body)).text;
}

function argsOf(
  { slack }: TestWorld,
  method: string,
  isMeant: (args: Record<string, unknown>) => boolean,
): string {
  const calls = slack.calls.filter((call) => call.method === method && isMeant(call.args));
  return calls.length === 0 ? '' : JSON.stringify(calls.map(({ args }) => args));
}

/** Takes what is answered by response addresses, which end with the id of the request. */
export async function startAnswers() {
  const answers = new Map<string, string>();
  const server = createServer(async (request, response) => {
    const id = request.url?.slice(1) ?? '';
    answers.set(id, `${answers.get(id) ?? ''}${await text(request)}`);
    response.end('ok');
  });
  const host = await listenHere(server);
  return {
    host,
    url: (id: string) => `http://${host}/${id}`,
    to: (id: string) => answers.get(id) ?? '',
    stop: () => server.close(),
  };
}

/** Says when work has ended: traces see every door, and wait for its answer. */
export function watchSpans() {
  const counts = new Map<string, number>();
  const ended = new EventEmitter();
  const count = (name: string): number => counts.get(name) ?? 0;
  const tracing: Tracing = {
    ...NO_TRACING,
    trace: (start, work) =>
      NO_TRACING.trace(start, work).finally(() => {
        counts.set(start.name, count(start.name) + 1);
        ended.emit('end');
      }),
  };
  return {
    tracing,
    count,
    async until(name: string, least: number): Promise<void> {
      while (count(name) < least) await once(ended, 'end');
    },
  };
}
