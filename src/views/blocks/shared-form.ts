import { z } from 'zod';
import { hashJson, parseJson } from '../../core/json.ts';
import type { KnownBlock, ModalView } from '../../core/message.ts';
import { bold, mrkdwn } from '../../core/mrkdwn.ts';
import { withValue } from './inputs.ts';
import { section } from './make-blocks.ts';
import { type InputBlock, isInput, readFieldName, readInitial, type Values, withBanner } from './modal.ts';

/**
 * State of a form when it was opened, by field: short hashes of the value that it showed and of the stored one.
 * They differ if the form fills in a default. Hashes, because Slack keeps only 3,000 characters with a form.
 */
export type Opened = Readonly<Record<string, readonly [shown: string, stored: string]>>;

const Remembered = z.looseObject({
  opened: z.record(z.string(), z.tuple([z.string(), z.string()])).optional(),
});

/** Remembers in the form what it shows. @param stored the stored values, if the form shows others */
export function withOpened(view: ModalView, stored: Values = readInitial(view)): ModalView {
  return remember(view, hashValues(readInitial(view), stored));
}

/** A form that is drawn again for a choice keeps what it had when it was opened, and its ids. */
export function keepOpened(view: ModalView, before: ModalView): ModalView {
  const { opened } = readMetadata(before);
  const ids = new Map(before.blocks.filter(isInput).map((block) => [readFieldName(block), block.block_id]));
  const sameIds = renameBlocks(view, (field) => ids.get(field) ?? makeId(field, readRound(before)));
  return opened === undefined ? sameIds : remember(sameIds, opened);
}

/** The form for another subject: each block gets a new id, because Slack keeps what was picked in a block of the same id. */
export function replaceForm(view: ModalView, before: ModalView): ModalView {
  const round = readRound(before) + 1;
  return renameBlocks(view, (field) => makeId(field, round));
}

/** A form of an earlier version remembers nothing, but shows what it was opened with. */
function readOpened(view: ModalView): Opened {
  const initial = readInitial(view);
  return readMetadata(view).opened ?? hashValues(initial, initial);
}

function readMetadata({ private_metadata: text }: ModalView): z.infer<typeof Remembered> {
  return Remembered.safeParse(parseJson(text || '{}')).data ?? {};
}

function remember(view: ModalView, opened: Opened): ModalView {
  return { ...view, private_metadata: JSON.stringify({ ...readMetadata(view), opened }) };
}

function hashValues(shown: Values, stored: Values): Opened {
  const fields = new Set([...Object.keys(shown), ...Object.keys(stored)]);
  return Object.fromEntries([...fields].map((field) => [field, [hash(shown[field]), hash(stored[field])]]));
}

/** The order of a list, and how an empty field is written, make no difference. */
function hash(value: Values[string] | readonly string[]): string {
  const plain = typeof value === 'object' ? [...new Set(value)].toSorted() : value;
  return hashJson(plain?.length ? plain : null).slice(0, 8);
}

const NOTHING = hash(undefined);

/** Fields that mean something only together, e.g. a time and its frequency. */
export type Groups = ReadonlyArray<readonly string[]>;

export interface Merged {
  /** Values to save: the person's changes, and everything else as it is now. */
  values: Values;
  /** Fields that the person changed. */
  mine: ReadonlySet<string>;
  /** Fields that the person and somebody else changed, each to another value. Nothing may be saved then. */
  conflicts: readonly string[];
}

/**
 * Merges a form with what others saved since it was opened. Pure.
 * @param submitted the fields that the form shows
 * @param now stored values
 */
function mergeForm(opened: Opened, submitted: Values, now: Values, together: Groups = []): Merged {
  const fields = [...new Set([...Object.keys(submitted), ...Object.keys(now)])];
  const isMine = (field: string): boolean =>
    Object.hasOwn(submitted, field) && hash(submitted[field]) !== (opened[field]?.[0] ?? NOTHING);
  const isTheirs = (field: string): boolean =>
    Object.hasOwn(now, field) && hash(now[field]) !== (opened[field]?.[1] ?? NOTHING);
  const differs = (field: string): boolean => hash(submitted[field]) !== hash(now[field]);
  const groups = new Set(fields.map((field) => together.find((group) => group.includes(field)) ?? [field]));
  const values: Values = {};
  const conflicts: string[] = [];
  for (const group of groups) {
    const areTheirs = group.some(isTheirs);
    if (areTheirs) conflicts.push(...group.filter((field) => isMine(field) && differs(field)));
    for (const field of group)
      values[field] = areTheirs || !Object.hasOwn(submitted, field) ? now[field] : submitted[field];
  }
  return { values, mine: new Set(fields.filter(isMine)), conflicts };
}

