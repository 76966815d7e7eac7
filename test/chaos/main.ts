import process from 'node:process';
import { killAmidDigests } from './digests.ts';
import { breakEverything } from './everything.ts';
import { killReplicas } from './replicas.ts';
import type { Print } from './report.ts';

/**
 * `npm run chaos -- digests` and `npm run chaos -- replicas` kill while digests are due; anything else is for
 * `breakEverything`. The exit code is 1 where it did not go well.
 */
const FORMS: Record<string, (args: string[], print: Print) => Promise<boolean>> = {
  digests: killAmidDigests,
  replicas: killReplicas,
};

const args = process.argv.slice(2);
const form = FORMS[args[0] ?? ''];
const print: Print = (line) => void process.stdout.write(`${line}\n`);
const isWell = form === undefined ? await breakEverything(args, print) : await form(args.slice(1), print);
process.exitCode = isWell ? 0 : 1;
