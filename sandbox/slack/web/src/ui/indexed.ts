/** Pairs each item with its place as a key: right for parsed text and blocks, which are only ever replaced whole. */
export function indexed<T>(items: readonly T[]): [string, T][] {
  return items.map((item, index) => [String(index), item]);
}
