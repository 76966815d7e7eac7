import type { Page } from '../../views/blocks/page.ts';
import { frontPage, privacyPage } from '../../views/public/pages.ts';
import type { Parts } from '../../workspace/workspace.ts';
import { sendPage } from '../pages.ts';
import type { Routes } from '../receivers/http-server.ts';

/** What a stranger sees: what Deckhand is, and what it stores. */
export function publicRoutes({ config, installations }: Pick<Parts, 'config' | 'installations'>): Routes {
  const installPath = installations.byOauth === undefined ? undefined : '/slack/install';
  const front = frontPage(config.SLACK_COMMAND, installPath);
  const show = (page: Page): Routes[string] => {
    return (_, response) => sendPage(response, 200, page, config);
  };
  return { 'GET /': show(front), 'GET /privacy': show(privacyPage()) };
}
