import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What takes seconds, the longest first: begun last, one of them would end long after all others. */
const LONGEST: readonly RegExp[] = [
  /\/process\/(forms|chaos|replica-digests|replicas|doubles|start|start-faults|kill)\.test\.ts$/,
  /\/transfer\/|\/drain-process\.test|\/jobs\/schedule\.test/,
  /\/browser\//,
  /\/process\/|\/kill-matrix\/|\/fuzz\/|\/sandbox\/slack\/web\//,
];

/** In the same order on a fresh clone, where Vitest knows no durations yet. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

function rank({ moduleId }: TestSpecification): number {
  const found = LONGEST.findIndex((pattern) => pattern.test(moduleId));
  return found === -1 ? LONGEST.length : found;
}
