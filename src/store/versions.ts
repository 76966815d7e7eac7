import type { z } from 'zod';

type Fields = Readonly<Record<string, unknown>>;

/** Makes a document of one version into one of the next. Both are what stands in the database, before any schema. */
export type Upgrade = (doc: Fields) => Fields;

/**
 * A collection's schema, with what brings documents of earlier releases up to it, the oldest first. A change that the
 * schema cannot read by itself adds one function to the list: the version is one more than their number.
 */
export interface Versioned<T> {
  schema: z.ZodType<T>;
  upgrades: readonly Upgrade[];
}

export type Shape<T> = z.ZodType<T> | Versioned<T>;

/** What documents are written with; those of before there were versions are of the first. */
export function versionOf<T>(shape: Shape<T>): number {
  return upgradesOf(shape).length + 1;
}

/** Parses a document of any version up to the shape's own; one of a newer version fails. */
export function parseVersion<T>(shape: Shape<T>, doc: unknown, version: number): z.ZodSafeParseResult<T> {
  const schema = 'upgrades' in shape ? shape.schema : shape;
  return schema.safeParse(bringUp(upgradesOf(shape), doc, version));
}

/** Undefined, which no schema reads, where it cannot be. */
function bringUp(upgrades: readonly Upgrade[], doc: unknown, version: number): unknown {
  if (version > upgrades.length + 1) return undefined;
  if (!isFields(doc)) return doc;
  return upgrades.slice(version - 1).reduce((before, upgrade) => upgrade(before), doc);
}

function upgradesOf<T>(shape: Shape<T>): readonly Upgrade[] {
  return 'upgrades' in shape ? shape.upgrades : [];
}

function isFields(doc: unknown): doc is Fields {
  return typeof doc === 'object' && doc !== null && !Array.isArray(doc);
}