/** The person's changes that nobody else's contradict. */
export function pickMine({ values, mine, conflicts }: Merged): Values {
  return Object.fromEntries(
    [...mine].filter((field) => !conflicts.includes(field)).map((field) => [field, values[field]]),
  );
}

/** Merges a submitted form with the stored values. */
export function mergeSubmitted(
  { view, values }: { view: ModalView; values: Values },
  now: Values,
  { together, opened = readOpened(view) }: { together?: Groups; opened?: Opened } = {},
): Merged {
  const fields = view.blocks.filter(isInput).map(readFieldName);
  const submitted = Object.fromEntries(fields.map((field) => [field, values[field]]));
  return mergeForm(opened, submitted, now, together);
}

/**
 * The form again, with its fields as they are now and the person's other changes. Slack keeps what was picked in a
 * block of the same id, so each block gets a new one.
 * @param today the form as it would be opened now
 * @param banner escaped mrkdwn
 * @param secrets fields that are not filled in; they keep their ids, so that Slack keeps what was typed
 */
export function comeBack(
  today: ModalView,
  { view: before, values: submitted }: { view: ModalView; values: Values },
  merged: Merged,
  banner: string,
  secrets: readonly string[] = [],
): ModalView {
  const { conflicts } = merged;
  const picks = pickMine(merged);
  const blocks = today.blocks.flatMap((block): KnownBlock[] => {
    if (!isInput(block)) return [block];
    const field = readFieldName(block);
    if (secrets.includes(field)) return [block];
    if (!conflicts.includes(field)) return [Object.hasOwn(picks, field) ? fill(block, picks[field]) : block];
    return [block, { ...section(pickedWords(block, submitted[field])), block_id: `${field}:picked` }];
  });
  const round = readRound(before) + 1;
  const view = renameBlocks({ ...today, blocks }, (field) =>
    secrets.includes(field) ? field : makeId(field, round),
  );
  return withBanner(view, banner);
}

/** Labels of fields, for a banner. */
export function listLabels({ blocks }: ModalView, fields: readonly string[]): string {
  const labels = blocks.filter(isInput).filter((block) => fields.includes(readFieldName(block)));
  return labels.map(({ label }) => bold(label.text, 60)).join(', ');
}

/** A field keeps its present choice with its label, if the value is the same. */
function fill(block: InputBlock, value: Values[string]): InputBlock {
  const { element } = block;
  const before = readInitial({ blocks: [block] })[readFieldName(block)];
  if (hash(before) === hash(value)) return block;
  const empty = Object.fromEntries(
    Object.entries(element).filter(([key]) => !key.startsWith('initial_')),
  ) as typeof element;
  return { ...block, element: value?.length ? withValue(empty, value) : empty };
}

/** "You picked: Compact". Escaped. */
function pickedWords({ element }: InputBlock, value: Values[string]): string {
  const values = [value ?? []].flat();
  const options: ReadonlyArray<{ value?: string; text: { text: string } }> =
    'options' in element && element.options !== undefined ? element.options : [];
  const describe = (one: string): string => {
    if (element.type === 'multi_users_select')
      return /^[UW][A-Z0-9]+$/.test(one) ? `<@${one}>` : mrkdwn(one, 60);
    // Slack's picker made it, so it needs no mark against emoji.
    if (element.type === 'timepicker' && /^\d\d:\d\d$/.test(one)) return one;
    return mrkdwn(options.find((option) => option.value === one)?.text.text ?? one, 100);
  };
  const words = values.slice(0, 20).map(describe).join(', ') || 'nothing';
  return `:warning: This is how it is now. You chose: ${words}. Choose it again if you still want it.`;
}

const ROUND = /:(\d+)$/;

function readRound({ blocks }: ModalView): number {
  return Math.max(
    0,
    ...blocks.filter(isInput).map(({ block_id: id = '' }) => Number(ROUND.exec(id)?.[1] ?? 0)),
  );
}

function makeId(field: string, round: number): string {
  return round === 0 ? field : `${field}:${round}`;
}

function renameBlocks(view: ModalView, rename: (field: string) => string): ModalView {
  const blocks = view.blocks.map((block) =>
    isInput(block) ? { ...block, block_id: rename(readFieldName(block)) } : block,
  );
  return { ...view, blocks };
}
