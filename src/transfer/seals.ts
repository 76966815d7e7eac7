import { z } from 'zod';
import { parseJson } from '../core/json.ts';
import type { EncryptionKeys } from '../store/encryption-keys.ts';
import { type DataKey, type Field, openSealed, SealError, unwrap, WrappedKey } from '../store/sealer.ts';
import { DATA_KEYS, GLOBAL } from '../store/store.ts';

/** Where the documents of a collection have their sealed value, and the field that it is bound to. */
const SEALED: Readonly<Record<string, { key: string; field: string }>> = {
  accounts: { key: 'sealedKey', field: 'apiKey' },
  forms: { key: 'sealed', field: 'state' },
  installations: { key: 'sealed', field: 'installation' },
  links: { key: 'sealedTokens', field: 'tokens' },
  'link-states': { key: 'sealedVerifier', field: 'verifier' },
};

const Fields = z.record(z.string(), z.unknown());
interface SealedValue {
  workspace: string;
  field: Field;
  sealed: string;
}

/** The sealed value of a stored document, where it has one. */
function sealedIn(workspace: string, collection: string, id: string, doc: unknown): SealedValue | undefined {
  const at = SEALED[collection];
  const fields = Fields.safeParse(doc).data;
  const sealed = at && fields?.[at.key];
  if (at === undefined || fields === undefined || typeof sealed !== 'string') return undefined;
  const owner = workspace === GLOBAL ? String(fields.workspace) : workspace;
  return { workspace: owner, field: { record: `${collection}/${id}`, field: at.field }, sealed };
}

const Envelope = z.object({ value: z.object({ doc: z.unknown() }) });

/** Opens every sealed value of what passes; the data keys pass first. */
export class SealCheck {
  readonly #keys: EncryptionKeys;
  readonly #dataKeys = new Map<string, DataKey>();
  opened = 0;
  /** What does not open although its workspace's key does, as `workspace record`. */
  readonly shut: string[] = [];

  constructor(keys: EncryptionKeys) {
    this.#keys = keys;
  }

  /** @throws SealError where `ENCRYPTION_KEYS` does not open a workspace's data key */
  addDocument({ key, value }: { key: string; value: string }): void {
    const [workspace = '', collection = '', ...rest] = key.split('/');
    const id = rest.join('/');
    const doc = Envelope.safeParse(parseJson(value)).data?.value.doc;
    if (workspace === GLOBAL && collection === DATA_KEYS) {
      const wrapped = WrappedKey.safeParse(doc).data;
      if (wrapped !== undefined) this.#dataKeys.set(id, unwrap(this.#keys, id, wrapped));
      return;
    }
    this.#open(sealedIn(workspace, collection, id, doc));
  }

  #open(found: SealedValue | undefined): void {
    if (found === undefined) return;
    const { workspace, field, sealed } = found;
    try {
      openSealed(this.#dataKeys.get(workspace), workspace, field, sealed);
      this.opened += 1;
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      this.shut.push(`${workspace} ${field.record}`);
    }
  }
}
