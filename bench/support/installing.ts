import { createHmac } from 'node:crypto';
import { Agent, request } from 'undici';
import { SECRET } from './deckhand.ts';

const AT_ONCE = 16;
/** So many workspaces use one account, one after the other, so that their digests ask it at once. */
const WORKSPACES_AN_ACCOUNT = 100;
const agent = new Agent({ connections: AT_ONCE });

/**
 * Installs Deckhand into so many workspaces through the browser's way, connects an account in each by its form, and
 * types a command in the channel.
 */
export async function installAll(origin: string, size: number, command: string): Promise<void> {
  let next = 0;
  async function work(): Promise<void> {
    while (next < size) {
      const at = next;
      next += 1;
      const team = `T0B${at}`;
      await install(origin, team);
      await connect(origin, team, `acme-${Math.floor(at / WORKSPACES_AN_ACCOUNT)}`);
      await type(origin, team, command);
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

async function install(origin: string, team: string): Promise<void> {
  const page = await request(`${origin}/slack/install`, { dispatcher: agent });
  const text = await page.body.text();
  const state = /[?&;]state=([^&"]+)/.exec(text)?.[1] ?? '';
  const [cookie = ''] = String(page.headers['set-cookie']).split(';');
  const back = `${origin}/slack/oauth_redirect?code=${team}&state=${state}`;
  const end = await request(back, { headers: { cookie }, dispatcher: agent });
  await end.body.dump();
  if (end.statusCode !== 200) throw new Error(`installing answered ${end.statusCode}`);
}

async function connect(origin: string, team: string, account: string): Promise<void> {
  const fields = { account, email: 'ann@example.com', api_key: 'BenchKey'.repeat(5) };
  const values = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, { [name]: { type: 'plain_text_input', value } }]),
  );
  const view = { id: `V${team}`, hash: '1.a', type: 'modal', callback_id: 'connect', state: { values } };
  const user = { id: 'U0ANN', username: 'ann', team_id: team };
  const payload = { type: 'view_submission', team: { id: team, domain: 'bench' }, user, view };
  const said = await send(origin, { payload: JSON.stringify({ ...payload, trigger_id: `1.2.${team}` }) });
  if (said.includes('errors')) throw new Error(`connecting answered ${said}`);
}

async function type(origin: string, team: string, text: string): Promise<void> {
  const who = { team_id: team, team_domain: 'bench', user_id: 'U0ANN', user_name: 'ann' };
  const where = { channel_id: `C${team}`, channel_name: 'deploys', trigger_id: `1.1.${team}` };
  await send(origin, { command: '/deckhand', text, ...who, ...where });
}

async function send(origin: string, fields: Record<string, string>): Promise<string> {
  const body = new URLSearchParams(fields).toString();
  const at = String(Math.floor(Date.now() / 1000));
  const digest = createHmac('sha256', SECRET).update(`v0:${at}:${body}`).digest('hex');
  const answer = await request(`${origin}/slack/events`, {
    method: 'POST',
    body,
    dispatcher: agent,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-slack-request-timestamp': at,
      'x-slack-signature': `v0=${digest}`,
    },
  });
  const said = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`Deckhand answered ${answer.statusCode}`);
  return said;
}
