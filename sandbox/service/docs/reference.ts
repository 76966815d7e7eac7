import type { AccountApp } from '../api/app.ts';
import type { SiteApp } from '../api/site.ts';
import type { World } from '../world/records.ts';
import { describeInterface, type InterfaceDocument } from './describe.ts';
import { makePublished } from './published.ts';
import { referencePage } from './reference-page.ts';

/** `/docs.json` for machines and `/docs` for people. Spec 1. */
export function addReference(site: SiteApp, accounts: AccountApp): void {
  let made: ReturnType<typeof describeInterface> | undefined;
  // Made with the first request: most services are never asked, and it takes longer than all else at the start.
  function document({ origin }: World): InterfaceDocument {
    made ??= describeInterface(accounts, site);
    return made(origin);
  }
  site.get('/docs.json', (c) => {
    const { world } = c.env;
    if (world.description === 'none') return c.notFound();
    const whole = document(world);
    return c.json(world.description === 'whole' ? whole : makePublished(whole));
  });
  site.get('/docs', (c) => c.html(referencePage(document(c.env.world))));
}
