import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { InstallationEnded } from '../../src/core/errors.ts';
import { createUninstalls } from '../../src/installing/install.ts';
import { openWrappedKeys } from '../../src/store/data-keys.ts';
import { GLOBAL } from '../../src/store/store.ts';
import { defineJob } from '../../src/workspace/define-job.ts';
import { makeInstallationLock } from '../../src/workspace/installations.ts';
import type { Workspace } from '../../src/workspace/workspace.ts';
import { TRIED } from '../store/databases.ts';
import { openForm } from '../support/asking.ts';
import { openBrowser } from '../support/installing.ts';
import { jobsToEnd } from '../support/jobs-to-end.ts';
import { openProxy, type ServiceProxy } from '../support/proxy.ts';
import { sendCommand } from '../support/signed.ts';
import { CHANNEL, CREDENTIALS, openTestWorld, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

const NOTE = defineJob({
  queue: 'note',
  schema: z.object({ text: z.string() }),
  options: { concurrency: 1, attempts: 1, backoffMs: 1 },
  handle: async () => undefined,
});

describe.each(TRIED)('what is under way when a workspace takes Deckhand out, on $name', ({ fresh }) => {
  let world: TestWorld;
  let proxy: ServiceProxy;
  let before: Workspace;

  beforeEach(async () => {
    proxy = await openProxy();
    world = await openTestWorld({
      byOauth: true,
      env: { STORE_URL: await fresh(), SERVICE_BASE_URL: `${proxy.origin}/{account}` },
    });
    proxy.target = world.service.origin;
    await openBrowser(world).install(TEAM, PEOPLE.admin);
    before = world.app.workspaces.open(TEAM);
  });
  afterEach(async () => {
    await world.stop();
    await proxy.close();
  });

  /** Slack says so twice, as a revoked token and as an uninstall, and each erases. */
  async function takeOut(): Promise<void> {
    const ends = () => world.logs.filter((line) => line.includes('"event":"uninstalled"')).length;
    const known = ends();
    world.slack.uninstall(TEAM);
    await expect.poll(ends).toBe(known + 2);
  }

  /** A `connect` form that waits for the service's answer; called, the answer goes on its way. */
  async function connecting(): Promise<() => Promise<unknown>> {
    const asked = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    proxy.change = async (body) => {
      asked.resolve();
      await gate.promise;
      return body;
    };
    const ann = await openForm(world, 'connect');
    const sent = ann.submit('connect', CREDENTIALS);
    await asked.promise;
    return async () => {
      gate.resolve();
      await sent;
      await world.logged('"event":"installation_ended"');
    };
  }

  const nothingIsStored = async (): Promise<void> => {
    const { store } = world.app.parts;
    expect(await world.app.workspaces.open(TEAM).accounts.list()).toEqual([]);
    expect(await openWrappedKeys(store).get(TEAM)).toBeUndefined();
  };

  it('stores no API key of a form whose answer comes after the uninstall, and refuses later commands', async () => {
    const answer = await connecting();
    await takeOut();
    await answer();
    const { text } = await sendCommand(world, 'use storefront');
    expect(text).toContain('was taken out of this workspace');
    await nothingIsStored();
  });

  it('takes open link tickets and jobs with it, and stores none of them later', async () => {
    const linkRequest = { workspace: TEAM, user: PEOPLE.admin, name: 'ann' };
    const { linkRequests, engine } = world.app.parts;
    const ticket = await linkRequests.ask(linkRequest);
    await before.jobs.send(NOTE, { text: 'x' });
    await takeOut();
    expect(await linkRequests.open(ticket)).toBe('unknown');
    expect((await engine.stats()).note?.waiting ?? 0).toBe(0);

    const writes = [
      () => before.jobs.send(NOTE, { text: 'x' }),
      () => before.sealer.seal({ record: 'x', field: 'x' }, 'x'),
    ];
    for (const write of writes) await expect(write(), String(write)).rejects.toThrow(InstallationEnded);
    expect((await engine.stats()).note?.waiting ?? 0).toBe(0);
    await nothingIsStored();
  });

  it('is followed by a sweep, which takes what was written late, and nothing of an installation that came back', async () => {
    const { parts, workspaces } = world.app;
    const later = { ...parts.clock, now: () => parts.clock.now() + 600_000 };
    const { sweep } = createUninstalls({ ...parts, workspaces, clock: later });
    const marks = () => parts.store.of(GLOBAL).collection('uninstalled', z.unknown()).list();
    const late = () => before.audit.record({ requestedBy: 'x', what: 'x', result: 'done' });
    const written = async () => (await before.audit.latest(1)).length;
    await takeOut();
    await late();
    expect([await written(), await marks()]).toMatchObject([1, [{ id: TEAM }]]);
    const swept = await parts.store.exclusive(makeInstallationLock(TEAM), async () => {
      const sweeping = sweep();
      // Many times longer than a sweep takes.
      for (let read = 0; read < 100; read += 1) await marks();
      expect(await written(), 'while an install is under way').toBe(1);
      return { sweeping };
    });
    await swept.sweeping;
    expect([await written(), await marks()]).toEqual([0, []]);

    await openBrowser(world).install(TEAM, PEOPLE.admin);
    await takeOut();
    await openBrowser(world).install(TEAM, PEOPLE.admin);
    await late();
    await sweep();
    expect([await written(), await marks()]).toEqual([1, []]);
  });

  it('refuses a late post of an installation that another replica ended, and the log does not blame the token', async () => {
    const ended = world.app.workspaces.open('T0ENDED');
    const late = ended.slack.post({ channel: CHANNEL, message: { text: 'late', blocks: [] } });
    await expect(late).rejects.toMatchObject({ reason: 'not_installed' });
    expect(world.logs.filter((line) => line.includes('workspace_token_refused'))).toEqual([]);
  });

  it('begins no job that was left', async () => {
    await takeOut();
    const { engine } = world.app.parts;
    await jobsToEnd(world, ['requests']);
    const known = world.logs.length;
    const invocation = { user: PEOPLE.admin, channel: CHANNEL, requestId: 'left' };
    const requests = { queue: 'requests', schema: z.unknown() };
    await engine.send(TEAM, requests, { kind: 'command', invocation, text: 'use storefront' });
    await jobsToEnd(world, ['requests']);
    expect(world.logs.slice(known)).toEqual([]);
  });
});
