import { expect, test } from 'vitest';
import { startBench } from './caller.ts';

test('the reference names every operation and record, and loads nothing from elsewhere', async () => {
  const { service, description } = await startBench();
  const text = await (await fetch(`${service.origin}/docs`)).text();
  for (const key of description.documented) {
    const [method, path] = key.split(' ');
    expect(text).toContain(`<code>${method} ${path}</code>`);
  }
  const missing = [...text.matchAll(/href="#([^"]+)"/g)].filter(([, id]) => !text.includes(`id="${id}"`));
  expect(missing.map(([link]) => link)).toEqual([]);
  expect(text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
});

test('the description says where accounts stand, and that signup needs no credentials', async () => {
  const { service } = await startBench();
  const document = await (await fetch(`${service.signupUrl}/docs.json`)).json();
  expect(document).toMatchObject({
    openapi: '3.1.0',
    servers: [{ url: service.baseUrl }],
    security: [{ basic: [] }],
    paths: { '/api/v1/signup': { servers: [{ url: service.signupUrl }], post: { security: [] } } },
  });
});

test('the description has the gaps and the further operations of a real one, and can be taken away', async () => {
  const { service } = await startBench();
  const read = () => fetch(`${service.signupUrl}/docs.json`);
  const document = await (await read()).json();
  expect(document).not.toHaveProperty(['paths', '/activity']);
  expect(document).not.toHaveProperty(['paths', '/account/invoices']);
  expect(document).toHaveProperty(['paths', '/projects/{project}/undeployed_changes', 'get']);
  const integration = ['components', 'schemas', 'NewIntegration', 'properties', 'integration', 'required'];
  expect(document).toHaveProperty(integration, ['hook_type']);
  service.world.setDescription({ description: 'none' });
  expect((await read()).status).toBe(404);
});
