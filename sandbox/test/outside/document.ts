import { readFile, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { startSimulatedService } from '../../service/server.ts';

const DocumentSchema = z.looseObject({ paths: z.record(z.string(), z.unknown()) });

export interface OpenApiDocument {
  /** Where Prism reads it. */
  file: string;
  paths: readonly string[];
}

/** A document of somebody's service, in JSON or YAML; without a path the one of our simulated service. */
export async function readDocument(path: string | undefined, folder: string): Promise<OpenApiDocument> {
  const text = path === undefined ? await ownDocument() : await readFile(path, 'utf8');
  const isYaml = path !== undefined && ['.yaml', '.yml'].includes(extname(path));
  const document = DocumentSchema.parse(isYaml ? parse(text) : JSON.parse(text));
  const file = join(folder, 'openapi.json');
  await writeFile(file, JSON.stringify(document));
  return { file, paths: Object.keys(document.paths) };
}

async function ownDocument(): Promise<string> {
  const service = await startSimulatedService();
  try {
    return await (await fetch(`${service.siteUrl}/docs.json`)).text();
  } finally {
    await service.stop();
  }
}
