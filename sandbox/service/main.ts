import { parseArgs } from 'node:util';
import { DEMO_USERS, demoOauthClient } from './seed/demo-facts.ts';
import { type SimulatedServiceOptions, startSimulatedService } from './server.ts';
import { WeatherSettings } from './weather/settings.ts';

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function readOptions(): SimulatedServiceOptions {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: process.env.PORT ?? '4000' },
      host: { type: 'string', default: '127.0.0.1' },
      seed: { type: 'string', default: 'demo' },
      speed: { type: 'string', default: '1' },
      weather: { type: 'string', default: process.env.WEATHER ?? 'off' },
      'weather-seed': { type: 'string', default: process.env.WEATHER_SEED ?? '1' },
      'own-auth-origin': { type: 'boolean', default: false },
      'oauth-iss': { type: 'boolean', default: false },
      'redirect-uri': { type: 'string', multiple: true },
    },
  });
  const redirectUris = values['redirect-uri'] ?? [];
  return {
    port: Number(values.port),
    host: values.host,
    seed: values.seed === 'empty' ? 'empty' : 'demo',
    speed: Number(values.speed),
    weather: WeatherSettings.parse({ strength: values.weather, seed: values['weather-seed'] }),
    ownAuthOrigin: values['own-auth-origin'],
    oauthIss: values['oauth-iss'],
    oauthEmail: true,
    oauthClients: redirectUris.length === 0 ? [] : [demoOauthClient(redirectUris)],
    onMail: ({ to, subject, link }) => print(`E-mail to ${to}: ${subject}: ${link}`),
  };
}

const options = readOptions();
const service = await startSimulatedService(options);
print(`Simulated deployment service: ${service.origin}`);
if (service.authUrl !== service.origin) print(`OAuth's endpoints: ${service.authUrl}`);
print(`Accounts stand at ${service.baseUrl}, the reference at ${service.origin}/docs`);
if (options.seed === 'demo') {
  print('Made-up people, with keys that open nothing else:');
  for (const { account, email, apiKey } of Object.values(DEMO_USERS)) {
    print(`  ${account.padEnd(8)} ${email.padEnd(26)} ${apiKey}`);
  }
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void service.stop());
