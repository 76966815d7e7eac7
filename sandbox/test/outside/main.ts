import process from 'node:process';
import { parseArgs } from 'node:util';
import { talkToEmulate } from './against-emulate.ts';
import { talkToPrism } from './against-prism.ts';
import { say } from './report.ts';

/** `npm run test:outside [-- <OpenAPI document>]`; see README.md. */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '3' } },
});
const document = positionals[0] ?? process.env.OUTSIDE_OPENAPI;
const lines = [...(await talkToEmulate()), ...(await talkToPrism(document, Number(values.rounds)))];
const failed = lines.filter(({ outcome }) => outcome === 'FAILED');
say(failed.length === 0 ? '\nnothing was refused' : `\n${failed.length} refused`);
process.exitCode = failed.length === 0 ? 0 : 1;
