import type { Config } from './config.ts';
import type { Clock } from './core/clock.ts';
import type { Logger } from './observability/log.ts';
import { createInstallations, type Installations, singleInstallation } from './slack/installations.ts';
import { createSlackOauth } from './slack/oauth.ts';
import type { Web } from './slack/web.ts';
import type { Sealer, Store } from './store/store.ts';

/** Where tokens come from, by the configuration: one of the environment, or those of many installs. */
export function openInstallations(
  config: Config,
  parts: { web: Web; store: Store; sealer: Sealer; clock: Clock; log: Logger },
): Installations {
  const { SLACK_CLIENT_ID: clientId, SLACK_CLIENT_SECRET: clientSecret, SLACK_BOT_TOKEN: token } = config;
  if (clientId === undefined || clientSecret === undefined) return singleInstallation(token ?? '');
  const oauth = createSlackOauth({ web: parts.web, clientId, clientSecret, clock: parts.clock });
  return createInstallations({ ...parts, oauth });
}
