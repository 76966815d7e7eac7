/** Like `Object.assign`, but a key without a value changes nothing. */
export function assignGiven<T extends object>(target: T, changes: Partial<Record<keyof T, unknown>>): T {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  return Object.assign(target, Object.fromEntries(given));
}
