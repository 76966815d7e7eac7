import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import type { ServiceError } from '../core/errors.ts';
import { type Endpoint, type Reader, unexpected } from './call.ts';
import type { Described } from './operations.ts';

/** The service's published description. API 10 (docs/service-api.md). */
export interface DescriptionSource {
  /** Public, without secrets. */
  address: string;
  /** Rejects with a ServiceError if there is no description, or it cannot be read. */
  read(): Promise<Described>;
}

/** Largest description that is read. */
export const MAX_DESCRIPTION_BYTES = 2 * 1024 * 1024;

/** Time for parsing and reading. A hostile description of 2 MB takes about a second. */
const READING_MS = 20_000;
/** A hostile description takes some 100 MB. */
const LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };

const Answer = z.record(z.string(), z.array(z.string()));

export function createDescriptionSource(endpoint: Endpoint, address: string): DescriptionSource {
  return {
    address,
    async read() {
      const path = new URL(address);
      const call = { operation, method: 'GET', scope: 'signup', path, read: readBytes } as const;
      const described = Answer.safeParse(await readApart(await endpoint.send(call)));
      if (described.success) return described.data;
      throw unexpected(operation, 200, 'the answer is not an OpenAPI document');
    },
  };
}

const operation = 'getDescription';
const readBytes: Reader<Uint8Array<ArrayBuffer>> = (answer) => new Uint8Array(answer.body);

/**
 * Reads the description in a thread of its own, because JSON.parse may take hundreds of milliseconds for hostile 2 MB. Returns undefined if
 * it fails.
 */
async function readApart(bytes: Uint8Array<ArrayBuffer>): Promise<unknown> {
  const worker = new Worker(WORKER, {
    workerData: bytes,
    transferList: [bytes.buffer],
    resourceLimits: LIMITS,
    execArgv: [],
    env: {},
  });
  const timer = setTimeout(() => void worker.terminate(), READING_MS);
  try {
    return await new Promise((resolve) => {
      worker.once('message', resolve);
      worker.once('error', () => resolve(undefined));
      worker.once('exit', () => resolve(undefined));
    });
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}

/** In the bundle, which lies in one folder, the worker is a file of its own beside this code. */
const WORKER = new URL(
  `./description-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`,
  import.meta.url,
);

export const NO_DESCRIPTION_ADDRESS =
  'SERVICE_SIGNUP_URL is not set, nor is SERVICE_DESCRIPTION_URL, so there is no description to compare with.';

/** @param reason from `describeUnread` */
export function describeUnreadDescription(reason: string): string {
  return `The service's description could not be read (${reason}).`;
}

/** Why a description could not be read, in brackets of a sentence. */
export function describeUnread(error: ServiceError): string {
  const { status, fault, kind } = error;
  if (fault === 'too_large') return 'it is larger than 2 MB';
  if (status === undefined) return kind;
  return status < 300 ? 'it is not an OpenAPI document' : String(status);
}
