import { describe, expect, it } from 'vitest';
import type { Run } from '../../src/records/test-runs.ts';
import { diagnosisLine } from '../../src/views/episodes/diagnosis.ts';

const FRESH = { isOlder: false, isRepaired: false };
/** The run of these tests began at the epoch. */
const BEFORE = 'At <!date^0^{time}|1970-01-01 00:00 UTC>, before this failure,';
const TESTED = '(tested at <!date^50580^{time}|1970-01-01 14:03 UTC>)';

type Failed = Readonly<Record<string, string | null>>;

/** A run of three servers, of which some fail, each for its reason; `repository` names that of the repository. */
function run(failed: Failed, change: Partial<Run> = {}): Run {
  const servers = ['web-1', 'web-2', 'web-3'].map((name) => ({ identifier: `id-${name}`, name }));
  const unreachable = servers.filter(({ name }) => name in failed).map(({ identifier }) => identifier);
  const failing = Object.entries(failed).map(([title, message]) => ({
    key: title === 'repository' ? title : `server:id-${title}`,
    title,
    message,
  }));
  return {
    target: { account: 'acme', project: { permalink: 'storefront', name: 'Storefront' } },
    id: 'run 1',
    requestId: 'r1',
    startedAt: 0,
    status: 'completed',
    threads: true,
    layout: 'compact',
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

describe('the line of a diagnosis', () => {
  const no = 'Connection refused';

  it.each<[Failed, string[], string]>([
    [{ 'web-1': no }, ['web-1'], 'web-1 cannot be reached: Connection refused'],
    [{ 'web-1': `${no}.` }, ['WEB-1'], 'web-1 cannot be reached: Connection refused'],
    [{ 'web-1': no, 'web-2': null, 'web-3': null }, ['web-1'], `web-1 and 2 others cannot be reached: ${no}`],
    [{ 'web-1': no, 'web-3': no }, [], 'web-1 and web-3 cannot be reached: Connection refused'],
    [{ 'web-1': no, 'web-3': 'Late' }, [], `web-1 (${no}) and web-3 (Late) cannot be reached`],
    [{ 'web-1': null }, [], 'web-1 cannot be reached: no reason given'],
    [{ 'web-2': no }, ['web-9'], 'web-2 cannot be reached: Connection refused'],
    [{ repository: 'Key refused' }, ['web-1'], 'The repository cannot be reached: Key refused'],
    [{ repository: no, 'web-2': no }, ['web-1'], `The repository and 1 server cannot be reached: ${no}`],
    [{ 'web-1': '<!channel> & more' }, [], 'web-1 cannot be reached: &lt;!channel&gt; &amp; more'],
  ])('of %j, if the failure names %j, is: %s', (failed, named, line) => {
    expect(diagnosisLine(run(failed), named, FRESH)).toBe(`${line} ${TESTED}`);
  });

  it.each<[Failed, string[], string, string]>([
    [
      { 'web-1': no, 'web-3': no },
      ['web-2'],
      'web-2 is reachable, 2 other servers are not',
      'web-2 was reachable, 2 other servers were not',
    ],
    [
      { 'web-3': no },
      ['web-1', 'web-2'],
      'web-1 and web-2 are reachable, 1 other server is not',
      'web-1 and web-2 were reachable, 1 other server was not',
    ],
  ])('of %j tells that %j can be reached: %s', (failed, named, line, earlier) => {
    expect(diagnosisLine(run(failed), named, FRESH)).toBe(`${line}.`);
    expect(diagnosisLine(run(failed), named, { ...FRESH, isOlder: true })).toBe(`${BEFORE} ${earlier}.`);
  });

  it.each<[Partial<Run>, string]>([
    [{}, 'Repository and all 3 servers are'],
    [{ total: 1, reachable: 1 }, 'Repository and the server are'],
    [{ total: 0, reachable: 0 }, 'The repository is'],
    [{ repository: undefined }, 'All 3 servers are'],
  ])('tells that the connection is not the cause after a run like %j', (change, words) => {
    const line = diagnosisLine(run({}, change), ['web-1'], FRESH);
    expect(line).toBe(`${words} reachable, so the connection is not the cause.`);
  });

  it('does not clear the connection once something was unreachable after the failure', () => {
    const line = diagnosisLine(run({}), ['web-2'], { ...FRESH, isRepaired: true });
    expect(line).toBe(`Repository and all 3 servers are reachable again ${TESTED}.`);
  });

  it.each<[Partial<Run>]>([[{ unread: 1 }], [{ repository: undefined, total: 0, reachable: 0 }]])(
    'is missing after a run like %j, whose results say nothing',
    (change) => {
      expect(diagnosisLine(run({}, change), [], FRESH)).toBeUndefined();
    },
  );

  it('names no more of 60 servers than can be read', () => {
    const servers = Array.from({ length: 60 }, (_, at) => ({ identifier: `s${at}`, name: 'x'.repeat(200) }));
    const unreachable = servers.map(({ identifier }) => identifier);
    const line = diagnosisLine(run({}, { servers, unreachable, total: 60, reachable: 0 }), [], FRESH) ?? '';
    expect(line).toContain('and 40 others cannot be reached');
    expect(line.length).toBeLessThan(1_500);
  });
});
