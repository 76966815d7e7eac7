import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Product } from '../../sandbox/demo/product.ts';
import { type SimulatedServiceOptions, startSimulatedService } from '../../sandbox/service/server.ts';
import { appFromManifestFile } from '../../sandbox/slack/registered-app.ts';
import { createProduct } from './program.ts';
import { startSlack } from './start-slack.ts';
import { MEMORY_FOLDER } from './temporary.ts';
import { addTestAccount, environment, furnish, PEOPLE, TEAM, type TestWorldOptions } from './test-world.ts';

export interface SurroundingsOptions extends SimulatedServiceOptions, Pick<TestWorldOptions, 'projects'> {
  /** Channels that everybody and the bot are in. */
  channels?: readonly string[];
  socketMode?: boolean;
  /** How many calls and deliveries Slack remembers. */
  longestLog?: number;
  /** False if the test adds accounts of its own. */
  account?: boolean;
}

export type Surroundings = Awaited<ReturnType<typeof openSurroundings>>;

/** The local Slack and the service as processes of Deckhand meet them, with a folder for their store. */
export async function openSurroundings({
  projects,
  channels = [],
  socketMode,
  longestLog = 20_000,
  account = true,
  ...options
}: SurroundingsOptions) {
  const app = { ...appFromManifestFile(join(import.meta.dirname, '..', '..', 'manifest.yml')) };
  const [folder, service, slack] = await Promise.all([
    mkdtemp(join(MEMORY_FOLDER, 'deckhand-')),
    startSimulatedService(options),
    startSlack({ app: socketMode ? { ...app, socketMode } : app, longestLog }),
  ]);
  const { botToken } = furnish(slack);
  for (const id of channels) {
    slack.addChannel(TEAM, { id, name: id.toLowerCase(), members: Object.values(PEOPLE) });
    slack.invite(TEAM, id, 'bot');
  }
  if (account && options.seed === undefined) addTestAccount(service, projects);
  const env = environment(slack, service, botToken, folder);
  const logs: string[] = [];
  return {
    slack,
    service,
    env,
    /** The lines of the logs of all processes. */
    logs,
    createProduct: (change: Record<string, string> = {}) =>
      createProduct({ ...env, ...change }, (line) => logs.push(line)),
    async start(product: Product): Promise<void> {
      slack.deliverTo(`http://127.0.0.1:${await product.start()}/slack/events`);
    },
    async close(): Promise<void> {
      await Promise.all([slack.stop(), service.stop()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
