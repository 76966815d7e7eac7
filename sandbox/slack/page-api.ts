import { type Context, Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import { z } from 'zod';
import { sendCommand } from './deliver/commands.ts';
import { type Container, findContainer, type Place } from './deliver/containers.ts';
import { deliverAction, sendShortcut } from './deliver/interactions.ts';
import { openHome, postAsPerson } from './deliver/people-events.ts';
import type { ActResult } from './deliver/result.ts';
import type { Someone } from './deliver/shared.ts';
import { closeView, submitView } from './deliver/submissions.ts';
import { suggest } from './deliver/suggestions.ts';
import { addPanes } from './page-panes.ts';
import {
  callForPage,
  deliveryForPage,
  homeForPage,
  messageForPage,
  teamForPage,
  viewsForPage,
} from './page-records.ts';
import { eventForPage } from './page-stream.ts';
import { announce, listMessages } from './state/messages.ts';
import type { Channel } from './state/people.ts';
import type { Json, OpenView, StateValues } from './state/types.ts';
import { stackOf } from './state/views.ts';
import { channelOf, personOf, workspaceOf } from './state/workspaces.ts';
import type { World } from './world.ts';

const LATEST = 200;
const READ_ONLY = 'Sending messages to this app has been turned off.';
/** A PDF is the viewer's of the browser, which a sandbox would keep out. */
const FILE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'";

const who = { team: z.string(), user: z.string() };
const json = z.record(z.string(), z.unknown());
const PlaceOf = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message'), channel: z.string(), ts: z.string() }),
  z.object({ type: z.literal('view'), view_id: z.string() }),
  z.object({ type: z.literal('pane') }),
]);
const State = z.object({ values: z.record(z.string(), z.record(z.string(), json)) });

const Say = z.object({ ...who, channel: z.string(), text: z.string(), thread_ts: z.string().optional() });
const Typed = Say.extend({ command: z.string() });
const Act = z.object({ ...who, container: PlaceOf, action: json, state: State.optional() });
const Options = z.object({
  ...who,
  container: PlaceOf,
  block_id: z.string(),
  action_id: z.string(),
  value: z.string(),
});
const Shortcut = z.object({
  ...who,
  callback_id: z.string(),
  channel: z.string().optional(),
  ts: z.string().optional(),
});
const Submit = z.object({ ...who, view_id: z.string(), state: State });
const Close = z.object({ ...who, view_id: z.string(), all: z.boolean().optional() });
const Switch = z.object({ id: z.string(), on: z.boolean() });

/** What the workspace's page asks for, as web/README.md lists it. */
export function createPageApi(world: World): Hono {
  const page = new Hono();
  addReading(world, page);
  addActing(world, page);
  addViews(world, page);
  addPanes(world, page, readActor);
  page.get('/stream', (context) => stream(world, context));
  page.get('/files/:id', (context) => giveFile(world, context.req.param('id')));
  return page;
}

function addReading(world: World, page: Hono): void {
  const teamOf = (context: Context): string => context.req.query('team') ?? '';
  page.get('/workspace', (context) => context.json(allForPage(world)));
  page.get('/messages', (context) => {
    const { workspace, person } = readActor(world, context.req.query());
    const channel = channelOf(workspace, context.req.query('channel') ?? '');
    const seen = listMessages(workspace, channel.id, person.id).sort((a, b) =>
      a.record.ts.localeCompare(b.record.ts),
    );
    return context.json({ messages: seen.map(messageForPage) });
  });
  page.get('/views', (context) => {
    const { workspace, person } = readActor(world, context.req.query());
    return context.json({ views: viewsForPage(world, workspace, person.id) });
  });
  page.get('/deliveries', (context) => {
    const mine = world.deliveries.filter((one) => one.team === teamOf(context));
    return context.json({ deliveries: mine.slice(-LATEST).map(deliveryForPage) });
  });
  page.get('/calls', (context) => {
    const mine = world.calls.filter((one) => one.team === teamOf(context));
    return context.json({ calls: mine.slice(-LATEST).map(callForPage) });
  });
}

function allForPage(world: World): Json {
  return {
    teams: [...world.workspaces.values()].map((workspace) => teamForPage(world, workspace)),
    controls: world.controls.map(({ run: _run, ...control }) => control),
  };
}

