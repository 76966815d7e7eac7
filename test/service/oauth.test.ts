import { expect, it, onTestFinished } from 'vitest';
import { startSimulatedService } from '../../sandbox/service/server.ts';
import { createService } from '../../src/service/client.ts';
import { startTestClock } from './wire.ts';

it('names under localhost are this machine for the authorisation too', async () => {
  const simulated = await startSimulatedService({ seed: 'demo' });
  onTestFinished(() => simulated.stop());
  const named = simulated.siteUrl.replace('127.0.0.1', 'auth.localhost');
  expect(named).toContain('auth.localhost');
  const service = createService({
    baseUrl: simulated.baseUrl,
    version: '1.2.3',
    clock: startTestClock(),
    oauth: { siteUrl: named, authUrl: named, clientId: 'deckhand', clientSecret: 'CanaryClientSecret' },
  });
  onTestFinished(() => service.close());
  const begun = await service.oauth?.begin('https://deckhand.example.com/service/oauth/callback', 'state');
  expect(begun?.url.pathname).toBe('/oauth/authorize');
});
