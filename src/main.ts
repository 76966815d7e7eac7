import process from 'node:process';
import { commandLine } from './cli/programs.ts';

await commandLine(process.argv.slice(2), process.env);
