import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { ImpactValue } from 'axe-core';
import type { Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const SERIOUS: ImpactValue[] = ['serious', 'critical'];
/** All that axe knows of a page is megabytes; only what counts leaves it. */
const FAULTS = `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations
  .filter(({ impact }) => ${JSON.stringify(SERIOUS)}.includes(impact))
  .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' | ')))`;

/** What axe finds serious or critical on the page, which must be opened with `bypassCSP`. */
export async function seriousFaults(page: Page): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(source);
  return page.evaluate<string[]>(FAULTS);
}
