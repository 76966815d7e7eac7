import { html } from 'hono/html';
import { page } from '../pages/layout.ts';
import type { InterfaceDocument } from './describe.ts';
import { listOperations, listUsualFailures, type Operation } from './operations.ts';
import { fieldsOf, type JsonSchema, typeOf } from './schema-text.ts';

/** The reference for people, made from the same document that machines read. */
export function referencePage(document: InterfaceDocument) {
  const operations = listOperations(document);
  const tags = [...new Set(operations.map(({ tag }) => tag))];
  const schemas = Object.entries(document.components.schemas) as [string, JsonSchema][];
  return page(
    document.info.title,
    html`<p>${document.info.description}</p>
<p>Accounts: <code>${document.servers?.[0]?.url}</code>. For machines: <a href="/docs.json">docs.json</a>.</p>
<nav><ul>${tags.map((tag) => html`<li><a href="#${anchor(tag)}">${tag}</a></li>`)}
<li><a href="#failures">Failures</a></li><li><a href="#records">Records</a></li></ul></nav>
${tags.map(
  (tag) => html`<h2 id="${anchor(tag)}">${tag}</h2>
${operations.filter((operation) => operation.tag === tag).map(operationSection)}`,
)}
<h2 id="failures">Failures</h2>
<p>Any operation of an account may also answer:</p>
${responseTable(listUsualFailures(document))}
<h2 id="records">Records</h2>
${schemas.map(([name, schema]) => html`<h3 id="${name}">${name}</h3>${fieldTable(schema)}`)}`,
  );
}

function operationSection({ method, path, summary, parameters, body, responses }: Operation) {
  return html`<section>
<h3><code>${method} ${path}</code></h3>
<p>${summary}.</p>
${parameters.length > 0 && parameterTable(parameters)}
${body && html`<p>Body: ${typeText(body)}</p>${body.properties && fieldTable(body)}`}
${responseTable(responses)}
</section>`;
}

function responseTable(responses: Operation['responses']) {
  return html`<table>
<tr><th>Status</th><th>Meaning</th><th>Body</th></tr>
${responses.map(
  ({ status, description, schema }) =>
    html`<tr><td>${status}</td><td>${description}</td><td>${schema && typeText(schema)}</td></tr>`,
)}
</table>`;
}

function parameterTable(parameters: Operation['parameters']) {
  return html`<table>
<tr><th>Parameter</th><th>In</th><th></th></tr>
${parameters.map(
  ({ name, in: where, required, description }) =>
    html`<tr><td><code>${name}</code></td><td>${where}</td>
<td>${required ? '' : html`<span class="note">optional</span> `}${description}</td></tr>`,
)}
</table>`;
}

function fieldTable(schema: JsonSchema) {
  const fields = fieldsOf(schema);
  if (fields.length === 0) return html`<p>${schema.description ?? ''} ${typeText(schema)}</p>`;
  return html`<p>${schema.description ?? ''}</p>
<table>
${fields.map(
  (field) => html`<tr><td><code>${field.name}</code></td><td>${typeText(field.schema)}
${field.required ? '' : html`<span class="note">optional</span>`}</td><td>${field.schema.description ?? ''}</td></tr>`,
)}
</table>`;
}

/** The type, its record names as links. */
function typeText(schema: JsonSchema) {
  return typeOf(schema).map((part) =>
    part.record ? html`<a href="#${part.text}">${part.text}</a>` : html`${part.text}`,
  );
}

function anchor(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}
