import { html } from 'hono/html';
import { page } from './layout.ts';

export function homePage() {
  return page(
    'Simulated deployment service',
    html`<p>This stands in for the hosted deployment service, for tests and for the demo.</p>
<ul>
<li><a href="/docs">Reference of the interface</a>, and the same <a href="/docs.json">for machines</a></li>
<li><a href="/_control/state">What it holds right now</a></li>
</ul>`,
  );
}

/** A wrong account name: the host itself is unknown, so the answer is no API error. Spec 5.1. */
export function unknownHostPage() {
  return page('Not found', html`<p>There is no account at this address.</p>`);
}

export function betaPage(account: string) {
  return page(
    'Beta features',
    html`<p>Managed servers are in beta. An administrator of <strong>${account}</strong> can switch them on
with a <code>POST</code> to <code>/beta/enrollments</code>.</p>`,
  );
}
