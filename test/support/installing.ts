import type { TestWorld } from './test-world.ts';

export interface Seen {
  status: number;
  text: string;
  location: string;
  headers: Headers;
}

/** A browser with cookies of its own; a form is posted. */
export function openJar() {
  const jar = new Map<string, string>();
  async function open(address: string, form?: Record<string, string>): Promise<Seen> {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const body = form && { method: 'POST', body: new URLSearchParams(form) };
    const response = await fetch(address, { redirect: 'manual', headers: { cookie }, ...body });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      jar.set(name, value);
    }
    const { status, headers } = response;
    return { status, headers, text: await response.text(), location: headers.get('location') ?? '' };
  }
  return { jar, open };
}

/** A browser that goes through the install. */
export function openBrowser(world: Pick<TestWorld, 'slack' | 'origin'>) {
  const { jar, open } = openJar();
  /** Opens our page; where its first button, or the one with this label, leads to. */
  async function begin(label = 'Add to Slack'): Promise<string> {
    const { text } = await open(`${world.origin}/slack/install`);
    const links = [...text.matchAll(/<a href="([^"]+)">([^<]+)</g)];
    const found = links.find(([, , said]) => said === label)?.[1] ?? '';
    return found.replaceAll('&amp;', '&');
  }
  /** The whole way; what the browser shows at its end. */
  async function install(
    team: string,
    user: string,
    choice?: { allow?: boolean; orgWide?: boolean },
  ): Promise<Seen> {
    const authorize = await begin();
    return open(world.slack.as(team, user).install(authorize, choice));
  }
  return { jar, open, begin, install };
}
