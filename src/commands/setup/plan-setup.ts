import { isDeepStrictEqual } from 'node:util';
import { defined } from '../../core/json.ts';
import { isInScope, isSameProject, type ProjectRef } from '../../core/project-ref.ts';
import {
  ACTIVE,
  type Cadence,
  type Digest,
  type Guard,
  type Schedule,
  type Watch,
} from '../../records/schedules.ts';
import type { PlannedChange } from '../../scheduler/setup/setup-plan.ts';
import { FormFault } from '../submission.ts';
import {
  ALL_PROJECTS,
  AS_IS,
  type AsIs,
  type ChannelSetup,
  type DigestChoice,
  findDigestProject,
  type GuardChoice,
  type Hearing,
  isPlain,
  readCommon,
  readPattern,
  type SetUpSchedules,
} from './describe-setup.ts';

/** The choices of a submitted form. Undefined: it stays as it is, and nothing is known for what is added. */
export interface SetupChoices extends Pick<ChannelSetup, 'projects' | 'patterns' | 'escalation' | 'hours'> {
  hear: Hearing | undefined;
  guard: GuardChoice | undefined;
  digest: DigestChoice | undefined;
  /** Fields that differ from what the channel has. */
  changed: ReadonlySet<ChangedField>;
}

export type ChangedField = 'hear' | 'mention' | 'hours' | 'guard' | 'digest';

/** For schedules that are added. */
export interface NewSchedules {
  channel: string;
  account: string;
  createdBy: string;
  requestId: string;
  zone: string;
  range: Digest['range'];
  /** Milliseconds since the epoch. */
  now: number;
  /** Chooses a free id. @param seed differs for each schedule of a request */
  makeId(kind: Schedule['kind'], seed: string): string;
}

const MODES = { failures: 'failures', everything: 'all' } as const;
const TIME = '09:00';
const CADENCES: Readonly<Record<'hourly' | 'daily' | 'weekly', Cadence>> = {
  hourly: { kind: 'hourly' },
  daily: { kind: 'daily', time: TIME },
  weekly: { kind: 'weekly', day: 'mon', time: TIME },
};

/**
 * The changes that make a channel what the form says. Pure.
 * @throws FormFault if the form does not say how something that is added should be
 */
export function planSetup(
  current: SetUpSchedules,
  setup: ChannelSetup,
  choices: SetupChoices,
  fresh: NewSchedules,
): PlannedChange[] {
  const isKept: Step['isKept'] = ({ project }) =>
    project === undefined || choices.projects.some((one) => isSameProject(one, project));
  const step = { current, setup, choices, fresh, isKept };
  return [...planWatches(step), ...planGuards(step), ...planDigests(step)];
}

interface Step {
  current: SetUpSchedules;
  setup: ChannelSetup;
  choices: SetupChoices;
  fresh: NewSchedules;
  isKept(schedule: { project?: ProjectRef | undefined }): boolean;
}

function planWatches({ current, setup, choices, fresh, isKept }: Step): PlannedChange[] {
  const { changed, hear, escalation, hours } = choices;
  const isLeft = (watch: Watch): boolean => {
    const pattern = isPlain(watch) ? readPattern(watch) : undefined;
    if (changed.has('hear') && hear === 'nothing') return false;
    return isKept(watch) && (pattern === undefined || choices.patterns.includes(pattern));
  };
  const remaining = current.watches.filter(isLeft);
  const edited = remaining.map(
    (watch): Watch => ({
      ...watch,
      ...(changed.has('hear') && hear !== undefined && hear !== 'nothing' && { mode: MODES[hear] }),
      ...(changed.has('mention') && escalation !== AS_IS && { escalation }),
      ...(changed.has('hours') && hours !== AS_IS && { hours }),
    }),
  );
  const added = listMissing({ current, setup, choices, remaining }).map((scope): Watch => {
    const chosen = hear === undefined || hear === 'nothing' ? AS_IS : MODES[hear];
    return {
      ...makeCommon(fresh, 'watch', JSON.stringify(scope)),
      ...scope,
      mode: chooseLike(current.watches, 'hear', (watch) => watch.mode, chosen) ?? 'failures',
      escalation: chooseLike(current.watches, 'mention', (watch) => watch.escalation, escalation),
      hours: chooseLike(current.watches, 'hours', (watch) => watch.hours, hours),
    };
  });
  return [...compare(current.watches, edited), ...added.map(planAddition)];
}

/** A choice for what is added. If the form leaves it as it is, that of the others of the kind. @throws FormFault if they differ */
function chooseLike<S, T>(
  others: readonly S[],
  field: string,
  read: (other: S) => T | undefined,
  choices: T | undefined | AsIs,
): T | undefined {
  const choice = choices === AS_IS ? readCommon(others.map(read)) : choices;
  if (choice === AS_IS) throw new FormFault({ [field]: 'This differs here. Choose one for what you add.' });
  return choice;
}

