import { describe, expect, it } from 'vitest';
import { shortRevision, statusWords } from '../../../src/views/servers/server.ts';

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
});
