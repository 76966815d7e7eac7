import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { ImpactValue, RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const SERIOUS: ImpactValue[] = ['serious', 'critical'];

/** What axe finds serious or critical on the page. */
export function seriousFaults(page: Page): Promise<string[]> {
  return faults(page, {});
}

/** The same of colours alone: `light-dark()` in theme.css is all that makes the page dark. */
export function seriousColourFaults(page: Page): Promise<string[]> {
  return faults(page, { runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } });
}

/** All that axe knows of a page is megabytes; only what counts leaves it. */
async function faults(page: Page, options: RunOptions): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(source);
  const asked = JSON.stringify({
    ...options,
    // Looks at every element, and finds what is moderate at most.
    rules: { region: { enabled: false } },
    resultTypes: ['violations'],
  } satisfies RunOptions);
  return page.evaluate<string[]>(`axe.run(${asked}).then(({ violations }) => violations
    .filter(({ impact }) => ${JSON.stringify(SERIOUS)}.includes(impact))
    .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' | ')))`);
}
