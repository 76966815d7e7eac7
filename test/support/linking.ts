import { openJar, type Seen } from './installing.ts';
import {
  CHANNEL,
  EMAIL,
  openTestWorld,
  PEOPLE,
  TEAM,
  type TestWorld,
  type TestWorldOptions,
} from './test-world.ts';

export const PUBLIC_URL = 'https://deckhand.test';
export const SECRET = 'CanaryClientSecret-0a1b2c3d4e5f';
export const CLIENT = {
  id: 'deckhand',
  secret: SECRET,
  name: 'Deckhand',
  redirectUris: [`${PUBLIC_URL}/service/oauth/callback`],
};
export const PATH = '/service/oauth/start';

/** A browser with cookies of its own, behind the proxy that makes us public. */
export function openLinkBrowser(world: TestWorld) {
  const ours = openJar();
  const foreign = openJar();
  const open = (address: string, form?: Record<string, string>): Promise<Seen> =>
    address.startsWith(PUBLIC_URL)
      ? ours.open(address.replace(PUBLIC_URL, world.origin), form)
      : foreign.open(address, form);
  /** Goes on from our page by its form, to where the browser is sent. */
  async function go(start: string): Promise<Seen> {
    const page = await open(start);
    return page.status === 200 ? open(`${PUBLIC_URL}${PATH}`, formOn(page.text)) : page;
  }
  /** Decides on the service's page; the address that the browser is sent to. */
  async function decide(authorise: string, decision: 'approve' | 'deny'): Promise<string> {
    const params = Object.fromEntries(new URL(authorise).searchParams);
    const sent = await open(`${world.service.authUrl}/oauth/authorize`, { ...params, user: EMAIL, decision });
    return sent.location;
  }
  return { open, go, decide };
}

/** Deckhand, with an OAuth client of the service. */
export async function openLinkable(
  options: Pick<TestWorldOptions, 'clock' | 'env' | 'oauth' | 'connected' | 'slackApp'>,
): Promise<TestWorld> {
  return openTestWorld({
    ...options,
    oauth: { oauthClients: [CLIENT], ...options.oauth },
    env: {
      PUBLIC_URL,
      SERVICE_OAUTH_CLIENT_ID: CLIENT.id,
      SERVICE_OAUTH_CLIENT_SECRET: SECRET,
      ...options.env,
    },
  });
}

/** The hidden fields of the form on our page. */
export function formOn(page: string): Record<string, string> {
  const fields = page.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g);
  return Object.fromEntries([...fields].map(([, name = '', value = '']) => [name, value]));
}

/** Where the button leads that only the asker sees. */
export async function linkButton(world: TestWorld, who: keyof typeof PEOPLE = 'member'): Promise<string> {
  const before = world.slack.ephemerals(TEAM, PEOPLE[who]).length;
  await world.as(who).command(CHANNEL, '/deckhand link');
  await world.slack.until(() => world.slack.ephemerals(TEAM, PEOPLE[who]).length > before);
  const message = world.slack.ephemerals(TEAM, PEOPLE[who]).at(-1);
  return /"url":"([^"]+)"/.exec(JSON.stringify(message?.blocks))?.[1] ?? '';
}
