import type { ServerResponse } from 'node:http';
import { type Page, pageOf } from '../views/blocks/page.ts';
import { sendText } from './receivers/http-server.ts';

/** Every page has the operator's way to help, where there is one. */
export function sendPage(
  response: ServerResponse,
  status: number,
  page: Page,
  { SUPPORT_URL: help }: { SUPPORT_URL?: string | undefined },
): void {
  const links = help === undefined ? [] : [{ label: 'Get help', url: help }];
  const shown = { ...page, links: [...(page.links ?? []), ...links] };
  sendText(response, status, pageOf(shown), 'text/html');
}
