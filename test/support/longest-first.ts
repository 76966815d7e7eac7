import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * What takes seconds, the longest first: begun last, one of them would end long after all others. Most of that time they
 * wait, for processes, leases and browsers.
 */
const LONGEST: readonly RegExp[] = [
  /\/recipes\/|\/process\/(chaos|replicas|forms|bundle)\.test\.ts$|\/cli\/transfer\.test|\/socket-mode\.test/,
  /\/test\/browser\/|\/slack\/web\/(renderer|accessibility)\.test/,
  /\/process\/|\/cli\/|\/drain-process\.test|\/kill-matrix\/|\/fuzz\/|\/sandbox\/test\/(slack\/web\/|demo\.test)/,
  /\/(walk|failed-step|diagnosis|doctor|clock-jumps|push-(ends|removal)|store\/outage|listeners\/listeners)\.test/,
  /\/(slack-outage|forty-tests|read-feeds|retention|activity\/waiting|listeners\/progress|setup\/move)\.test/,
];

/**
 * In the same order on a fresh clone, where Vitest knows no durations yet. After each of the longest comes one that
 * computes, so that no core is idle while they wait.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const longest = sorted.filter((file) => rank(file) < LONGEST.length).sort((a, b) => rank(a) - rank(b));
    const others = sorted.filter((file) => rank(file) === LONGEST.length);
    const pairs = longest.flatMap((file, at) => [file, ...others.slice(at, at + 1)]);
    return [...pairs, ...others.slice(longest.length)];
  }
}

function rank({ moduleId }: TestSpecification): number {
  const found = LONGEST.findIndex((pattern) => pattern.test(moduleId));
  return found === -1 ? LONGEST.length : found;
}
