import { registerHooks } from 'node:module';
import process from 'node:process';

// Loaded before the bundle: tells each of its files that is loaded and has OpenTelemetry's spans in it.
registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (String(loaded.source).includes('BatchSpanProcessor')) process.stderr.write(`loaded ${url}\n`);
    return loaded;
  },
});
