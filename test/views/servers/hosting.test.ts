import { describe, expect, it } from 'vitest';
import { hostKeyWords, shortRevision, statusWords } from '../../../src/views/servers/server.ts';

describe('small words', () => {
  it.each([
    ['destroying', '*destroying*: being destroyed'],
    ['active', '*active*: running and ready for deployments'],
    ['re-wiring', '`re-wiring`'],
    ['toString', '`toString`'],
    ['<!here>', '`&lt;!here&gt;`'],
  ])('status %s', (given, said) => {
    expect(statusWords(given)).toBe(said);
  });

  it.each([
    ['0123456789abcdef', '`0123456`'],
    ['abc', '`abc`'],
    ['', 'never deployed'],
    [null, 'never deployed'],
  ])('revision %j', (given, said) => {
    expect(shortRevision(given)).toBe(said);
  });

  it.each([
    [`ssh-ed25519 ${'A'.repeat(50)}abcdefghijkl box@acme`, '`ssh-ed25519 …abcdefghijkl`'],
    [
      `web-1.example.com ecdsa-sha2-nistp256 ${'B'.repeat(80)}zyxwvutsrqpo`,
      '`ecdsa-sha2-nistp256 …zyxwvutsrqpo`',
    ],
    ['C'.repeat(60), `\`…${'C'.repeat(12)}\``],
    ['SHA256:short', '`SHA256:short`'],
  ])('host key %s', (given, said) => {
    expect(hostKeyWords(given)).toBe(said);
  });
});
