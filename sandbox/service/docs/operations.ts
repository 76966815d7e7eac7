import { usualFailures } from '../api/responses.ts';
import type { InterfaceDocument } from './describe.ts';
import type { JsonSchema } from './schema-text.ts';

const METHODS = ['get', 'post', 'patch'] as const;

/** An operation of the document, as the page shows it. */
export interface Operation {
  method: string;
  path: string;
  tag: string;
  summary: string;
  parameters: { name: string; in: string; required: boolean; description: string }[];
  body: JsonSchema | undefined;
  responses: { status: string; description: string; schema: JsonSchema | undefined }[];
}

/** All operations, their usual failures left out: those are shown once. */
export function listOperations(document: InterfaceDocument): Operation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [readOperation(method, path, operation as RawOperation)];
    }),
  );
}

interface Content {
  content?: Record<string, { schema?: JsonSchema }>;
}

interface RawOperation {
  tags?: string[];
  summary?: string;
  parameters?: { name: string; in: string; required?: boolean; schema?: JsonSchema }[];
  requestBody?: Content;
  responses: Record<string, Content & { description: string }>;
}

function readOperation(method: string, path: string, raw: RawOperation): Operation {
  return {
    method: method.toUpperCase(),
    path,
    tag: raw.tags?.[0] ?? 'Other',
    summary: raw.summary ?? '',
    parameters: (raw.parameters ?? []).map(({ schema, required = false, ...parameter }) => ({
      ...parameter,
      required,
      description: schema?.description ?? '',
    })),
    body: firstSchema(raw.requestBody),
    responses: readResponses(raw.responses).filter((response) => !isUsual(response)),
  };
}

/** What any operation of an account may answer. */
export function listUsualFailures(document: InterfaceDocument): Operation['responses'] {
  const profile = document.paths['/profile']?.get as RawOperation | undefined;
  return readResponses(profile?.responses ?? {}).filter(isUsual);
}

function isUsual({ status, description }: Operation['responses'][number]): boolean {
  return Object.entries(usualFailures).some(
    ([usual, failure]) => usual === status && failure.description === description,
  );
}

function readResponses(responses: RawOperation['responses']): Operation['responses'] {
  return Object.entries(responses).map(([status, response]) => ({
    status,
    description: response.description,
    schema: firstSchema(response),
  }));
}

function firstSchema(part: Content | undefined): JsonSchema | undefined {
  return Object.values(part?.content ?? {})[0]?.schema;
}
