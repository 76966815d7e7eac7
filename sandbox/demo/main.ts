import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { DEMO_USERS, demoOauthClient } from '../service/seed/demo-facts.ts';
import { type SimulatedService, startSimulatedService } from '../service/server.ts';
import type { LocalSlack } from '../slack/local-slack.ts';
import { appFromManifestFile } from '../slack/registered-app.ts';
import { startLocalSlack } from '../slack/server.ts';
import { buildPage } from '../slack/web/build.ts';
import { demoControls } from './controls.ts';
import { installInto } from './install.ts';
import { haveOutages } from './outages.ts';
import { freePort } from './ports.ts';
import { createProduct } from './product.ts';
import { DEMO_SAMPLES } from './samples.ts';
import { giveTour, TOUR } from './tour.ts';
import { addDemoWorkspaces } from './workspaces.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '4100' },
    'deckhand-port': { type: 'string', default: '4200' },
    tour: { type: 'boolean', default: false },
    logs: { type: 'boolean', default: false },
  },
});

/** Address on which the pages listen. In a container it is 0.0.0.0, because the browser is outside. */
const { DEMO_HOST: host = '127.0.0.1' } = process.env;

function print(line = ''): void {
  process.stdout.write(`${line}\n`);
}

async function run(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'deckhand-demo-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  let end = (): void => process.exit(0);
  // Ctrl+C reaches this process twice: from the terminal, and from npm's script. Neither ends it half-way.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => end());
  const port = await freePort(Number(values['deckhand-port']));
  const publicUrl = `http://127.0.0.1:${port}`;
  const client = demoOauthClient([`${publicUrl}/service/oauth/callback`]);
  const service = await startSimulatedService({
    seed: 'demo',
    oauthClients: [client],
    oauthEmail: true,
    onMail: ({ to, subject, link }) => print(`E-mail to ${to}: ${subject}: ${link}`),
  });
  const pageDir = await buildPage();
  const slack = await startLocalSlack({
    port: await freePort(Number(values.port)),
    host,
    pageDir,
    app: {
      ...appFromManifestFile('manifest.yml'),
      unfurlDomains: [new URL(service.origin).hostname],
      redirectUrls: [`${publicUrl}/slack/oauth_redirect`],
    },
    samples: DEMO_SAMPLES,
  });
  addDemoWorkspaces(slack);
  const env = {
    SLACK_SIGNING_SECRET: slack.app.signingSecret,
    SLACK_CLIENT_ID: slack.app.clientId,
    SLACK_CLIENT_SECRET: slack.app.clientSecret,
    SLACK_AUTHORIZE_URL: slack.authorizeUrl,
    SLACK_API_URL: slack.apiUrl,
    SLACK_RESPONSE_HOSTS: slack.responseHost,
    HOST: host,
    PORT: String(port),
    PUBLIC_URL: publicUrl,
    SERVICE_BASE_URL: service.baseUrl,
    SERVICE_SIGNUP_URL: service.signupUrl,
    SERVICE_AUTH_URL: service.authUrl,
    SERVICE_OAUTH_CLIENT_ID: client.id,
    SERVICE_OAUTH_CLIENT_SECRET: client.secret,
    SERVICE_SITES_DOMAIN: service.sitesDomain,
    STORE_URL: `sqlite://${join(folder, 'deckhand.sqlite')}`,
    ENCRYPTION_KEYS: `demo:${randomBytes(32).toString('base64')}`,
    NOTICE_INTERVAL_MS: '5000',
  };
  const product = createProduct(env, values.logs ? print : () => undefined);
  slack.deliverTo(`${publicUrl}/slack/events`);
  slack.setControls(demoControls(slack, service, product));
  await product.start();
  await installInto(slack, publicUrl, { team: 'T0ACME', user: 'U0ADA' });
  printWelcome(slack, { serviceUrl: service.baseUrl, publicUrl });
  const ending = new AbortController();
  void haveOutages(service, ending.signal);
  if (values.tour) void tour(slack, service);

  async function stop(): Promise<void> {
    ending.abort();
    await product.stop();
    await Promise.all([slack.stop(), service.stop()]);
    process.exit(0);
  }
  end = () => {
    end = () => undefined;
    void stop();
  };
}

/** Time for the page to draw itself. */
const SETTLE_MS = 1_500;

/** Resolves once the page is open as the person whom the tour shows around. */
function someoneLooks(slack: LocalSlack): Promise<void> {
  return new Promise((resolve) => {
    const end = slack.onChange((change) => {
      if (change.type !== 'looks' || change.team !== TOUR.team || change.user !== TOUR.user) return;
      end();
      resolve();
    });
  });
}

/** Begins once somebody looks, and ends on its own; the demo goes on. */
async function tour(slack: LocalSlack, service: SimulatedService): Promise<void> {
  print();
  print(`The tour begins as soon as you open ${slack.origin}/#/${TOUR.team}/${TOUR.user}.`);
  await someoneLooks(slack);
  await pause(SETTLE_MS);
  try {
    await giveTour({ slack, service }, print);
  } catch (error) {
    // Whoever watches may press buttons too; the demo goes on without a guide.
    print(`The tour ends here: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function printWelcome(
  slack: LocalSlack,
  { serviceUrl, publicUrl }: { serviceUrl: string; publicUrl: string },
): void {
  const { email, apiKey, account } = DEMO_USERS.admin;
  const project = `${serviceUrl.replace('{account}', account)}/projects/storefront`;
  print();
  print(`Open ${slack.origin} in a browser.`);
  print();
  print('Then, in #deploys:');
  print('  /deckhand connect           with these made-up credentials:');
  print(`      account   ${account}`);
  print(`      e-mail    ${email}`);
  print(`      API key   ${apiKey}`);
  print('  /deckhand test storefront   and watch the thread');
  print('  /deckhand watch all failures   and see a project fail and recover, in one message');
  print();
  print(`A pasted link shows its live state: ${project}`);
  print(`The workspace Harbour has no Deckhand yet; install it there: ${publicUrl}/slack/install`);
  print();
  print('Ctrl+C ends it.');
}

try {
  await run();
} catch (error) {
  process.stderr.write(
    `The demo could not start: ${error instanceof Error ? error.message : String(error)}\n`,
  );
  process.exit(1);
}
