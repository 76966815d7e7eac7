import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startSimulatedService } from '../../../sandbox/service/server.ts';
import { appFromManifestFile } from '../../../sandbox/slack/registered-app.ts';
import { createProduct } from '../../support/program.ts';
import { startSlack } from '../../support/start-slack.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import {
  ACCOUNT,
  addTestAccount,
  connectAccount,
  environment,
  furnish,
  TEAM,
} from '../../support/test-world.ts';

it('a workflow step ends with its run, also where the process was killed in between', async () => {
  const service = await startSimulatedService({ speed: 20 });
  const app = appFromManifestFile(join(import.meta.dirname, '..', '..', '..', 'manifest.yml'));
  const slack = await startSlack({ app });
  const { botToken } = furnish(slack);
  addTestAccount(service, undefined);
  const product = createProduct(
    environment(slack, service, botToken, await temporaryFolder()),
    () => undefined,
  );
  const restart = async () => slack.deliverTo(`http://127.0.0.1:${await product.start()}/slack/events`);
  try {
    await restart();
    await connectAccount(slack);
    const status = service.faults.add({ path: `/${ACCOUNT}/projects/*/test_access/*`, status: 503 });
    const polled = service.requests.seen(({ status: answered }) => answered === 503);
    const { id } = slack.runFunction(TEAM, 'test_access', { project: 'storefront' });
    await polled;
    await product.kill();
    expect(slack.functionRun(TEAM, id)?.state).toBe('running');
    status.remove();
    await restart();
    await slack.until(() => slack.functionRun(TEAM, id)?.state === 'succeeded');
    expect(slack.functionRun(TEAM, id)?.outputs).toMatchObject({ status: 'completed', reachable: 2 });
  } finally {
    await product.stop();
    await Promise.all([slack.stop(), service.stop()]);
  }
});
