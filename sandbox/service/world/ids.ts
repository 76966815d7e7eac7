import { createHash, randomBytes, randomUUID } from 'node:crypto';

export interface SshKey {
  identifier: string;
  title: string;
  publicKey: string;
  keyType: string;
  /** As OpenSSH prints it: `SHA256:` and the digest in base64. */
  fingerprint: string;
}

/** A 40-character API key. Spec 5.1. */
export function createApiKey(): string {
  return randomBytes(20).toString('hex');
}

/** A random value that is fit for an address. */
export function createToken(): string {
  return randomBytes(24).toString('base64url');
}

export function createId(): string {
  return randomUUID();
}

/**
 * An identifier that is the same after every start, so that a named thing of the demo is found again by what
 * remembers it.
 */
export function stableId(...parts: string[]): string {
  const hex = createHash('sha256').update(parts.join('/')).digest('hex');
  const variant = `a${hex.slice(17, 20)}`;
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, variant, hex.slice(20, 32)].join('-');
}

/** A commit hash, the same for the same parts. */
export function stableRevision(...parts: string[]): string {
  return createHash('sha1').update(parts.join('/')).digest('hex');
}

/** A number from 0 to 1 (not included) that is the same for the same text. */
export function stableFraction(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32;
}

/** As good as a real ed25519 key whose private half is thrown away: any 32 bytes look like one. */
export function createSshKey(title: string): SshKey {
  const raw = randomBytes(32);
  const blob = Buffer.concat([sized(Buffer.from('ssh-ed25519')), sized(raw)]);
  const digest = createHash('sha256').update(blob).digest('base64').replace(/=+$/, '');
  return {
    identifier: createId(),
    title,
    publicKey: `ssh-ed25519 ${blob.toString('base64')} ${title}`,
    keyType: 'ed25519',
    fingerprint: `SHA256:${digest}`,
  };
}

function sized(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
