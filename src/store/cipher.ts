import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';

const NONCE_BYTES = 12;

const TAG_BYTES = 16;

/** AES-256-GCM. @param context binds the text; each part counts, even if empty */
export function encrypt(key: KeyObject, context: readonly string[], text: Buffer): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(encodeContext(context));
  const body = Buffer.concat([cipher.update(text), cipher.final()]);
  return Buffer.concat([nonce, body, cipher.getAuthTag()]).toString('base64url');
}

/** @throws if the text was changed, or made with another key or context */
export function decrypt(key: KeyObject, context: readonly string[], sealed: string): Buffer {
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new RangeError('the sealed text is too short');
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
    .setAAD(encodeContext(context))
    .setAuthTag(bytes.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
}

/** JSON, because joined parts would be ambiguous. */
function encodeContext(context: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(context));
}
