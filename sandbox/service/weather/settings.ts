import { z } from 'zod';

/** What the weather may change; a test that is about one thing asks for that alone. */
export const KINDS = [
  /** Fields that need not be there are left out. */
  'absent',
  /** Fields hold null. */
  'nulls',
  /** Numbers as text, text as numbers, and `notify_email` in all its forms. */
  'types',
  /** Fields that no document names. */
  'extra',
  /** The same moment in other ISO 8601 forms. */
  'times',
  /** Rows in another order, where none is promised. */
  'order',
  /** One row that is no record. */
  'odd_rows',
  /** Event types that no document names. */
  'events',
  /** Words other than `running` before a run ends. */
  'run_words',
  /** Failures that the statistics count and the feed does not hold. */
  'statistics',
  /** Other envelopes and lists. */
  'shapes',
  /** 200 and 201 for what is made. */
  'statuses',
  /** Bodies of failures in other forms, with and without a hint. */
  'failures',
  /** The same message more than once. */
  'doubled',
  /** `record_not_found` of a list that is there, never twice in a row. */
  'not_found',
] as const;
export type Kind = (typeof KINDS)[number];

export const WeatherSettings = z.strictObject({
  /** `spec`: only what the specification allows; `wild`: also what services of this kind are known to do. */
  strength: z.enum(['off', 'spec', 'wild']).default('off'),
  /** The same seed draws the same for the same records. */
  seed: z.union([z.string(), z.number()]).transform(String).default('1'),
  /** How likely each change is, for each record and field; 1 changes all that can be changed. */
  share: z.number().min(0).max(1).default(0.3),
  /** All kinds when left out. */
  only: z.array(z.enum(KINDS)).optional(),
});
export type WeatherSettings = z.output<typeof WeatherSettings>;
export type NewWeather = z.input<typeof WeatherSettings>;
