import process from 'node:process';

/** Machines are noisy: candidates take turns, each round in another order, and ratios are taken within a round. */
export const ROUNDS = Number(process.env.ROUNDS ?? 5);

/** Runs each candidate once a round. */
export async function alternate<K extends string, S>(
  candidates: Readonly<Record<K, () => Promise<S>>>,
  rounds = ROUNDS,
): Promise<Record<K, S[]>> {
  const names = Object.keys(candidates) as K[];
  const samples = Object.fromEntries(names.map((name) => [name, [] as S[]])) as Record<K, S[]>;
  for (let round = 0; round < rounds; round += 1)
    for (let at = 0; at < names.length; at += 1) {
      const name = names[(at + round) % names.length];
      if (name !== undefined) samples[name].push(await candidates[name]());
    }
  return samples;
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? Number.NaN) + upper) / 2 : upper;
}

/** The median of the rounds' ratios, and the smallest and largest: `1.24 (1.18–1.31)`. */
export function ratio(ours: readonly number[], theirs: readonly number[]): string {
  const ratios = ours.map((value, at) => value / (theirs[at] ?? Number.NaN));
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)];
  return `${median(ratios).toFixed(2)} (${least.toFixed(2)}–${most.toFixed(2)})`;
}
