import { spawnSync } from 'node:child_process';
import { closeSync, fstatSync, ftruncateSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

const SIZE = '48m';
const BLOCK = Buffer.alloc(64 * 1024);

/**
 * A small file system of its own, which can be filled to the last byte.
 *
 * @returns undefined where no file system may be mounted, which takes root on Linux
 */
export function mountDisk(folder: string) {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return undefined;
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'tmpfs', folder]);
  if (mounted.status !== 0) return undefined;
  const filler = join(folder, 'filler');
  return {
    /** To the last byte, or to the last few. */
    fill(leaving = 0): void {
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
