import { code } from '../core/mrkdwn.ts';
import type { Logger } from '../observability/log.ts';
import type { Installations } from '../slack/installations.ts';
import type { Slack } from '../slack/slack.ts';
import { QUARANTINE, type QuarantinedRecord, QuarantineMark } from '../store/quarantine.ts';
import { GLOBAL } from '../store/store.ts';
import type { WorkspaceStore } from '../store/workspace-store.ts';
import { say } from '../views/blocks/message.ts';

/** The workspace's records that could not be read, oldest first; some may be readable by now. */
export async function listQuarantined(store: WorkspaceStore): Promise<QuarantineMark[]> {
  const rows = await store.collection(QUARANTINE, QuarantineMark).list();
  return rows.map(({ doc }) => doc).toSorted((one, other) => one.at - other.at);
}

interface NoticeParts {
  slack: Slack;
  installations: Pick<Installations, 'installer'>;
  log: Logger;
  word: string;
}

/** Writes to whoever set the record up, else to the one who installed Deckhand. */
export function createQuarantineNotices(parts: NoticeParts): (record: QuarantinedRecord) => void {
  const { slack, installations, log, word } = parts;
  async function notify({ workspace, collection, id, owner }: QuarantinedRecord): Promise<void> {
    const user = owner ?? (await installations.installer(workspace));
    if (user === undefined) return;
    const said = `:warning: Deckhand cannot read a record of ${code(collection)} (${code(id)}), so it was set aside; everything else goes on. Set it up again, or ask your operator. ${code(`${word} doctor`)} lists such records.`;
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
