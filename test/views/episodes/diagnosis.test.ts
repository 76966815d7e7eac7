import { describe, expect, it } from 'vitest';
import type { Run } from '../../../src/records/test-runs.ts';
import { diagnosisLine } from '../../../src/views/episodes/diagnosis.ts';
import { RUN } from '../records.ts';

const NAMES = ['web-1', 'web-2', 'web-3'];
const FRESH = { isOlder: false, isRepaired: false };
const TESTED = '(tested at <!date^50580^{time}|1970-01-01 14:03 UTC>)';

/** A run of three servers, of which some fail, each for its reason; `repository` names that of the repository. */
function run(failed: Readonly<Record<string, string | null>>, change: Partial<Run> = {}): Run {
  const servers = NAMES.map((name) => ({ identifier: `id-${name}`, name }));
  const unreachable = servers.filter(({ name }) => name in failed).map(({ identifier }) => identifier);
  const failing = Object.entries(failed).map(([title, message]) => ({
    key: title === 'repository' ? title : `server:id-${title}`,
    title,
    message,
  }));
  return {
    ...RUN,
    endedAt: 50_580_000,
    repository: 'repository' in failed ? 'error' : 'ok',
    total: 3,
    reachable: 3 - unreachable.length,
    servers,
    unreachable,
    failing,
    ...change,
  };
}

const REFUSED = 'Connection refused';

describe('the line of a diagnosis', () => {
  it.each<[string, Run, readonly string[], string | undefined]>([
    [
      'the named server',
      run({ 'web-1': REFUSED }),
      ['web-1'],
      `web-1 cannot be reached: Connection refused ${TESTED}`,
    ],
    [
      'its name in another spelling',
      run({ 'web-1': `${REFUSED}.` }),
      ['WEB-1'],
      `web-1 cannot be reached: Connection refused ${TESTED}`,
    ],
    [
      'others too',
      run({ 'web-1': REFUSED, 'web-2': null, 'web-3': null }),
      ['web-1'],
      `web-1 and 2 others cannot be reached: Connection refused ${TESTED}`,
    ],
    [
      'all where none is named',
      run({ 'web-1': REFUSED, 'web-3': REFUSED }),
      [],
      `web-1 and web-3 cannot be reached: Connection refused ${TESTED}`,
    ],
    [
      'each reason',
      run({ 'web-1': REFUSED, 'web-3': 'Timed out' }),
      [],
      `web-1 (Connection refused) and web-3 (Timed out) cannot be reached ${TESTED}`,
    ],
    ['no reason', run({ 'web-1': null }), [], `web-1 cannot be reached: no reason given ${TESTED}`],
    [
      'all where the named one is unknown',
      run({ 'web-2': REFUSED }),
      ['web-9'],
      `web-2 cannot be reached: Connection refused ${TESTED}`,
    ],
    [
      'the repository',
      run({ repository: 'Key refused' }),
      ['web-1'],
      `The repository cannot be reached: Key refused ${TESTED}`,
    ],
    [
      'the repository with servers that are not named',
      run({ repository: 'Key refused', 'web-2': REFUSED }),
      ['web-1'],
      `The repository and 1 server cannot be reached: Key refused ${TESTED}`,
    ],
    [
      'only others',
      run({ 'web-1': REFUSED, 'web-3': REFUSED }),
      ['web-2'],
      'web-2 is reachable, 2 other servers are not.',
    ],
    [
      'only one other',
      run({ 'web-3': REFUSED }),
      ['web-1', 'web-2'],
      'web-1 and web-2 are reachable, 1 other server is not.',
    ],
    [
      'nothing',
      run({}),
      ['web-1'],
      'Repository and all 3 servers are reachable, so the connection is not the cause.',
    ],
    [
      'nothing, of one server',
      run({}, { total: 1, reachable: 1 }),
      [],
      'Repository and the server are reachable, so the connection is not the cause.',
    ],
    [
      'nothing, without a server',
      run({}, { total: 0, reachable: 0 }),
      [],
      'The repository is reachable, so the connection is not the cause.',
    ],
    [
      'nothing, without a repository',
      run({}, { repository: undefined }),
      [],
      'All 3 servers are reachable, so the connection is not the cause.',
    ],
    ['what cannot be read', run({}, { unread: 1 }), [], undefined],
    ['no result', run({}, { repository: undefined, total: 0, reachable: 0 }), [], undefined],
    [
      'markup in a reason',
      run({ 'web-1': '<!channel> & more' }),
      [],
      `web-1 cannot be reached: &lt;!channel&gt; &amp; more ${TESTED}`,
    ],
  ])('says what a test found: %s', (_, tested, named, line) => {
    expect(diagnosisLine(tested, named, FRESH)).toBe(line);
  });

  it.each([
    [run({}), 'is not the cause. '],
    [run({ 'web-1': REFUSED }), 'is not. '],
  ])('gives the time of a test that was before the failure', (tested, end) => {
    expect(diagnosisLine(tested, ['web-2'], { ...FRESH, isOlder: true })).toContain(`${end}${TESTED}`);
  });

  it('does not clear the connection once something was unreachable after the failure', () => {
    const line = diagnosisLine(run({}), ['web-2'], { ...FRESH, isRepaired: true });
    expect(line).toBe(`Repository and all 3 servers are reachable again ${TESTED}.`);
  });

  it('names no more of 60 servers than can be read, and keeps to one section', () => {
    const servers = Array.from({ length: 60 }, (_, at) => ({
      identifier: `s${at}`,
      name: `web-${at}`.padEnd(200, 'x'),
    }));
    const unreachable = servers.map(({ identifier }) => identifier);
    const line = diagnosisLine(run({}, { servers, unreachable, total: 60, reachable: 0 }), [], FRESH) ?? '';
    expect(line).toContain('and 40 others cannot be reached');
    expect(line.length).toBeLessThan(1_500);
  });
});
