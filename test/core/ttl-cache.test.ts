import { describe, expect, it } from 'vitest';
import { TtlCache } from '../../src/core/ttl-cache.ts';
import { createManualClock } from '../support/manual-clock.ts';

function counting() {
  const clock = createManualClock();
  const fresh = new TtlCache<string>(clock, 10_000);
  let loads = 0;
  const load = async (): Promise<string> => {
    loads += 1;
    return `load ${loads}`;
  };
  return { clock, fresh, load };
}

describe('what was looked up in the last seconds', () => {
  it('is given again, also to those who ask at the same time', async () => {
    const { fresh, load } = counting();
    const answers = await Promise.all([fresh.get(['T1', 'acme'], load), fresh.get(['T1', 'acme'], load)]);
    expect([...answers, await fresh.get(['T1', 'acme'], load)]).toEqual(['load 1', 'load 1', 'load 1']);
  });

  it('is looked up anew once it is old, or for who wants to know how it is now', async () => {
    const { clock, fresh, load } = counting();
    await fresh.get(['T1', 'acme'], load);
    await clock.advance(10_000);
    expect(await fresh.get(['T1', 'acme'], load)).toBe('load 2');
    expect(await fresh.renew(['T1', 'acme'], load)).toBe('load 3');
    expect(await fresh.get(['T1', 'acme'], load)).toBe('load 3');
  });

  it('never crosses from one workspace, account or key to another', async () => {
    const { fresh, load } = counting();
    const keys = [
      ['T1', 'acme', 'k1'],
      ['T2', 'acme', 'k1'],
      ['T1', 'beta', 'k1'],
      ['T1', 'acme', 'k2'],
      ['T1acme', 'k1'],
    ];
    const answers = await Promise.all(keys.map((key) => fresh.get(key, load)));
    expect(new Set(answers).size).toBe(keys.length);
  });

  it('does not keep a failure', async () => {
    const { fresh, load } = counting();
    await expect(fresh.get(['T1'], () => Promise.reject(new Error('down')))).rejects.toThrow('down');
    expect(await fresh.get(['T1'], load)).toBe('load 1');
  });

  it('does not grow for ever, and forgets the oldest first', async () => {
    const { fresh, load } = counting();
    for (let at = 0; at < 500; at += 1) await fresh.get([`T${at}`], load);
    await fresh.get(['one more'], load);
    expect(await fresh.get(['T499'], load)).toBe('load 500');
    expect(await fresh.get(['T0'], load)).toBe('load 502');
  });
});
