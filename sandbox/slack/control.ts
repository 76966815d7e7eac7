import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import { z } from 'zod';
import type { Place } from './deliver/containers.ts';
import type { Use } from './deliver/interactions.ts';
import type { LocalSlack } from './local-slack.ts';
import type { FieldValues } from './people.ts';
import type { Fault } from './state/fault.ts';
import type { PersonOptions } from './state/new-person.ts';
import type { Json } from './state/types.ts';
import type { WorkspaceOptions } from './state/workspaces.ts';

const anything = z.record(z.string(), z.unknown());

/** A record, taken as the type says: this door is for tests alone. */
function recordAs<T>(value: unknown): T {
  return z.custom<T>((given) => anything.safeParse(given).success).parse(value);
}

/**
 * The in-process API over HTTP, for tests and scripts in other processes: `POST /_control/<name>` takes the
 * arguments as a JSON list, e.g. `["T0ACME", "deploys"]` for `messages`, and answers what the function returns.
 * People act through `POST /_control/as/<team>/<user>/<act>`. Its callers run on the same machine and are trusted.
 */
export function createControl(slack: LocalSlack): Hono {
  const control = new Hono();
  control.get('/app', (context) => {
    const { apiUrl, authorizeUrl, responseHost, app } = slack;
    return context.json({ apiUrl, authorizeUrl, responseHost, app });
  });
  control.post('/as/:team/:user/:act', async (context) => {
    const { team, user, act } = context.req.param();
    return context.json(toJson(await actOver(slack, team, user, act, await readList(context.req.raw))));
  });
  control.post('/:name', async (context) => {
    const run = FUNCTIONS[context.req.param('name')];
    if (!run) return context.json({ ok: false, error: 'no_such_function' }, 404);
    const answer = await run(slack, await readList(context.req.raw));
    return context.json(toJson(answer));
  });
  control.get('/stream', (context) =>
    streamSSE(context, async (events) => {
      const end = Promise.withResolvers<void>();
      const unsubscribe = slack.onChange((change) => void events.writeSSE({ data: JSON.stringify(change) }));
      events.onAbort(end.resolve);
      await events.write(': connected\n\n');
      await end.promise;
      unsubscribe();
    }),
  );
  return control;
}

type Run = (slack: LocalSlack, args: unknown[]) => unknown;

const words = z.array(z.string());

