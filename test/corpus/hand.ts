import type { EntityMetadata, HomeView } from '@slack/types';
import type { KnownBlock, Message, ModalView, News } from '../../src/core/message.ts';
import { mrkdwn } from '../../src/core/mrkdwn.ts';
import { splitAnswer } from '../../src/views/blocks/lists.ts';
import type { Page } from '../../src/views/public/pages.ts';

/** Who writes the foreign texts of a sample: a usual service, one that says nothing, one that never ends, and the worst. */
export const HANDS = ['usual', 'empty', 'long', 'hostile'] as const;
export type HandName = (typeof HANDS)[number];

/** Fills in the foreign parts of a sample. */
export interface Hand {
  name: HandName;
  text(usual: string): string;
  /** The same as mrkdwn of ours. */
  safe(usual: string): string;
  maybe<T>(value: T): T | undefined;
  /** The usual ones, none, or as many as there may be. */
  list<T>(usual: readonly T[], another: (at: number) => T, most?: number): T[];
}

const HOSTILE = [
  '<!channel>',
  '<https://evil.example|https://ok.example>',
  '\u202eevil\u0000',
  '`*_~&<>',
  '&'.repeat(10_000),
  'x'.repeat(10_000),
  '👩‍👩‍👧‍👦'.repeat(500),
  'שלום עולם',
  '\ud800',
  ' ',
];

export function createHand(name: HandName): Hand {
  let at = 0;
  const text = (usual: string): string => {
    switch (name) {
      case 'usual':
        return usual;
      case 'empty':
        return '';
      case 'long':
        return `${usual} ${'and so on '.repeat(60)}`;
      case 'hostile': {
        const worst = HOSTILE[at % HOSTILE.length] ?? '';
        at += 1;
        return worst;
      }
    }
  };
  return {
    name,
    text,
    safe: (usual) => mrkdwn(text(usual), 500),
    maybe: (value) => (name === 'empty' ? undefined : value),
    list(usual, another, most = 150) {
      if (name === 'usual') return [...usual];
      return name === 'empty' ? [] : Array.from({ length: most }, (_, index) => another(index));
    },
  };
}

/** What a view builder makes. */
export type Shown = Message | ModalView | HomeView | KnownBlock[] | Page | EntityMetadata;
type Made =
  | Shown
  | KnownBlock
  | News
  | undefined
  | readonly (Message | News)[]
  | { root: Message; replies: Message[] };

/** Something that people read, as one of the hands filled it in. */
export interface Sample {
  /** The function of src/views/ that made it. */
  builder: string;
  what: string;
  hand: HandName;
  shown: Shown;
}

/** A builder with the situations it is shown in. */
export interface Subject {
  builder: string;
  samples(): Sample[];
}

export function subject<A extends unknown[]>(
  build: (...given: A) => Made,
  situations: Readonly<Record<string, (hand: Hand) => { [K in keyof A]: A[K] }>>,
): Subject {
  const builder = build.name;
  return {
    builder,
    samples: () =>
      Object.entries(situations).flatMap(([what, given]) =>
        HANDS.flatMap((hand) =>
          shownIn(build(...given(createHand(hand)))).map((shown) => ({ builder, what, hand, shown })),
        ),
      ),
  };
}

/** The same for an answer to one person, which is sent in parts if it is long. */
export function answer<A extends unknown[]>(
  build: (...given: A) => Message,
  situations: Readonly<Record<string, (hand: Hand) => { [K in keyof A]: A[K] }>>,
): Subject {
  const split = (...given: A): Message[] => splitAnswer(build(...given));
  return subject(Object.defineProperty(split, 'name', { value: build.name }), situations);
}

function shownIn(made: Made): Shown[] {
  if (made === undefined) return [];
  if (isBlocks(made)) return [made];
  if (isList(made)) return made.flatMap(shownIn);
  if ('root' in made) return [made.root, ...made.replies];
  if ('message' in made) return [made.message];
  return [isBlock(made) ? [made] : made];
}

function isBlock(made: NonNullable<Made>): made is KnownBlock {
  return 'type' in made && made.type !== 'modal' && made.type !== 'home';
}

function isBlocks(made: NonNullable<Made>): made is KnownBlock[] {
  return isList(made) && made.length > 0 && made.every(isBlock);
}

function isList(made: NonNullable<Made>): made is Extract<Made, readonly unknown[]> {
  return Array.isArray(made);
}
