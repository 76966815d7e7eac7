import { usualBody } from '../api/failure.ts';
import { changeActivity } from './change-activity.ts';
import { changeDeployment, changeDeployments, changeLog, changeWaiting } from './change-deployments.ts';
import { type Answer, changeFailure } from './change-failure.ts';
import { addFullRegion, addStaticSite, changeEnvelope } from './change-hosting.ts';
import { changeList } from './change-list.ts';
import { changeRecord, type Fields, isFields, keyOf } from './change-record.ts';
import { changeRun } from './change-run.ts';
import type { Sky } from './sky.ts';

/** What was asked of an account. */
export interface Question {
  method: string;
  /** Without the account and without `.json`. */
  path: string;
  /** Whether the key would be right if only the e-mail were verified. */
  unverified?: boolean;
}

type Rule = readonly [
  method: string,
  path: RegExp,
  change: (sky: Sky, body: Fields, found: string[]) => unknown,
];

function changeServer(sky: Sky, server: Fields): Fields {
  return changeRecord(sky, 'server', withBlocks(sky, server), keyOf(server));
}

function withBlocks(sky: Sky, server: Fields): Fields {
  const { static_hosting: site, managed_vps: vps } = server;
  return {
    ...server,
    ...(isFields(site) && { static_hosting: changeRecord(sky, 'static_hosting', site, keyOf(server)) }),
    ...(isFields(vps) && { managed_vps: changeRecord(sky, 'managed_vps', vps, keyOf(server)) }),
  };
}

function changeProjects(sky: Sky, body: unknown): unknown {
  const projects = changeList(sky, 'project', body, { name: 'projects' });
  // Spec 4.11: its response shape is not shown.
  return sky.happens('shapes', 'projects') ? { projects } : projects;
}

function changeServers(sky: Sky, body: unknown, [project = '']: string[]): unknown {
  const inside = (row: Fields) => withBlocks(sky, row);
  return changeList(sky, 'server', body, { name: `servers of ${project}`, inside });
}

function changeBuild(sky: Sky, build: Fields): Fields {
  const servers = changeList(sky, 'build_server', build.servers, { name: 'build servers' });
  return { ...changeRecord(sky, 'build_configuration', build, 'build'), servers };
}

function changeResources(sky: Sky, body: unknown): unknown {
  return addStaticSite(sky, changeList(sky, 'hosted_resource', body, { name: 'resources' }));
}

function changePriced(sky: Sky, body: Fields, key: 'regions' | 'sizes'): unknown {
  const kind = key === 'regions' ? 'region' : 'size';
  const rows = changeList(sky, kind, body[key], { name: key });
  const listed = key === 'regions' ? addFullRegion(sky, rows) : rows;
  return changeEnvelope(sky, { ...body, [key]: listed }, key);
}

function changeProfile(sky: Sky, profile: Fields): Fields {
  const account = isFields(profile.account) ? profile.account : {};
  return {
    ...changeRecord(sky, 'profile', profile, 'profile'),
    account: changeRecord(sky, 'profile_account', account, 'account'),
  };
}

const PROJECT = '^/projects/([^/]+)';

/** By operation, what its success looks like in this weather. */
const RULES: readonly Rule[] = [
  ['GET', /^\/profile$/, changeProfile],
  ['GET', /^\/projects$/, changeProjects],
  ['GET', new RegExp(`${PROJECT}/servers$`), changeServers],
  ['*', new RegExp(`${PROJECT}/servers(?:/[^/]+)?$`), changeServer],
  [
    '*',
    new RegExp(`${PROJECT}/(?:servers/[^/]+/)?test_access(?:/[^/]+)?$`),
    (sky, run, [project = '']) => changeRun(sky, run, project),
  ],
  ['GET', new RegExp(`${PROJECT}/build_configurations/[^/]+$`), changeBuild],
  [
    '*',
    new RegExp(`${PROJECT}/integrations(?:/[^/]+)?$`),
    (sky, body) => ('auth_required' in body ? body : changeRecord(sky, 'integration', body)),
  ],
  ['GET', new RegExp(`${PROJECT}/deployments$`), changeDeployments],
  ['GET', new RegExp(`${PROJECT}/deployments/[^/]+$`), changeDeployment],
  ['GET', new RegExp(`${PROJECT}/deployments/[^/]+/steps/[^/]+/logs$`), changeLog],
  ['GET', new RegExp(`${PROJECT}/undeployed_changes$`), changeWaiting],
  ['GET', /^\/hosted_resources$/, changeResources],
  ['GET', /^\/hosted_resources\/[^/]+$/, (sky, body) => changeRecord(sky, 'hosted_resource', body)],
  ['GET', /^\/managed_hosting\/regions$/, (sky, body) => changePriced(sky, body, 'regions')],
  ['GET', /^\/managed_hosting\/sizes$/, (sky, body) => changePriced(sky, body, 'sizes')],
  ['GET', /^\/activity$/, changeActivity],
  ['GET', /^\/account\/invoices$/, (sky, body) => changeList(sky, 'invoice', body, { name: 'invoices' })],
  ['POST', /^\/api\/v1\/signup$/, (sky, body) => changeRecord(sky, 'new_account', body, 'new account')],
];

/** Lists that services have answered with 404 and `record_not_found`, though they were there a moment later. */
const MISSED = /^\/(?:activity|account\/invoices)$/;

/** Met beside the specification's 401. */
const UNVERIFIED = {
  status: 403,
  body: { error_code: 'email_verification_required', hint: 'Verify your e-mail address first.' },
};

/** The answer as this weather has it. */
export function changeAnswer(sky: Sky, { method, path, unverified }: Question, answer: Answer): Answer {
  const key = `${method} ${path}`;
  if (unverified && sky.wild && sky.happens('failures', 'unverified')) return UNVERIFIED;
  if (answer.status >= 400) return changeFailure(sky, answer, key);
  if (method === 'GET' && isMissed(sky, path))
    return changeFailure(sky, { status: 404, body: usualBody(404) }, key);
  if (isWithoutList(sky, method, path)) return { status: 404, body: { error_code: 'invalid_api_method' } };
  const [, pattern, change] =
    RULES.find(([of, where]) => (of === '*' || of === method) && where.test(path)) ?? [];
  const found = pattern?.exec(path)?.slice(1) ?? [];
  const body = change === undefined ? answer.body : change(sky, answer.body as Fields, found);
  return { status: statusOf(sky, method, path, answer.status), body };
}

/** Every second time at the most, so that it is never met three times in a row. */
function isMissed(sky: Sky, path: string): boolean {
  if (!sky.wild || !MISSED.test(path) || !sky.allows('not_found')) return false;
  const n = sky.count(`missed ${path}`);
  return n % 2 === 0 && sky.happens('not_found', path, String(n));
}

/** The list of a project's servers is outside the specification; some services have none. */
function isWithoutList(sky: Sky, method: string, path: string): boolean {
  const isList = method === 'GET' && /^\/projects\/[^/]+\/servers$/.test(path);
  return isList && sky.wild && sky.happens('shapes', 'no list of servers') && sky.fraction('no list') < 0.25;
}

/** What was made or queued is answered with 200 or 201: the specification gives neither. Spec 4.4, 4.6, 4.8. */
function statusOf(sky: Sky, method: string, path: string, status: number): number {
  const isMade = method === 'POST' && /\/(?:servers|test_access|integrations)$/.test(path);
  if (!isMade || !sky.happens('statuses', path)) return status;
  return sky.pick([200, 201], 'status', path);
}
