import { isDeepStrictEqual } from 'node:util';
import { isInScope, isSameOrNone, isSameProject, type ProjectRef } from '../../core/project-ref.ts';
import {
  type Digest,
  type Escalation,
  type Guard,
  isPersonal,
  type Schedule,
  type TimedSchedule,
  type Watch,
  type WorkingHours,
} from '../../records/schedules.ts';

/** Value of a field that the form cannot say. It stays. */
export const AS_IS = 'as_is';
export type AsIs = typeof AS_IS;

/** The pattern of a watch of all projects. */
export const ALL_PROJECTS = '*';

export type Hearing = 'failures' | 'everything' | 'nothing';
export type GuardChoice = 'none' | 'hourly' | 'daily';
export type DigestChoice = 'none' | 'weekly' | 'daily';

/** The schedules of a channel that the form of an account is about. */
export interface SetUpSchedules {
  watches: readonly Watch[];
  guards: readonly Guard[];
  digests: readonly Digest[];
}

/** The schedules of a channel and account, in the terms of the form. */
export interface ChannelSetup {
  projects: readonly ProjectRef[];
  patterns: readonly string[];
  hear: Hearing | AsIs;
  escalation: Escalation | undefined | AsIs;
  hours: WorkingHours | undefined | AsIs;
  guard: GuardChoice | AsIs;
  digest: DigestChoice | AsIs;
}

/** A digest of every account is part of the form of each. */
export function selectSetUp(all: readonly Schedule[], channel: string, account: string): SetUpSchedules {
  const here = all.filter((one) => one.channel === channel && !isPersonal(one));
  return {
    watches: here.filter((one) => one.kind === 'watch').filter((one) => one.account === account),
    guards: here.filter((one) => one.kind === 'guard').filter((one) => one.account === account),
    digests: here
      .filter((one) => one.kind === 'digest')
      .filter((one) => (one.account ?? account) === account),
  };
}

/** Pure. */
export function describeSetup(schedules: SetUpSchedules): ChannelSetup {
  const { watches, guards, digests } = schedules;
  const projects = listSetUpProjects([...watches, ...guards, ...digests]);
  const patterns = watches.filter(isPlain).flatMap((watch) => readPattern(watch) ?? []);
  return {
    projects,
    patterns,
    hear: describeHearing(watches, projects),
    escalation: readCommon([...watches, ...guards].map(({ escalation }) => escalation)),
    hours: readCommon(watches.map(({ hours }) => hours)),
    guard: describeGuards(guards, projects),
    digest: describeDigests(digests, { projects, patterns }),
  };
}

/** True for a watch that the form can say: it follows all servers. */
export function isPlain({ server }: Watch): boolean {
  return server === undefined;
}

/** The pattern of a watch of several projects; undefined for a watch of one. */
export function readPattern({ project, pattern = ALL_PROJECTS }: Watch): string | undefined {
  return project === undefined ? pattern : undefined;
}

export function listSetUpProjects(
  schedules: ReadonlyArray<{ project?: ProjectRef | undefined }>,
): ProjectRef[] {
  const projects: ProjectRef[] = [];
  for (const { project } of schedules)
    if (project !== undefined && !projects.some((one) => isSameProject(one, project))) projects.push(project);
  return projects;
}

/** The value that all have; `AS_IS` if they differ. */
export function readCommon<T>(values: readonly T[]): T | undefined | AsIs {
  const [first] = values;
  return values.every((value) => isDeepStrictEqual(value, first)) ? first : AS_IS;
}

const HEARD: Readonly<Record<Watch['mode'], Hearing | AsIs>> = {
  failures: 'failures',
  all: 'everything',
  transitions: AS_IS,
};

function describeHearing(watches: readonly Watch[], projects: readonly ProjectRef[]): Hearing | AsIs {
  const [first] = watches;
  if (first === undefined) return 'nothing';
  const isWhole = projects.every((project) => watches.some((watch) => isInScope(watch, project)));
  if (!isWhole || !watches.every(isPlain)) return AS_IS;
  return watches.every(({ mode }) => mode === first.mode) ? HEARD[first.mode] : AS_IS;
}

function describeGuards(guards: readonly Guard[], projects: readonly ProjectRef[]): GuardChoice | AsIs {
  const [first] = guards;
  if (first === undefined) return 'none';
  const areSame = guards.every((guard) => isDeepStrictEqual(readTimes(guard), readTimes(first)));
  const { kind } = first.cadence;
  if (!areSame || guards.length !== projects.length || (kind !== 'hourly' && kind !== 'daily')) return AS_IS;
  return kind;
}

function readTimes({ cadence, zone }: TimedSchedule): unknown {
  return [cadence, zone];
}

function describeDigests(
  [first, ...others]: readonly Digest[],
  scope: Pick<ChannelSetup, 'projects' | 'patterns'>,
): DigestChoice | AsIs {
  if (first === undefined) return 'none';
  const { kind } = first.cadence;
  const isExpected = others.length === 0 && isSameOrNone(first.project, findDigestProject(scope));
  return isExpected && (kind === 'weekly' || kind === 'daily') ? kind : AS_IS;
}

/** A channel's digest is of its only project, else of the account. */
export function findDigestProject({
  projects,
  patterns,
}: Pick<ChannelSetup, 'projects' | 'patterns'>): ProjectRef | undefined {
  return projects.length === 1 && patterns.length === 0 ? projects[0] : undefined;
}
