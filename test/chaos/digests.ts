import { parseArgs } from 'node:util';
import { runChaos } from '../process/digest-chaos.ts';
import { type Print, sumUp } from './report.ts';

/** The long form of `digests.test.ts`: `npm run chaos -- digests --kills 200`. False where it did not go well. */
export async function killAmidDigests(args: string[], print: Print): Promise<boolean> {
  const { values } = parseArgs({
    args,
    options: { kills: { type: 'string', default: '200' }, digests: { type: 'string', default: '50' } },
  });
  const result = await runChaos({
    kills: Number(values.kills),
    digests: Number(values.digests),
    onSlot: (killed) => print(`${killed} kills`),
  });
  print(`${result.kills} kills while ${result.due} slots fell due:`);
  return sumUp(result, result.uncertain, print);
}
