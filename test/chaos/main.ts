import process from 'node:process';
import { breakEverything } from './everything.ts';

/** The exit code is 1 where it did not go well. */
const isWell = await breakEverything(process.argv.slice(2), (line) => void process.stdout.write(`${line}\n`));
process.exitCode = isWell ? 0 : 1;
