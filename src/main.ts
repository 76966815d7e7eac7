import process from 'node:process';
import { commandLine } from './command-line.ts';

await commandLine(process.argv.slice(2), process.env);
