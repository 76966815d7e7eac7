import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { isJson } from './api/app.ts';
import type { Paging } from './api/paging.ts';
import type { SandboxClock } from './clock.ts';
import { Fault, type Faults } from './faults.ts';
import { type RequestLog, withoutSecrets } from './requests.ts';
import { WeatherSettings } from './weather/settings.ts';
import type { Weather } from './weather/weather.ts';
import { NotInWorld } from './world/find.ts';
import type { WorldOperations } from './world/operations/index.ts';
import type { World } from './world/records.ts';

export interface ControlParts {
  world: World;
  operations: WorldOperations;
  faults: Faults;
  weather: Weather;
  /** How long lists come. */
  paging(): Paging;
  requests: RequestLog;
  clock: SandboxClock;
  reset(seed: 'empty' | 'demo'): void;
}

const Advance = z.strictObject({ ms: z.number().min(0) });
const Reset = z.strictObject({ seed: z.enum(['empty', 'demo']).default('empty') });

/** The same levers as in the process, over HTTP: for tests in other processes and for the demo's page. */
export function createControlApp(parts: ControlParts): Hono {
  const { world, faults, weather, requests, clock } = parts;
  const app = new Hono().basePath('/_control');
  app.onError(answerError);
  app.use(refuseForeignPages);
  app.get('/state', (c) => c.json(withoutSecrets(describeWorld(world))));
  app.get('/requests', (c) => c.json(requests.all));
  app.delete('/requests', (c) => {
    requests.clear();
    return c.json({});
  });
  app.get('/outbox', (c) => c.json(world.outbox));
  app.get('/clock', (c) => c.json({ now: clock.now() }));
  app.post('/clock/advance', async (c) => {
    clock.advance(Advance.parse(await body(c)).ms);
    return c.json({ now: clock.now() });
  });
  app.post('/reset', async (c) => {
    parts.reset(Reset.parse(await body(c)).seed);
    return c.json({});
  });
  addFaultRoutes(app, faults);
  addWeatherRoutes(app, weather);
  app.post('/:operation', async (c) =>
    c.json(perform(parts.operations, c.req.param('operation'), await body(c))),
  );
  return app;
}

/** A web page from elsewhere, open in the same person's browser, must not move the levers. */
async function refuseForeignPages(c: Context, next: () => Promise<void>): Promise<void> {
  const origin = c.req.header('origin');
  if (origin !== undefined && !isLocal(origin)) throw new Error('only pages of this machine may do this');
  await next();
}

function isLocal(origin: string): boolean {
  return /^https?:\/\/(?:127\.0\.0\.1|\[::1\]|(?:[a-z0-9-]+\.)?localhost)(?::\d+)?$/.test(origin);
}

function addFaultRoutes(app: Hono, faults: Faults): void {
  app.get('/faults', (c) => c.json(faults.list()));
  app.post('/faults', async (c) => c.json({ id: faults.add(Fault.parse(await body(c))).id }, 201));
  app.delete('/faults', (c) => {
    faults.clear();
    return c.json({});
  });
  app.delete('/faults/:id', (c) => c.json({ removed: faults.remove(Number(c.req.param('id'))) }));
}

function addWeatherRoutes(app: Hono, weather: Weather): void {
  app.get('/weather', (c) => c.json(weather.get()));
  app.post('/weather', async (c) => c.json(weather.set(WeatherSettings.parse(await body(c)))));
}

/** An operation by its name in snake case, e.g. `set_outcome`. */
function perform(operations: WorldOperations, name: string, input: unknown) {
  const camel = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  if (!Object.hasOwn(operations, camel)) throw new NotInWorld('operation', name);
  const run = operations[camel as keyof WorldOperations] as (input: unknown) => unknown;
  return { result: run(input) ?? null };
}

async function body(c: Context): Promise<unknown> {
  const text = await c.req.text();
  if (text === '') return {};
  if (!isJson(text)) throw new SyntaxError('the body is not JSON');
  return JSON.parse(text);
}

function describeWorld({ accounts, outbox }: World) {
  return {
    accounts: [...accounts.values()].map(({ waitingRuns, ...account }) => ({
      ...account,
      waitingRuns: waitingRuns.length,
      projects: account.projects.map((project) => ({ ...project, testRuns: [...project.testRuns.values()] })),
    })),
    outbox,
  };
}

function answerError(error: Error, c: Context): Response {
  if (error instanceof NotInWorld) return c.json({ error: error.message }, 404);
  if (error instanceof z.ZodError) return c.json({ error: z.prettifyError(error) }, 422);
  return c.json({ error: error.message }, 400);
}
