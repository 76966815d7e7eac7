import { spawnSync } from 'node:child_process';
import { closeSync, fstatSync, ftruncateSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

/** A small file system of its own, which can be filled to the last byte. */
export interface Disk {
  /** To the last byte, or to the last few. */
  fill(leaving?: number): void;
  free(): void;
  close(): void;
}

const SIZE = '48m';
const BLOCK = Buffer.alloc(64 * 1024);

/** @returns undefined where no file system may be mounted, which takes root on Linux */
export function mountDisk(folder: string): Disk | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return undefined;
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'tmpfs', folder]);
  if (mounted.status !== 0) return undefined;
  const filler = join(folder, 'filler');
  return {
    fill(leaving = 0) {
      const file = openSync(filler, 'w');
      while (statfsSync(folder).bavail > 0) writeAsMuchAsFits(file);
      ftruncateSync(file, fstatSync(file).size - leaving);
      closeSync(file);
    },
    free: () => rmSync(filler, { force: true }),
    close: () => void spawnSync('umount', ['-l', folder]),
  };
}

function writeAsMuchAsFits(file: number): void {
  try {
    writeSync(file, BLOCK);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
  }
}
