import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { appFromManifestFile } from './registered-app.ts';
import { startLocalSlack } from './server.ts';
import { buildPage } from './web/build.ts';

const USAGE = `npm run sandbox:slack -- [options]

  --port <n>         the port, 4100 by default; 0 picks one
  --host <address>   127.0.0.1 by default
  --deliver-to <url> where commands, interactions and events go
  --manifest <file>  the app's manifest, manifest.yml by default
`;

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '4100' },
    host: { type: 'string', default: '127.0.0.1' },
    'deliver-to': { type: 'string' },
    manifest: { type: 'string', default: 'manifest.yml' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) process.stdout.write(USAGE);
else await run();

async function run(): Promise<void> {
  const slack = await startLocalSlack({
    port: Number(values.port),
    host: values.host,
    pageDir: await buildPage(),
    ...(existsSync(values.manifest) ? { app: appFromManifestFile(values.manifest) } : {}),
    ...(values['deliver-to'] ? { requestUrl: values['deliver-to'] } : {}),
  });
  const { teamId, botToken } = slack.addWorkspace({
    id: 'T0ACME',
    name: 'Acme',
    users: [
      { id: 'U0ANNA', name: 'anna', real_name: 'Anna Admin', is_admin: true, is_owner: true },
      { id: 'U0MAX', name: 'max', real_name: 'Max Member' },
    ],
    channels: [
      { id: 'C0DEPLOY', name: 'deploys' },
      { id: 'C0GENERAL', name: 'general' },
    ],
  });
  process.stdout.write(
    [
      `local Slack: ${slack.origin}`,
      `workspace ${teamId}, for Deckhand's environment:`,
      `SLACK_API_URL=${slack.apiUrl}`,
      `SLACK_RESPONSE_HOSTS=${slack.responseHost}`,
      `SLACK_SIGNING_SECRET=${slack.app.signingSecret}`,
      `SLACK_BOT_TOKEN=${botToken}`,
      '',
    ].join('\n'),
  );
  const stop = (): void => void slack.stop().then(() => process.exit(0));
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}
