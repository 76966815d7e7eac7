import { join } from 'node:path';
import process from 'node:process';
import { createProduct as createProductOf, type Product } from '../../sandbox/demo/product.ts';
import { bundle } from './bundle.ts';
import { shared } from './shared.ts';

let folder: Promise<string> | undefined;

/** The bundle: that is what ships, and it starts with half the work of the sources. */
export async function bundledFile(): Promise<string> {
  folder ??= process.env.DECKHAND_TEST_SHARED === undefined ? bundle() : shared('bundle');
  return join(await folder, 'main.js');
}

/** Deckhand's bundle as a process of its own. */
export function createProduct(env: Record<string, string>, onLine: (line: string) => void): Product {
  return createProductOf(env, onLine, () => bundledFile());
}
