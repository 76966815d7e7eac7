import type { z } from 'zod';
import { newReference } from '../observability/failures.ts';
import {
  type CallOptions,
  describeIssues,
  type Endpoint,
  type JsonCall,
  requestJson,
  type SkippedRows,
} from './call.ts';

export interface ListOptions extends CallOptions {
  /** Called where rows could not be read, so that the list can say so. */
  onSkipped?: ((rows: SkippedRows) => unknown) | undefined;
}

/** The rows of a list that can be read. The answer is `unexpected` only where it is no list. */
export async function requestRows<T>(
  endpoint: Endpoint,
  list: z.ZodType<unknown[]>,
  row: z.ZodType<T>,
  call: JsonCall,
  options?: ListOptions,
): Promise<T[]> {
  const all = await requestJson(endpoint, list, call, options);
  return readRows(endpoint, row, all, call.operation, options);
}

/** Reads each row by itself: one that cannot be read costs itself alone, is logged, and is reported to the caller. */
export function readRows<T>(
  endpoint: Pick<Endpoint, 'reportSkipped'>,
  schema: z.ZodType<T>,
  rows: readonly unknown[],
  operation: string,
  { onSkipped }: ListOptions = {},
): T[] {
  const parsed = rows.map((row) => schema.safeParse(row));
  const faults = parsed.flatMap(({ error }) => (error === undefined ? [] : [describeIssues(error)]));
  const [reason] = faults;
  if (reason !== undefined) {
    const skipped = { operation, count: faults.length, reference: newReference(), reason };
    endpoint.reportSkipped(skipped);
    onSkipped?.(skipped);
  }
  return parsed.flatMap(({ success, data }) => (success ? [data] : []));
}
