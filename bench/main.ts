import process from 'node:process';
import { digests } from './digests.ts';
import { followedRuns } from './followed-runs.ts';

/** Each measurement prints its own table. `npm run bench -- followed-runs` runs those named; without a name, all. */
const MEASUREMENTS: Readonly<Record<string, () => Promise<void>>> = {
  digests,
  'followed-runs': followedRuns,
};

const named = process.argv.slice(2);
const unknown = named.find((name) => !(name in MEASUREMENTS));
if (unknown !== undefined) {
  console.error(`There is no measurement ${unknown}; there are ${Object.keys(MEASUREMENTS).join(', ')}.`);
  process.exit(1);
}
for (const [name, measure] of Object.entries(MEASUREMENTS)) {
  if (named.length > 0 && !named.includes(name)) continue;
  console.log(`\n## ${name}\n`);
  await measure();
}
