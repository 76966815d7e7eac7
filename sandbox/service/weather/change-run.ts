import { changeRecord, type Fields, isFields } from './change-record.ts';
import type { Sky } from './sky.ts';

/** Words before the end that services use, two of them known and one that no document has. */
const WORDS = ['pending', 'queued', 'warming_up'] as const;

/** A test run: other words until it ends, and results that leave out what is not needed. */
export function changeRun(sky: Sky, run: Fields, project: string): Fields {
  const key = `${project} ${sky.ordinal(`run of ${project}`, String(run.identifier))}`;
  const results = isFields(run.results) ? { results: changeResults(sky, run.results, key) } : {};
  return { ...changeRecord(sky, 'test_run', run, key), ...wordOf(sky, run, key), ...results };
}

/** One word after the other, from poll to poll, and at last the specification's own. */
function wordOf(sky: Sky, run: Fields, key: string): Fields {
  if (!sky.wild || run.status !== 'running' || !sky.happens('run_words', key)) return {};
  const first = Math.floor(sky.fraction('first word', key) * WORDS.length);
  return { status: WORDS[first + sky.count(`word of ${key}`)] ?? 'running' };
}

function changeResults(sky: Sky, results: Fields, key: string): Fields {
  const { repository, servers } = results;
  const changed = Array.isArray(servers)
    ? servers.filter(isFields).map((row) => changeRecord(sky, 'test_result', row, `${key} ${row.name}`))
    : servers;
  if (Array.isArray(changed) && sky.wild && sky.happens('odd_rows', 'results', key))
    changed.push(sky.pick([null, 'gone', { name: 'nameless' }], 'odd result', key) as Fields);
  const ordered =
    Array.isArray(changed) && sky.happens('order', 'results', key) ? changed.toReversed() : changed;
  return {
    ...results,
    ...(isFields(repository) && { repository: changeRecord(sky, 'test_result', repository, key) }),
    servers: ordered,
  };
}
