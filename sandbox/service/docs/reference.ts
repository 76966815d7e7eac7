import type { AccountApp } from '../api/app.ts';
import type { SiteApp } from '../api/site.ts';
import type { World } from '../world/records.ts';
import { describeInterface, type InterfaceDocument } from './describe.ts';
import { referencePage } from './reference-page.ts';

/** `/docs.json` for machines and `/docs` for people. Spec 1. */
export function addReference(site: SiteApp, accounts: AccountApp): void {
  const made = new WeakMap<World, InterfaceDocument>();
  // Made with a service's first request: most are never asked, and it takes longer than all else at the start.
  function document(world: World): InterfaceDocument {
    const known = made.get(world) ?? describeInterface(accounts, site, world.origin);
    made.set(world, known);
    return known;
  }
  site.get('/docs.json', (c) => c.json(document(c.env.world)));
  site.get('/docs', (c) => c.html(referencePage(document(c.env.world))));
}
