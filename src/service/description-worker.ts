import { parentPort, workerData } from 'node:worker_threads';
import { parseJson } from '../core/json.ts';
import { readOperations } from './read-description.ts';

/** Reads one description, the bytes in `workerData`, and posts what `readOperations` returns. */
parentPort?.postMessage(readOperations(parseJson(new TextDecoder().decode(workerData))));
