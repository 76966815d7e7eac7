import process from 'node:process';
import { parseArgs } from 'node:util';
import { runChaos } from './digest-chaos.ts';

/** The long form of `digests.test.ts`: `npm run chaos:digests -- --kills 200`. */
const { values } = parseArgs({
  options: { kills: { type: 'string', default: '200' }, digests: { type: 'string', default: '50' } },
});
const print = (line: string): void => void process.stdout.write(`${line}\n`);

const result = await runChaos({
  kills: Number(values.kills),
  digests: Number(values.digests),
  onSlot: (killed) => print(`${killed} kills`),
});
const { kills, due, lost, doubled, uncertain } = result;
const unexplained = doubled.filter((name) => !uncertain.includes(name));
print(`${kills} kills while ${due} slots fell due: ${lost.length} lost, ${doubled.length} doubled.`);
print(`${uncertain.length} posts were sent again because nobody knew whether Slack had them, and counted.`);
for (const name of lost) print(`lost: ${name}`);
for (const name of unexplained) print(`doubled without a count: ${name}`);
process.exitCode = lost.length + unexplained.length === 0 ? 0 : 1;
