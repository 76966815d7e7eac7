import type { SimulatedService } from '../service/server.ts';
import type { LocalSlack } from '../slack/local-slack.ts';
import type { Control } from '../slack/world.ts';
import { policyControls } from './policy-controls.ts';
import type { Product } from './product.ts';
import { demoSwitch } from './switch.ts';

const RUNNING = 'It is running; this stops it in good order first';

/** Switches of the page's side panel: what can go wrong, to see Deckhand recover. */
export function demoControls(slack: LocalSlack, service: SimulatedService, product: Product): Control[] {
  return [
    demoSwitch(
      'slack-429',
      'Slack asks to slow down (429)',
      'Every call of Deckhand’s is answered with Retry-After: 5',
      () => slack.fault({ method: '*', status: 429, retryAfter: 5 }),
    ),
    demoSwitch(
      'service-503',
      'The service is unavailable (503)',
      'Every call is answered with Retry-After: 5',
      () => asSwitch(service.faults.add({ path: '/**', status: 503, retryAfter: '5' })),
    ),
    demoSwitch('service-slow', 'The service takes ten seconds', 'Every call is delayed', () =>
      asSwitch(service.faults.add({ path: '/**', delayMs: 10_000 })),
    ),
    demoSwitch(
      'service-weather',
      'The service is less exact than its documents',
      'Fields are missing or of other types, rows are odd, runs have other words',
      () => {
        service.weather.set({ strength: 'wild', seed: String(Date.now()) });
        return () => void service.weather.set({ strength: 'off' });
      },
    ),
    ...processButtons(product),
    ...policyControls(slack),
  ];
}

function processButtons(product: Product): Control[] {
  const start: Control = {
    id: 'start',
    label: 'Start Deckhand again',
    kind: 'button',
    hint: RUNNING,
    run: async () => {
      await product.start();
      start.hint = RUNNING;
    },
  };
  const kill: Control = {
    id: 'kill',
    label: 'Kill Deckhand (kill -9)',
    kind: 'button',
    hint: 'It ends at once, in the middle of what it does',
    run: async () => {
      await product.kill();
      start.hint = 'It is dead now: what is typed fails, until it runs again and goes on where it was';
    },
  };
  return [kill, start];
}

function asSwitch(fault: { remove(): void }): () => void {
  return () => fault.remove();
}
