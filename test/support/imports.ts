import { registerHooks } from 'node:module';
import process from 'node:process';

const RELATIVE = /^\.{1,2}\/.*\.ts$/;
/** What Vitest adds to the address of a test file, so that watch mode can load it again; this file needs it once too. */
const AGAIN = /(?<=(\.test|\/imports)\.ts)%3Fvitest=\d+$/;

/**
 * Finds our own modules by their address alone. Vitest asks the file system and reports each import to its main process,
 * for watch mode, and loads each test file under a new address, for which Node keeps no compiled code: together a fifth
 * of what a worker takes to load.
 */
if (process.env.VITEST_MODE === 'RUN')
  registerHooks({
    resolve(specifier, context, next) {
      const isTest = AGAIN.test(specifier);
      if (!isTest && !RELATIVE.test(specifier)) return next(specifier, context);
      const { href } = new URL(specifier.replace(AGAIN, ''), context.parentURL);
      return { url: href, format: 'module-typescript', shortCircuit: true };
    },
  });
