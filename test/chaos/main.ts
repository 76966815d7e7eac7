import process from 'node:process';
import { breakEverything } from './everything.ts';
import { killReplicas } from './kill-replicas.ts';
import type { Print } from './report.ts';

/** `npm run chaos -- replicas`, or anything that `breakEverything` takes. The exit code is 1 where it did not go well. */
const args = process.argv.slice(2);
const print: Print = (line) => void process.stdout.write(`${line}\n`);
const isWell =
  args[0] === 'replicas' ? await killReplicas(args.slice(1), print) : await breakEverything(args, print);
process.exitCode = isWell ? 0 : 1;
