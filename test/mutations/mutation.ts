/** A fault that somebody could make in code that guards something, and the tests that must notice it. */
export interface Mutation {
  /** What Deckhand would do wrong. */
  name: string;
  /** From the repository's root. */
  file: string;
  /** Stands in the file exactly once. */
  from: string;
  to: string;
  tests: readonly string[];
  /** A part of the titles of the tests that are run; all of these files where left out. */
  only?: string;
}
