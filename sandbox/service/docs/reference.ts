import type { AccountApp } from '../api/app.ts';
import type { SiteApp } from '../api/site.ts';
import { describeInterface } from './describe.ts';
import { referencePage } from './reference-page.ts';

/** `/docs.json` for machines and `/docs` for people. Spec 1. */
export function addReference(site: SiteApp, accounts: AccountApp, origin: string): void {
  const document = describeInterface(accounts, site, origin);
  site.get('/docs.json', (c) => c.json(document));
  site.get('/docs', (c) => c.html(referencePage(document)));
}
