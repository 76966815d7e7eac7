import { readFileSync } from 'node:fs';

/** The resident memory of a process, on Linux. */
export function memoryMb(pid: number): number {
  const [, kb] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kb) / 1024;
}
