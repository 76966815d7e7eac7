import { AUTHORISATION } from './authorisation.ts';
import { FRONT } from './front-door.ts';
import type { Mutation } from './mutation.ts';
import { STORAGE } from './storage.ts';
import { WIRE } from './wire.ts';
import { WORK } from './work.ts';

/** Faults in what guards, each of which the tests that it names must notice. */
export const MUTATIONS: readonly Mutation[] = [...AUTHORISATION, ...FRONT, ...STORAGE, ...WIRE, ...WORK];
