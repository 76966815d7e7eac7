import type { Hono } from 'hono';
import { z } from 'zod';
import { sendCommand } from './deliver/commands.ts';
import { type Container, findContainer, type Place } from './deliver/containers.ts';
import { openDetails } from './deliver/details.ts';
import { deliverAction, sendShortcut } from './deliver/interactions.ts';
import { openHome, postAsPerson } from './deliver/people-events.ts';
import type { ActResult } from './deliver/result.ts';
import type { Someone } from './deliver/shared.ts';
import { closeView, submitView } from './deliver/submissions.ts';
import { suggest } from './deliver/suggestions.ts';
import { controlsForPage, homeForPage, readActor } from './page-records.ts';
import { announce } from './state/messages.ts';
import type { Channel } from './state/people.ts';
import type { Json, OpenView, StateValues } from './state/types.ts';
import { stackOf } from './state/views.ts';
import { channelOf } from './state/workspaces.ts';
import { inBackground, type World } from './world.ts';

const READ_ONLY = 'Sending messages to this app has been turned off.';

const Who = z.object({ team: z.string(), user: z.string() });
const json = z.record(z.string(), z.unknown());
const PlaceOf = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message'), channel: z.string(), ts: z.string() }),
  z.object({ type: z.literal('view'), view_id: z.string() }),
  z.object({ type: z.literal('pane') }),
]);
const State = z.object({ values: z.record(z.string(), z.record(z.string(), json)) });

const Say = Who.extend({ channel: z.string(), text: z.string(), thread_ts: z.string().optional() });
const Typed = Say.extend({ command: z.string() });
const Act = Who.extend({ container: PlaceOf, action: json, state: State.optional() });
const Options = Who.extend({
  container: PlaceOf,
  block_id: z.string(),
  action_id: z.string(),
  value: z.string(),
});
const Shortcut = Who.extend({
  callback_id: z.string(),
  channel: z.string().optional(),
  ts: z.string().optional(),
});
const Submit = Who.extend({ view_id: z.string(), state: State });
const Close = Who.extend({ view_id: z.string(), all: z.boolean().optional() });
const Switch = z.object({ id: z.string(), on: z.boolean() });
const OpenPane = Who.extend({ channel: z.string(), ts: z.string(), url: z.string() });

/** What people do on the page. */
export function addActs(world: World, page: Hono): void {
  addTyping(world, page);
  addUsing(world, page);
  addViews(world, page);
  addPanes(world, page);
}

function addTyping(world: World, page: Hono): void {
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
}

function addUsing(world: World, page: Hono): void {
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
    return context.json({ ok: true, controls: controlsForPage(world) });
  });
}

function addViews(world: World, page: Hono): void {
  page.post('/home', async (context) => {
    const actor = readActor(world, Who.parse(await context.req.json()));
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

/** The panes of work objects: what the app puts into them comes by the stream. */
function addPanes(world: World, page: Hono): void {
  page.post('/panes', async (context) => {
    const { url, ...body } = OpenPane.parse(await context.req.json());
    inBackground(world, openDetails(world, readActor(world, body), body, url));
    return context.json({ ok: true });
  });
  page.post('/panes/close', async (context) => {
    const { workspace, person } = readActor(world, Who.parse(await context.req.json()));
    workspace.panes.delete(person.id);
    world.changes.emit({ type: 'pane', team: workspace.id, user: person.id });
    return context.json({ ok: true });
  });
}

/** In Slack there is nothing to type into there. */
function isReadOnly({ app }: World, { workspace }: Someone, { kind, members }: Channel): boolean {
  return kind === 'im' && app.messagesTabReadOnly && members.has(workspace.installation?.botUserId ?? '');
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
