import type { Clock } from '../core/clock.ts';
import type { Backend, Row } from './backend.ts';

/** What is stored: the document, and when it ends by the process's own clock. */
export interface Envelope {
  doc: unknown;
  expiresAt?: number;
  /** Of the document; 1 where it is left out. */
  version?: number;
}

/** The database reclaims rows by its own clock, which a test's clock may be far from. */
export async function rowOf(
  backend: Backend,
  clock: Clock,
  key: string,
  doc: unknown,
  expiresAt: number | undefined,
  version = 1,
): Promise<Row> {
  const expires = expiresAt === undefined ? undefined : Date.now() + (expiresAt - clock.now());
  const value: Envelope = {
    doc,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(version === 1 ? {} : { version }),
  };
  const encoded = await backend.keyv.encode(expires === undefined ? { value } : { value, expires });
  return { key, text: String(encoded), expires };
}

export function isAlive(envelope: Envelope, clock: Clock): boolean {
  return envelope.expiresAt === undefined || envelope.expiresAt > clock.now();
}

/** A row that is no envelope has no document that any schema reads. */
export async function decode(backend: Backend, text: string): Promise<Envelope> {
  try {
    const row = await backend.keyv.decode<Envelope>(text);
    return typeof row?.value === 'object' && row.value !== null ? row.value : { doc: undefined };
  } catch {
    return { doc: undefined };
  }
}
