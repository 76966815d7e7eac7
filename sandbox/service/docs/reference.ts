import type { AccountApp } from '../api/app.ts';
import type { SiteApp } from '../api/site.ts';
import { describeInterface, type InterfaceDocument } from './describe.ts';
import { referencePage } from './reference-page.ts';

/** `/docs.json` for machines and `/docs` for people. Spec 1. */
export function addReference(site: SiteApp, accounts: AccountApp, origin: string): void {
  let made: InterfaceDocument | undefined;
  // Made with the first request: most services are never asked, and it takes longer than all else at the start.
  function document(): InterfaceDocument {
    made ??= describeInterface(accounts, site, origin);
    return made;
  }
  site.get('/docs.json', (c) => c.json(document()));
  site.get('/docs', (c) => c.html(referencePage(document())));
}
