import process from 'node:process';
import { proveIn } from './prove.ts';

/** Has Slack itself check every message, form and home of the corpus: `npm run prove:slack`. */

const { code, said } = await proveIn(process.cwd(), process.env);
(code === 78 ? process.stderr : process.stdout).write(said);
process.exitCode = code;
