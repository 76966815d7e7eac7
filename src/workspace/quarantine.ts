import { z } from 'zod';
import { parseJson } from '../core/json.ts';
import { code } from '../core/mrkdwn.ts';
import type { SetAside } from '../jobs/jobs.ts';
import type { Logger } from '../observability/log.ts';
import type { Slack } from '../slack/slack.ts';
import { ownerOf, QUARANTINE, QuarantineMark } from '../store/quarantine.ts';
import { GLOBAL, type QuarantinedRecord, type Store, type WorkspaceStore } from '../store/store.ts';
import { say } from '../views/blocks/message.ts';
import type { Installations } from './installations.ts';

/** The workspace's records that could not be read, oldest first; some may be readable by now. */
export async function listQuarantined(store: WorkspaceStore): Promise<QuarantineMark[]> {
  const rows = await store.collection(QUARANTINE, QuarantineMark).list();
  return rows.map(({ doc }) => doc).toSorted((one, other) => one.at - other.at);
}

/** Marks a job or schedule that cannot be read, whose log line and count are the engine's. */
export async function markSetAside(
  { store, log }: { store: Store; log: Logger },
  what: SetAside,
): Promise<void> {
  try {
    await store.quarantine(await recordOf(store, what));
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
