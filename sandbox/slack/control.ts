import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import { z } from 'zod';
import type { RedeliverOptions } from './deliver/verify.ts';
import type { LocalSlack } from './local-slack.ts';
import type { Actor } from './people.ts';
import type { Fault } from './state/fault.ts';
import type { Json, Policy } from './state/types.ts';

/**
 * The in-process API over HTTP, for tests and scripts in other processes: `POST /_control/<name>` takes the
 * arguments as a JSON list, e.g. `["T0ACME", "deploys"]` for `messages`, and answers what the function returns.
 * People act through `POST /_control/as/<team>/<user>/<act>`. Its callers run on the same machine and are trusted.
 */
export function createControl(slack: LocalSlack): Hono {
  const control = new Hono();
  const functions = functionsOf(slack);
  control.get('/app', (context) => {
    const { apiUrl, authorizeUrl, responseHost, app } = slack;
    return context.json({ apiUrl, authorizeUrl, responseHost, app });
  });
  control.post('/as/:team/:user/:act', async (context) => {
    const { team, user, act } = context.req.param();
    const name = ACTS.find((one) => one === act);
    if (!name) throw new RangeError(`nobody can ${act}`);
    return answer(slack.as(team, user)[name], context.req.raw);
  });
  control.post('/:name', async (context) => {
    const run = functions.get(context.req.param('name'));
    if (!run) return context.json({ ok: false, error: 'no_such_function' }, 404);
    return answer(run, context.req.raw);
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

/** Any function: its arguments come as JSON and are taken as the types say. */
type Run = (...args: never[]) => unknown;

const Arguments = z.array(z.unknown().transform((value) => (value ?? undefined) as never));

async function answer(run: Run, request: Request): Promise<Response> {
  const text = await request.text();
  const result = await run(...Arguments.parse(text === '' ? [] : JSON.parse(text)));
  return Response.json(result ?? null);
}

const ACTS = [
  'command',
  'click',
  'fill',
  'submit',
  'close',
  'suggest',
  'shortcut',
  'openHome',
  'openDetails',
  'postMessage',
  'editMessage',
  'deleteMessage',
  'install',
] as const satisfies readonly (keyof Actor)[];

const FUNCTIONS = [
  'addWorkspace',
  'deliverTo',
  'messages',
  'thread',
  'ephemerals',
  'dms',
  'modals',
  'home',
  'pane',
  'clearFaults',
  'advance',
  'verifyRequestUrl',
  'checkCertificate',
  'connections',
  'refreshConnections',
  'dropConnections',
  'sendEvent',
  'archiveChannel',
  'unarchiveChannel',
  'deleteChannel',
  'changeChannelId',
  'invite',
  'kick',
  'addPerson',
  'changePerson',
  'install',
  'uninstall',
] as const satisfies readonly (keyof LocalSlack)[];

/** By name, those that take or return what is no JSON in a form that is. */
function functionsOf(slack: LocalSlack): Map<string, Run> {
  const asTheyAre = FUNCTIONS.map((name): [string, Run] => [name, slack[name]]);
  const others: Record<string, Run> = {
    files: (team: string) => slack.files(team).map(({ bytes: _bytes, ...file }) => file),
    calls: () => slack.calls,
    deliveries: () => slack.deliveries,
    fault: (fault: Fault) => void slack.fault(fault),
    policy: (team: string, policy: Policy) => void slack.policy(team, policy),
    clearPolicies: (team: string) => slack.workspace(team).policies.clear(),
    redeliver: (id: string, options?: RedeliverOptions) => {
      const delivery = slack.deliveries.find((one) => one.id === id);
      if (!delivery) throw new RangeError('there is no such delivery');
      return slack.redeliver(delivery, options);
    },
    shareChannel: (team: string, channel: string, withTeam: string) =>
      slack.shareChannel(team, channel, withTeam).id,
    runFunction: (team: string, name: string, inputs: Json) => {
      const { token: _token, ...run } = slack.runFunction(team, name, inputs);
      return run;
    },
  };
  return new Map([...asTheyAre, ...Object.entries(others)]);
}
