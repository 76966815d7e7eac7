import type { InterfaceDocument } from './describe.ts';

/** Operations that work, and that such services leave out of their description. */
const LEFT_OUT = ['/activity', '/account/invoices', '/account/invoices/{number}.pdf'];

/** Operations that such services describe beyond the specification. This service does not have them yet. */
const BEYOND: ReadonlyArray<[path: string, method: 'get' | 'post' | 'delete', summary: string]> = [
  ['/projects/{project}/integrations', 'get', 'The integrations of a project'],
  ['/projects/{project}/integrations/{identifier}', 'get', 'An integration'],
  ['/projects/{project}/integrations/{identifier}', 'delete', 'Remove an integration'],
  [
    '/hosted_resources/{identifier}/retry_provision',
    'post',
    'Try a managed server again that ended in error',
  ],
  ['/account/billing_status', 'get', 'The package and its changes'],
];

/** The document as such services publish it: with gaps, and with operations beyond the specification. */
export function makePublished(whole: InterfaceDocument): unknown {
  const paths: Record<string, object> = { ...whole.paths };
  for (const path of LEFT_OUT) delete paths[path];
  for (const [path, method, summary] of BEYOND) {
    const responses = { 200: { description: 'The record or records.' } };
    paths[path] = { ...paths[path], [method]: { summary, responses } };
  }
  return { ...whole, paths, components: { ...whole.components, schemas: relax(whole.components.schemas) } };
}

/** Such services do not mark the name of an integration as required, and describe a fourth flag. */
function relax(schemas: InterfaceDocument['components']['schemas']) {
  return JSON.parse(JSON.stringify(schemas), (key, value) => {
    if (key === 'required' && Array.isArray(value) && value.includes('hook_type'))
      return value.filter((name) => name !== 'name');
    const isIntegration = key === 'properties' && 'send_on_failure' in value;
    return isIntegration ? { ...value, send_on_check_failed: { type: 'boolean' } } : value;
  });
}
