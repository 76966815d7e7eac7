import { changeRecord, type Fields, isFields } from './change-record.ts';
import type { Sky } from './sky.ts';

/** Deployments, their steps and logs, and what waits. The specification has none of them, so only services in the wild vary. */
export function changeDeployments(sky: Sky, body: unknown): unknown {
  if (!sky.wild || !isFields(body) || !Array.isArray(body.records)) return body;
  const records: unknown[] = body.records.filter(isFields).map((one) => changeDeployment(sky, one));
  if (sky.happens('odd_rows', 'deployments')) records.splice(1, 0, null);
  return sky.happens('shapes', 'deployments') ? records : { ...body, records };
}

export function changeDeployment(sky: Sky, deployment: Fields): unknown {
  if (!sky.wild) return deployment;
  const key = sky.ordinal('deployment', String(deployment.identifier));
  const { start_revision: start, end_revision: end, servers, steps } = deployment;
  const inside = {
    ...deployment,
    ...(isFields(start) && { start_revision: changeRecord(sky, 'revision', start, `start ${key}`) }),
    ...(isFields(end) && { end_revision: changeRecord(sky, 'revision', end, `end ${key}`) }),
    ...(Array.isArray(servers) && { servers: changeRows(sky, 'deployed_server', servers, key) }),
    ...(Array.isArray(steps) && { steps: changeRows(sky, 'step', steps, key) }),
  };
  return changeRecord(sky, 'deployment', inside, key);
}

export function changeLog(sky: Sky, entries: unknown): unknown {
  return sky.wild && Array.isArray(entries) ? changeRows(sky, 'log_entry', entries, 'log') : entries;
}

export function changeWaiting(sky: Sky, waiting: Fields): unknown {
  return sky.wild ? changeRecord(sky, 'waiting', waiting, 'waiting') : waiting;
}

function changeRows(sky: Sky, kind: 'deployed_server' | 'step' | 'log_entry', rows: unknown[], key: string) {
  return rows.filter(isFields).map((row, at) => changeRecord(sky, kind, row, `${key} ${at}`));
}
