import { secretHex } from '../state/ids.ts';
import type { World } from '../world.ts';
import { deliver } from './delivery.ts';

/** What Slack does when a request URL is saved: the app has to give a challenge back. */
export async function verifyRequestUrl(world: World): Promise<boolean> {
  const challenge = secretHex(20);
  const { outcome, body } = await deliver(world, {
    kind: 'url_verification',
    name: 'url_verification',
    team: '',
    payload: { token: world.app.verificationToken, challenge, type: 'url_verification' },
    as: 'json',
  });
  return outcome === 'ok' && body.includes(challenge);
}
