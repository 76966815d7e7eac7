import { OpenAPIHono } from '@hono/zod-openapi';
import { homePage } from '../pages/home.ts';
import { answerFailure, failureResponse } from './app.ts';
import type { SiteEnv } from './env.ts';
import { unknownMethod } from './failure.ts';

export type SiteApp = OpenAPIHono<SiteEnv>;

/** The service's own host: signup, the OAuth server, the reference, and pages for browsers. */
export function createSiteApp(register: readonly ((app: SiteApp) => void)[]): SiteApp {
  const app: SiteApp = new OpenAPIHono<SiteEnv>();
  app.get('/', (c) => c.html(homePage()));
  for (const addTo of register) addTo(app);
  app.notFound(() => failureResponse(unknownMethod()));
  app.onError(answerFailure);
  return app;
}
