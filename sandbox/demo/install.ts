import type { LocalSlack } from '../slack/local-slack.ts';

/** Goes the browser's way through an install, so that the demo begins with Deckhand in one of its workspaces. */
export async function installInto(
  slack: LocalSlack,
  origin: string,
  { team, user }: { team: string; user: string },
): Promise<void> {
  const page = await fetch(`${origin}/slack/install`);
  const cookie = page.headers.getSetCookie().map((line) => line.split(';', 1)[0]);
  const [, link = ''] = /<a href="([^"]+)">Add to Slack</.exec(await page.text()) ?? [];
  const back = slack.as(team, user).install(link.replaceAll('&amp;', '&'));
  const end = await fetch(back, { headers: { cookie: cookie.join('; ') } });
  if (!end.ok) throw new Error(`installing Deckhand ended with ${end.status}`);
}
