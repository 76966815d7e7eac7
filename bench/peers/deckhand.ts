import process from 'node:process';

// Deckhand's own entry, with one addition: asked over IPC, it collects its garbage and tells its memory.
process.on('message', () => {
  globalThis.gc?.();
  process.send?.(process.memoryUsage());
});
// A listener keeps the process alive; Deckhand decides itself when it ends.
process.channel?.unref();

const entry = process.env.BUNDLE === 'yes' ? '../../dist/main.js' : '../../src/main.ts';
await import(entry);
