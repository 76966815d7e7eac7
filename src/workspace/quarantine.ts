import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import { parseJson } from '../core/json.ts';
import { code } from '../core/mrkdwn.ts';
import type { SetAside } from '../jobs/jobs.ts';
import type { Logger } from '../observability/log.ts';
import type { Slack } from '../slack/slack.ts';
import { markId, ownerOf, QUARANTINE, type QuarantinedRecord, QuarantineMark } from '../store/quarantine.ts';
import { GLOBAL, type Store, type WorkspaceStore } from '../store/store.ts';
import { say } from '../views/blocks/message.ts';
import type { Installations } from './installations.ts';

/** The workspace's records that could not be read, oldest first; some may be readable by now. */
export async function listQuarantined(store: WorkspaceStore): Promise<QuarantineMark[]> {
  const rows = await store.collection(QUARANTINE, QuarantineMark).list();
  return rows.map(({ doc }) => doc).toSorted((one, other) => one.at - other.at);
}

/** Marks what the store itself does not find unreadable; the first to do so reports it. */
export type Quarantine = (record: QuarantinedRecord) => Promise<void>;

export function createQuarantine(
  { store, clock }: { store: Store; clock: Clock },
  report: (record: QuarantinedRecord) => void,
): Quarantine {
  return async (record) => {
    const { workspace, kind, collection, id } = record;
    const isFirst = await store
      .of(workspace)
      .collection(QUARANTINE, QuarantineMark)
      .create(markId(record), { kind, collection, id, at: clock.now() });
    if (isFirst) report(record);
  };
}

/** The same for a job or schedule, whose log line and count are the engine's. */
export async function markSetAside(
  { store, log, quarantine }: { store: Store; log: Logger; quarantine: Quarantine },
  what: SetAside,
): Promise<void> {
  try {
    await quarantine(await recordOf(store, what));
  } catch (err) {
    const { workspace, queue: kind } = what;
    log.warn({ event: 'record_owner_not_notified', workspace, kind, err }, 'an owner was not notified');
  }
}

const OfDigest = z.object({ digest: z.string() });

/** A job or schedule as a record, with its owner as far as that can be read. */
async function recordOf(store: Store, what: SetAside): Promise<QuarantinedRecord> {
  const { kind, workspace, queue: collection, id } = what;
  // That it is no JSON may be just what is wrong with it.
  const data = parseJson(what.data);
  const digest = OfDigest.safeParse(data).data?.digest;
  const doc =
    digest === undefined ? data : await store.of(workspace).collection('digests', z.unknown()).get(digest);
  return { kind, workspace, collection, id, owner: ownerOf(doc) };
}

interface NoticeParts {
  slack: Slack;
  installations: Pick<Installations, 'installer'>;
  log: Logger;
  word: string;
}

/** Writes to the person who set the record up, else to the one who installed Deckhand. */
export function createQuarantineNotices(parts: NoticeParts): (record: QuarantinedRecord) => void {
  const { slack, installations, log, word } = parts;
  async function notify({ kind, workspace, collection, id, owner }: QuarantinedRecord): Promise<void> {
    const user = owner ?? (await installations.installer(workspace));
    if (user === undefined) return;
    const what = kind === 'document' ? 'record' : kind;
    const said = `:warning: Deckhand cannot read a ${what} of ${code(collection)} (${code(id)}), so it was set aside; everything else goes on. Set it up again, or ask your operator. ${code(`${word} doctor`)} lists such records.`;
    await slack.of(workspace).sendDirectMessage(user, say(said));
  }
  return (record) => {
    const { workspace, collection: kind } = record;
    if (workspace === GLOBAL) return;
    notify(record).catch((err: unknown) =>
      log.warn({ event: 'record_owner_not_notified', workspace, kind, err }, 'an owner was not notified'),
    );
  };
}
