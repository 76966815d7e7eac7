import { arch, cpus, totalmem } from 'node:os';
import process from 'node:process';
import { acks } from './acks.ts';
import { bursts } from './bursts.ts';
import { coldStart } from './cold-start.ts';
import { digests } from './digests.ts';
import { endurance } from './endurance.ts';
import { failures } from './failures.ts';
import { followedRuns } from './followed-runs.ts';
import { holds } from './holds.ts';
import { idle } from './idle.ts';
import { ledger } from './ledger.ts';
import { months } from './months.ts';
import { oneDeployment } from './one-deployment.ts';
import { quietWatches } from './quiet-watches.ts';
import { scale } from './scale.ts';
import { whoami } from './whoami.ts';

/** Each measurement prints its own table. `npm run bench -- followed-runs` runs those named; without a name, all. */
const MEASUREMENTS: Readonly<Record<string, () => Promise<void>>> = {
  acks,
  bursts,
  whoami,
  'followed-runs': followedRuns,
  digests,
  holds,
  idle,
  ledger,
  months,
  'quiet-watches': quietWatches,
  'one-deployment': oneDeployment,
  failures,
  'cold-start': coldStart,
  endurance,
  scale,
};

const named = process.argv.slice(2);
const unknown = named.find((name) => !(name in MEASUREMENTS));
if (unknown !== undefined) {
  console.error(`There is no measurement ${unknown}; there are ${Object.keys(MEASUREMENTS).join(', ')}.`);
  process.exit(1);
}
const memory = Math.round(totalmem() / 1024 ** 3);
console.log(`Node ${process.version}, ${process.platform} ${arch()}, ${cpus().length} cores, ${memory} GB`);
for (const [name, measure] of Object.entries(MEASUREMENTS)) {
  if (named.length > 0 && !named.includes(name)) continue;
  console.log(`\n## ${name}\n`);
  await measure();
}
