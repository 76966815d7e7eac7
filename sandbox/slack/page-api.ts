import { type Context, Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import { addActs } from './page-acts.ts';
import {
  callForPage,
  controlsForPage,
  deliveryForPage,
  messageForPage,
  readActor,
  teamForPage,
  viewsForPage,
} from './page-records.ts';
import { eventForPage } from './page-stream.ts';
import { listMessages } from './state/messages.ts';
import { channelOf } from './state/workspaces.ts';
import type { World } from './world.ts';

const LATEST = 200;
/** A PDF is the viewer's of the browser, which a sandbox would keep out. */
const FILE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'";

/** What the workspace's page asks for, as web/README.md lists it. */
export function createPageApi(world: World): Hono {
  const page = new Hono();
  addReading(world, page);
  addActs(world, page);
  page.get('/stream', (context) => stream(world, context));
  page.get('/files/:id', (context) => giveFile(world, context.req.param('id')));
  return page;
}

function addReading(world: World, page: Hono): void {
  const teamOf = (context: Context): string => context.req.query('team') ?? '';
  page.get('/workspace', (context) => {
    const teams = [...world.workspaces.values()].map((workspace) => teamForPage(world, workspace));
    return context.json({ teams, controls: controlsForPage(world) });
  });
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
    world.changes.emit({ type: 'looks', team: workspace.id, user: person.id });
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
