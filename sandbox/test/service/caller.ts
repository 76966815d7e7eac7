import { afterEach } from 'vitest';
import {
  type SimulatedService,
  type SimulatedServiceOptions,
  startSimulatedService,
} from '../../service/server.ts';
import type { Project } from '../../service/world/project-records.ts';
import type { User } from '../../service/world/records.ts';
import { type Description, readDescription } from './described.ts';

/** An answer; its body is read as JSON where it is JSON, else as text. */
interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any;
  headers: Headers;
}

interface Person {
  email: string;
  apiKey: string | undefined;
}

export type Caller = ReturnType<typeof createCaller>;

export type Bench = Awaited<ReturnType<typeof startBench>>;

const running: SimulatedService[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.stop()));
});

/** A service whose time stands still, stopped after the test. */
export async function startBench(options: SimulatedServiceOptions = {}) {
  const service = await startSimulatedService({ speed: 0, ...options });
  running.push(service);
  const description = await readDescription();
  return {
    service,
    description,
    as: (account: string, person: Person) =>
      createCaller(description.check, `${service.origin}/${account}`, credentialsOf(person)),
    /** For answers that are not as described on purpose. */
    unchecked: (account: string, person: Person) =>
      createCaller(() => undefined, `${service.origin}/${account}`, credentialsOf(person)),
    /** The service's own host, without credentials. */
    site: (headers = {}) => createCaller(description.check, service.origin, headers),
  };
}

function credentialsOf({ email, apiKey = '' }: Person): Record<string, string> {
  return { authorization: `Basic ${btoa(`${email}:${apiKey}`)}` };
}

/** Speaks to one account as one person; every answer is held against the published description. */
function createCaller(check: Description['check'], base: string, headers: Record<string, string>) {
  async function send(method: string, path: string, body?: string): Promise<Answer> {
    const response = await fetch(base + path, {
      method,
      redirect: 'manual',
      headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body }),
    });
    const contentType = response.headers.get('content-type') ?? '';
    const text = await response.text();
    const answer = {
      status: response.status,
      headers: response.headers,
      body: contentType.includes('json') ? JSON.parse(text) : text,
    };
    check({ method, path, contentType, ...answer });
    return answer;
  }
  return {
    send,
    get: (path: string) => send('GET', path),
    post: (path: string, body?: unknown) => send('POST', path, JSON.stringify(body)),
    patch: (path: string, body: unknown) => send('PATCH', path, JSON.stringify(body)),
  };
}

/** A service with the account that most tests use. `caller` is a member with every permission. */
export async function openAcme(options: SimulatedServiceOptions = {}) {
  const bench = await startBench(options);
  const parts = addAcme(bench);
  const { world, clock } = bench.service;
  const [caller, admin] = [bench.as('acme', parts.member), bench.as('acme', parts.admin)];
  const limit = (changes: object) => world.updateAccount({ account: 'acme', ...changes });
  const update = (changes: object) =>
    world.updateUser({ account: 'acme', email: parts.member.email, ...changes });
  return { ...bench, people: parts, project: parts.project, world, clock, caller, admin, limit, update };
}

/** The account that most tests use, and its people. */
export function addAcme({ service }: Bench) {
  const acme = service.world.addAccount({
    name: 'acme',
    displayName: 'Acme',
    users: [{ email: 'ada@example.com', role: 'admin', billing: true }, { email: 'ben@example.com' }],
    projects: [
      {
        name: 'Storefront',
        servers: [{ name: 'web-1' }, { name: 'web-2' }],
        buildConfigurations: [{ packages: { node: '24', php: '8.4' } }],
      },
    ],
  });
  const [admin, member] = acme.users as [User, User];
  const [project] = acme.projects as [Project];
  return { admin, member, project };
}
