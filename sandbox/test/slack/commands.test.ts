import { describe, expect, it } from 'vitest';
import { startSetting } from './setting.ts';

describe('slash commands', () => {
  it('do not name private channels', async () => {
    const { app, anna } = await startSetting();
    await anna.command('secret', '/deckhand');
    expect(app.received[0]?.payload).toMatchObject({ channel_id: 'C0PRIV', channel_name: 'privategroup' });
  });

  it('come with ids for names where the app asked for escaping', async () => {
    const command = { command: '/deckhand', description: 'x', usage_hint: '', should_escape: true };
    const { app, anna } = await startSetting({ app: { commands: [command] } });
    await anna.command('deploys', '/deckhand ask @max in #deploys <now>');
    expect(app.received[0]?.payload.text).toBe('ask <@U0MAX|max> in <#C0DEPLOY|deploys> &lt;now&gt;');
  });
});