type Scope = Pick<Watch, 'project' | 'pattern'>;

/** Finds projects and patterns without a watch: new ones, formerly covered ones, or all if the person chose what to hear. */
function listMissing({
  current,
  setup,
  choices,
  remaining,
}: Pick<Step, 'current' | 'setup' | 'choices'> & { remaining: readonly Watch[] }): Scope[] {
  const { hear, changed } = choices;
  if (hear === 'nothing') return [];
  const isChosen = changed.has('hear');
  const patterns = choices.patterns.filter(
    (pattern) => (isChosen || !setup.patterns.includes(pattern)) && !remaining.some(followsPattern(pattern)),
  );
  const scopes = patterns.map((pattern): Scope => (pattern === ALL_PROJECTS ? {} : { pattern }));
  const projects = choices.projects.filter((project) => {
    const isNew = !setup.projects.some((one) => isSameProject(one, project));
    const wasCovered = current.watches.some((watch) => isInScope(watch, project));
    const isCovered = [...remaining, ...scopes].some((scope) => isInScope(scope, project));
    return !isCovered && (isChosen || isNew || wasCovered);
  });
  return [...scopes, ...projects.map((project) => ({ project }))];
}

function followsPattern(pattern: string): (watch: Watch) => boolean {
  return (watch) => isPlain(watch) && readPattern(watch) === pattern;
}

function planGuards({ current, setup, choices, fresh, isKept }: Step): PlannedChange[] {
  const { guard: choice, changed } = choices;
  const isChosen = changed.has('guard');
  if (isChosen && choice === 'none') return compare(current.guards, []);
  if (isChosen && choices.projects.length === 0)
    throw new FormFault({ guard: 'Choose the projects that it should test.' });
  const remaining = current.guards.filter(isKept).map(
    (guard): Guard => ({
      ...guard,
      ...(isChosen && choice !== undefined && choice !== 'none' && changeCadence(guard, choice)),
      ...(changed.has('mention') && choices.escalation !== AS_IS && { escalation: choices.escalation }),
    }),
  );
  const missing = choices.projects.filter(
    (project) =>
      !remaining.some((guard) => isSameProject(guard.project, project)) &&
      (isChosen || !setup.projects.some((one) => isSameProject(one, project))),
  );
  const added = missing.flatMap((project): Guard[] => {
    // If some have a guard and others do not, a new one gets none unasked.
    if (choice === 'none' || choice === undefined) return [];
    const { zone } = fresh;
    const cadence = CADENCES[choice];
    const escalation = chooseLike(current.guards, 'mention', (one) => one.escalation, choices.escalation);
    return [{ ...makeCommon(fresh, 'guard', JSON.stringify(project)), project, cadence, zone, escalation }];
  });
  return [...compare(current.guards, remaining), ...added.map(planAddition)];
}

/** One of the same kind keeps its time. */
function changeCadence<S extends Guard | Digest>(
  schedule: S,
  choice: 'hourly' | 'daily' | 'weekly',
): Pick<S, 'cadence'> {
  return schedule.cadence.kind === choice ? schedule : { cadence: CADENCES[choice] };
}

function planDigests({ current, setup, choices, fresh, isKept }: Step): PlannedChange[] {
  const { digest: choice, changed } = choices;
  const isChosen = changed.has('digest');
  const project = findDigestProject(choices);
  if (choice === 'none') return compare(current.digests, []);
  const [first] = current.digests;
  if (choice === undefined || (!isChosen && setup.digest === AS_IS))
    return compare(current.digests, current.digests.filter(isKept));
  const { account, zone, range } = fresh;
  const isAccounts = project !== undefined;
  if (first !== undefined) {
    const edited = { ...first, ...changeCadence(first, choice), project, ...(isAccounts && { account }) };
    return compare(current.digests, [edited]);
  }
  const common = makeCommon(fresh, 'digest', '');
  const cadence = CADENCES[choice];
  return [planAddition({ ...common, project, cadence, zone, range, skipQuiet: false })];
}

function makeCommon<K extends 'watch' | 'guard' | 'digest'>(fresh: NewSchedules, kind: K, seed: string) {
  const { channel, account, createdBy, requestId, now } = fresh;
  const id = fresh.makeId(kind, seed);
  return { kind, id, requestId, channel, account, createdBy, createdAt: now, state: ACTIVE };
}

function planAddition(after: Schedule): PlannedChange {
  return { kind: after.kind, id: after.id, after };
}

/** Changes of what exists. Compared as stored, where an undefined field is absent. */
function compare(before: readonly Schedule[], after: readonly Schedule[]): PlannedChange[] {
  return before.flatMap((one): PlannedChange[] => {
    const now = after.find(({ id }) => id === one.id);
    const { kind, id } = one;
    if (now === undefined) return [{ kind, id, before: one }];
    return isDeepStrictEqual(defined(now), defined(one)) ? [] : [{ kind, id, before: one, after: now }];
  });
}