function addActing(world: World, page: Hono): void {
  page.post('/messages', async (context) => {
    const body = Say.parse(await context.req.json());
    const actor = readActor(world, body);
    const channel = channelOf(actor.workspace, body.channel);
    if (isReadOnly(world, actor, channel)) return context.json({ ok: false, error: READ_ONLY });
    await postAsPerson(world, actor, channel, body.text, body.thread_ts);
    return context.json({ ok: true });
  });
  page.post('/commands', async (context) => {
    const body = Typed.parse(await context.req.json());
    // Slack takes no slash commands in threads.
    if (body.thread_ts) return context.json({ ok: false, error: 'not_supported_in_threads' });
    const actor = readActor(world, body);
    const channel = channelOf(actor.workspace, body.channel);
    if (isReadOnly(world, actor, channel)) return context.json({ ok: false, error: READ_ONLY });
    const { command, text } = body;
    return context.json(answerOf(await sendCommand(world, { ...actor, channel, command, text })));
  });
  page.post('/actions', async (context) => {
    const body = Act.parse(await context.req.json());
    const actor = readActor(world, body);
    const container = findContainer(actor.workspace, actor.person, toPlace(body.container));
    if (body.state) keepState(world, actor, container, body.state.values);
    return context.json(answerOf(await deliverAction(world, actor, container, body.action)));
  });
  page.post('/options', async (context) => {
    const body = Options.parse(await context.req.json());
    const name = { blockId: body.block_id, actionId: body.action_id, query: body.value };
    const found = await suggest(world, readActor(world, body), toPlace(body.container), name);
    const groups = found.option_groups;
    return context.json({
      ...answerOf(found),
      ...(groups ? { option_groups: groups } : { options: found.options }),
    });
  });
  page.post('/shortcuts', async (context) => {
    const body = Shortcut.parse(await context.req.json());
    const on = body.channel && body.ts ? { channel: body.channel, ts: body.ts } : undefined;
    return context.json(answerOf(await sendShortcut(world, readActor(world, body), body.callback_id, on)));
  });
  page.post('/controls', async (context) => {
    const { id, on } = Switch.parse(await context.req.json());
    const control = world.controls.find((one) => one.id === id);
    if (!control) return context.json({ ok: false, error: 'no_such_control' }, 404);
    await control.run(on);
    if (control.kind === 'switch') control.on = on;
    world.changes.emit({ type: 'controls' });
    return context.json({ ok: true, controls: allForPage(world).controls });
  });
}

function addViews(world: World, page: Hono): void {
  page.post('/home', async (context) => {
    const actor = readActor(world, z.object(who).parse(await context.req.json()));
    await openHome(world, actor);
    return context.json({ view: homeForPage(world, actor.workspace, actor.person.id) });
  });
  page.post('/views/submit', async (context) => {
    const body = Submit.parse(await context.req.json());
    const actor = readActor(world, body);
    const view = openOne(actor, body.view_id);
    view.values = { ...view.values, ...body.state.values };
    const result = await submitView(world, actor, view);
    return context.json({ ...answerOf(result), ...(result.errors ? { errors: result.errors } : {}) });
  });
  page.post('/views/close', async (context) => {
    const body = Close.parse(await context.req.json());
    const actor = readActor(world, body);
    const view = openOne(actor, body.view_id);
    if (body.all) view.content = { ...view.content, clear_on_close: true };
    await closeView(world, actor, view);
    return context.json({ ok: true });
  });
}

/** In Slack there is nothing to type into there. */
function isReadOnly({ app }: World, { workspace }: Someone, { kind, members }: Channel): boolean {
  return kind === 'im' && app.messagesTabReadOnly && members.has(workspace.installation?.botUserId ?? '');
}

function readActor(world: World, { team, user }: { team?: string; user?: string }): Someone {
  const workspace = workspaceOf(world, team ?? '');
  return { workspace, person: personOf(workspace, user ?? '') };
}

function openOne({ workspace, person }: Someone, id: string): OpenView {
  const view = stackOf(workspace, person.id).find((one) => one.id === id);
  if (!view) throw new RangeError(`no view ${id} is open`);
  return view;
}

function toPlace(container: z.infer<typeof PlaceOf>): Place {
  if (container.type !== 'message') return container.type === 'pane' ? 'pane' : { viewId: container.view_id };
  return { channel: container.channel, ts: container.ts };
}

function keepState(world: World, { workspace }: Someone, container: Container, values: StateValues): void {
  if (container.kind === 'view') {
    container.view.values = { ...container.view.values, ...values };
    return;
  }
  workspace.messageStates.set(container.key, values);
  announce(world, workspace, container.stored);
}

function answerOf({ outcome, shown, errors }: ActResult): Json {
  if (outcome === 'ok' || outcome === 'denied') return { ok: true };
  if (outcome === 'not_sent' && !errors) return { ok: true };
  return { ok: false, error: shown ?? outcome };
}

function stream(world: World, context: Context): Response {
  const { workspace, person } = readActor(world, context.req.query());
  return streamSSE(context, async (events) => {
    const end = Promise.withResolvers<void>();
    const unsubscribe = world.changes.subscribe((change) => {
      const event = eventForPage(world, workspace, person, change);
      if (event) void events.writeSSE({ data: JSON.stringify(event) });
    });
    events.onAbort(end.resolve);
    world.stopping.signal.addEventListener('abort', () => end.resolve(), { once: true });
    // The first bytes tell the page that it is connected.
    await events.write(': connected\n\n');
    await end.promise;
    unsubscribe();
  });
}

function giveFile(world: World, id: string): Response {
  for (const workspace of world.workspaces.values()) {
    const file = workspace.files.get(id);
    if (!file?.bytes || !file.completed) continue;
    return new Response(new Uint8Array(file.bytes), {
      headers: {
        'content-type': file.mimetype,
        'content-security-policy':
          file.mimetype === 'application/pdf' ? FILE_POLICY : `${FILE_POLICY}; sandbox`,
        'x-content-type-options': 'nosniff',
      },
    });
  }
  return Response.json({ ok: false, error: 'file_not_found' }, { status: 404 });
}
