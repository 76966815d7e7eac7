import { isNamedId } from '../../core/json.ts';
import type { Pages } from '../../core/service-pages.ts';
import {
  changeEpisode,
  type Episode,
  type EpisodeRecord,
  episodeRecords,
  failingNow,
  subjectKey,
} from '../../records/episodes.ts';
import {
  countBegun,
  countRecent,
  findOutage,
  KEPT_MS,
  type Member,
  MIN_MEMBERS,
  makePlace,
  type Outage,
  type OutagePlace,
  outagePlaces,
  placeKey,
  readMember,
  updateOutage,
} from '../../records/outages.ts';
import type { ShownOutage } from '../../views/episodes/outage.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/** Key of an outage’s place, and its id there. */
export interface OutageRef {
  place: string;
  id: string;
}

/**
 * Counts a failure that began, together with others that are about to be noted. Safe to repeat.
 * @param storeOthers stores the others, if they may make an outage; returns their records
 */
export async function countFailure(
  workspace: Workspace,
  record: EpisodeRecord,
  others: number,
  storeOthers: () => Promise<EpisodeRecord[]>,
): Promise<void> {
  const { clock, store } = workspace;
  const own = failingNow(record);
  if (own === undefined || !isUncounted(own)) return;
  const { subject } = record;
  const place = placeKey(subject);
  const failure = { key: subjectKey(subject), episode: own.id };
  const places = outagePlaces(store);
  await store.exclusive(`outage ${place}`, async () => {
    const before = (await readPlace(store, place)) ?? makePlace(subject);
    const isCounted = before.recent.some(({ episode }) => episode === own.id);
    let outage = findOutage(before, failure);
    if (outage === undefined && !isCounted) {
      const now = clock.now();
      const isMuch = countRecent(before, now) + others + 1 >= MIN_MEMBERS;
      const together = [record, ...(isMuch ? await storeOthers() : [])].flatMap(toBegun);
      const begun = together.toSorted((one, other) => one.project.localeCompare(other.project));
      const after = countBegun(
        before,
        begun.map(({ project: _, ...one }) => one),
        now,
      );
      await places.put(place, after, now + KEPT_MS);
      outage = findOutage(after, failure);
    }
    // Also after a kill in between.
    if (outage !== undefined) await markMembers(workspace, place, outage);
  });
}

/** Reads a place without the recent failures that ended. Their own messages say so, and no outage shows them. */
async function readPlace(store: Workspace['store'], key: string): Promise<OutagePlace | undefined> {
  const place = await outagePlaces(store).get(key);
  if (place === undefined) return undefined;
  const records = await readRecords(store, place.recent);
  return { ...place, recent: place.recent.filter((failure) => isFailing(records, failure)) };
}

async function readRecords(store: Workspace['store'], members: readonly Member[]): Promise<Records> {
  const records = new Map<string, EpisodeRecord>();
  for (const { key } of members) {
    const record = await episodeRecords(store).get(key);
    if (record !== undefined) records.set(key, record);
  }
  return records;
}

/** False for a failure with a message, also one that will have it after a quiet. */
function isUncounted({ outage, rootRef, heldAt }: Episode): boolean {
  return outage === undefined && rootRef === undefined && heldAt === undefined;
}

/** Failures without a message. */
function toBegun(record: EpisodeRecord) {
  const { subject } = record;
  const open = failingNow(record);
  if (open === undefined || !isUncounted(open)) return [];
  return [{ key: subjectKey(subject), episode: open.id, project: subject.project }];
}

/** Notes in its failures that an outage shows them. Safe to repeat. */
export async function markMembers(
  { store }: Pick<Workspace, 'store'>,
  place: string,
  { id, members }: Outage,
): Promise<void> {
  const records = episodeRecords(store);
  for (const { key, episode, hasOwn } of members) {
    const own = (await records.get(key))?.episodes.find((one) => one.id === episode);
    if (own === undefined || own.outage !== undefined) continue;
    const outage = { place, id, ...(hasOwn === true ? { hasOwn } : {}) };
    await records.update(key, (current) => changeEpisode(current, episode, { outage }));
  }
}

/** Maximum number of unasked tests of an outage. */
const MAX_TESTS = 3;

/** True if the project of a failure is tested although nobody asked. An outage says enough with a few tests. */
export async function isTestedUnasked({ store }: Workspace, record: EpisodeRecord): Promise<boolean> {
  const { subject } = record;
  const { id: episode = '' } = failingNow(record) ?? {};
  const place = await outagePlaces(store).get(placeKey(subject));
  const outage = findOutage(place, { key: subjectKey(subject), episode });
  const members = outage?.members ?? [];
  return outage === undefined || members.slice(0, MAX_TESTS).some((one) => one.episode === episode);
}

/** True if a failure may soon belong to an outage, which would not test it. */
export async function isLikelyOutage(
  { clock, store }: Workspace,
  { subject }: EpisodeRecord,
): Promise<boolean> {
  return countRecent(await readPlace(store, placeKey(subject)), clock.now()) > MAX_TESTS;
}

export type Records = ReadonlyMap<string, EpisodeRecord>;

export function isFailing(records: Records, member: Member): boolean {
  const { episode } = readMember(records, member) ?? {};
  return episode !== undefined && episode.ending === undefined;
}

interface OutageState {
  /** Present key of the place. */
  key: string;
  place: OutagePlace;
  outage: Outage;
  records: Records;
  view: ShownOutage & { untold: boolean };
}

/** Reads an outage with its members. @param change stores a change of it before */
export async function readOutage(
  { store, pages }: Pick<Workspace, 'store' | 'pages'>,
  { place: drawnKey, id }: OutageRef,
  change?: (outage: Outage, records: Records) => Outage,
): Promise<OutageState | undefined> {
  const places = outagePlaces(store);
  const find = (one: OutagePlace | undefined): Outage | undefined =>
    one?.outages.find((outage) => isNamedId(outage.id, id));
  // Slack may have given its channel a new id since.
  const isHere = ({ doc }: { doc: OutagePlace }): boolean => find(doc) !== undefined;
  const drawn = await places.get(drawnKey);
  const { id: key, doc: present } =
    drawn === undefined
      ? ((await places.list()).find(isHere) ?? { id: drawnKey, doc: undefined })
      : { id: drawnKey, doc: drawn };
  const before = find(present);
  if (before === undefined) return undefined;
  const records = await readRecords(store, before.members);
  const outage =
    change === undefined
      ? before
      : await updateOutage(store, { place: key, id: before.id }, (one) => change(one, records));
  if (present === undefined || outage === undefined) return undefined;
  const view = makeShownOutage(key, present, outage, records, pages);
  return { key, place: present, outage, records, view };
}

function makeShownOutage(
  key: string,
  { kind, channel, account, person }: OutagePlace,
  { id, owner, members, quiet, beganAt }: Outage,
  records: Records,
  pages: Pages,
): ShownOutage & { untold: boolean } {
  const present = members
    .flatMap((member) => readMember(records, member) ?? [])
    .map(({ subject, episode }) => ({
      subject: { ...subject, pages },
      episode,
    }));
  const untold = members.some((member) => (member.toldState === 'failing') !== isFailing(records, member));
  const oldestFirst = present.toSorted(
    (one, other) =>
      one.episode.since - other.episode.since || one.subject.name.localeCompare(other.subject.name),
  );
  return {
    place: key,
    id,
    kind,
    channel,
    account,
    person,
    owner,
    members: oldestFirst,
    amount: members.length,
    quiet: quiet && { ...quiet, endedAt: beganAt },
    untold,
  };
}