/** What can be called by name; arguments that are records are taken as the types say. */
const FUNCTIONS: Record<string, Run> = {
  addWorkspace: (slack, [options]) => slack.addWorkspace(recordAs<WorkspaceOptions>(options)),
  deliverTo: (slack, [url]) => slack.deliverTo(z.string().parse(url)),
  messages: (slack, args) => withTwo(args, slack.messages),
  thread: (slack, args) => {
    const [team = '', channel = '', ts = ''] = words.parse(args);
    return slack.thread(team, channel, ts);
  },
  ephemerals: (slack, args) => withTwo(args, slack.ephemerals),
  dms: (slack, args) => withTwo(args, slack.dms),
  modals: (slack, args) => withTwo(args, slack.modals),
  home: (slack, args) => withTwo(args, slack.home) ?? null,
  pane: (slack, args) => withTwo(args, slack.pane) ?? null,
  files: (slack, [team]) => slack.files(z.string().parse(team)).map(({ bytes: _bytes, ...file }) => file),
  calls: (slack) => slack.calls,
  deliveries: (slack) => slack.deliveries,
  fault: (slack, [fault]) => {
    slack.fault(recordAs<Fault>(fault));
  },
  policy: (slack, [team, policy]) => {
    slack.policy(z.string().parse(team), anything.parse(policy));
  },
  clearPolicies: (slack, [team]) => slack.workspace(z.string().parse(team)).policies.clear(),
  clearFaults: (slack) => slack.clearFaults(),
  advance: (slack, [ms]) => slack.advance(z.number().parse(ms)),
  verifyRequestUrl: (slack) => slack.verifyRequestUrl(),
  checkCertificate: (slack) => slack.checkCertificate(),
  redeliver: (slack, [id, options]) => {
    const delivery = slack.deliveries.find((one) => one.id === z.string().parse(id));
    if (!delivery) throw new RangeError('there is no such delivery');
    return slack.redeliver(delivery, anything.optional().parse(options));
  },
  connections: (slack) => slack.connections(),
  refreshConnections: (slack, [options]) => slack.refreshConnections(anything.optional().parse(options)),
  dropConnections: (slack, [options]) => slack.dropConnections(anything.optional().parse(options)),
  sendEvent: (slack, [team, event]) =>
    slack.sendEvent(z.string().parse(team), z.looseObject({ type: z.string() }).parse(event)),
  archiveChannel: (slack, args) => withTwo(args, slack.archiveChannel),
  unarchiveChannel: (slack, args) => withTwo(args, slack.unarchiveChannel),
  deleteChannel: (slack, args) => withTwo(args, slack.deleteChannel),
  invite: (slack, args) => {
    const [team = '', channel = '', who = ''] = words.parse(args);
    slack.invite(team, channel, who);
  },
  kick: (slack, args) => {
    const [team = '', channel = '', who = ''] = words.parse(args);
    slack.kick(team, channel, who);
  },
  addPerson: (slack, [team, person]) =>
    slack.addPerson(z.string().parse(team), recordAs<PersonOptions>(person)),
  changePerson: (slack, [team, user, change]) =>
    slack.changePerson(z.string().parse(team), z.string().parse(user), anything.parse(change)),
  shareChannel: (slack, args) => {
    const [team = '', channel = '', withTeam = ''] = words.parse(args);
    return slack.shareChannel(team, channel, withTeam).id;
  },
  install: (slack, [team]) => slack.install(z.string().parse(team)),
  uninstall: (slack, [team]) => slack.uninstall(z.string().parse(team)),
  runFunction: (slack, [team, name, inputs]) => {
    const { token: _token, ...run } = slack.runFunction(
      z.string().parse(team),
      z.string().parse(name),
      anything.parse(inputs),
    );
    return run;
  },
};

function withTwo<T>(args: unknown[], run: (a: string, b: string) => T): T {
  const [first = '', second = ''] = words.parse(args);
  return run(first, second);
}

async function actOver(
  slack: LocalSlack,
  team: string,
  user: string,
  act: string,
  args: unknown[],
): Promise<unknown> {
  const actor = slack.as(team, user);
  const [first, second, third] = args;
  const text = (value: unknown): string => z.string().parse(value);
  const optional = (value: unknown): string | undefined => z.string().nullish().parse(value) ?? undefined;
  switch (act) {
    case 'command':
      return actor.command(text(first), text(second));
    case 'click':
      return actor.click(first as Place, anything.parse(second) as Use);
    case 'fill':
      return actor.fill(optional(first), anything.parse(second) as FieldValues);
    case 'submit':
      return actor.submit(optional(first), anything.optional().parse(second) as FieldValues | undefined);
    case 'close':
      return actor.close(optional(first));
    case 'suggest':
      return actor.suggest(first as Place, z.looseObject({ query: z.string() }).parse(second));
    case 'shortcut':
      return actor.shortcut(text(first), second as { channel: string; ts: string } | undefined);
    case 'openHome':
      return actor.openHome();
    case 'openDetails':
      return actor.openDetails(first as { channel: string; ts: string }, optional(second));
    case 'postMessage':
      return actor.postMessage(text(first), text(second), optional(third));
    case 'install':
      return actor.install(text(first), second as { allow?: boolean; orgWide?: boolean } | undefined);
    default:
      throw new RangeError(`nobody can ${act}`);
  }
}

async function readList(request: Request): Promise<unknown[]> {
  const text = await request.text();
  return z.array(z.unknown()).parse(text === '' ? [] : JSON.parse(text));
}

/** What a function returned, with `null` for nothing. */
function toJson(value: unknown): Json | Json[] | null {
  return (value ?? null) as Json | Json[] | null;
}
