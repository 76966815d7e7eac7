import { registerHooks } from 'node:module';
import process from 'node:process';

// Loaded before a program: tells every module of OpenTelemetry, and what opens it, that the program loads.
registerHooks({
  load(url, context, nextLoad) {
    if (/@opentelemetry\/(?!api\/)|open-tracing/.test(url)) process.stderr.write(`loaded ${url}\n`);
    return nextLoad(url, context);
  },
});
