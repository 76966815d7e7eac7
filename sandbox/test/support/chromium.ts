import { existsSync } from 'node:fs';
import process from 'node:process';
import { type BrowserServer, chromium } from 'playwright-core';

const candidates = [process.env.CHROMIUM_PATH, '/usr/bin/chromium', '/usr/bin/chromium-browser'];
/**
 * A window of Chromium loads pages for its address bar, though nothing shows them: they cost more than the page under
 * test. The others are what Playwright turns off of what tests meet, since a later list replaces an earlier one.
 */
const UNUSED = [
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup', 'AimEnabled', 'LensOverlay'],
  ...['MediaRouter', 'OptimizationHints', 'NetworkTimeServiceQuerying', 'PreconnectToSearch'],
  ...['HttpsUpgrades', 'HttpsFirstBalancedModeAutoEnable', 'PaintHolding', 'DestroyProfileOnBrowserClose'],
  ...['SpareRendererForSitePerProcess'],
];
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--font-render-hinting=none',
  // Edges of letters in colour take a fifth of the work of drawing a page.
  '--disable-lcd-text',
  `--disable-features=${UNUSED.join(',')}`,
  // A page of a test lives too short to win back what compiling ahead and optimizing cost.
  '--js-flags=--max-lazy --no-maglev --no-opt',
];

/** Where Chromium is on this machine. */
export function findChromium(): string | undefined {
  return candidates.find((path) => path !== undefined && existsSync(path));
}

/** Ends with this process at the latest, whose signals stay its own. */
export function startChromium(): Promise<BrowserServer> {
  return chromium.launchServer({
    host: '127.0.0.1',
    executablePath: findChromium() ?? '',
    args,
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
}
