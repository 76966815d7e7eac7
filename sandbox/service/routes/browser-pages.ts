import { html } from 'hono/html';
import type { SiteApp } from '../api/site.ts';
import { page } from '../pages/layout.ts';
import { findProject } from '../world/find.ts';
import { followVerification } from '../world/mail.ts';
import type { Integration } from '../world/project-records.ts';
import type { World } from '../world/records.ts';

/** Pages that people open from an e-mail or from an answer of the API. */
export function addBrowserPages(app: SiteApp): void {
  app.get('/verify_email/:token', (c) => {
    const user = followVerification(c.env.world, c.req.param('token'));
    if (user === undefined) return c.html(sorry('This link is unknown or no longer valid.'), 410);
    return c.html(page('E-mail verified', html`<p>The API key of ${user.email} works from now on.</p>`));
  });
  app.get('/oauth/repositories/:provider', (c) =>
    c.html(
      page('Connect repositories', html`<p>Here ${c.req.param('provider')} would ask for your consent.</p>`),
    ),
  );
  app.get('/integrations/authorise/:token', (c) => {
    const integration = findHandedOver(c.env.world, c.req.param('token'));
    if (integration === undefined) return c.html(sorry('This request is unknown or was used already.'), 410);
    return c.html(consent(integration));
  });
  app.post('/integrations/authorise/:token', (c) => {
    const token = c.req.param('token');
    const integration = findHandedOver(c.env.world, token);
    if (integration === undefined) return c.html(sorry('This request is unknown or was used already.'), 410);
    c.env.world.handOvers.delete(token);
    integration.active = true;
    return c.html(
      page('Connected', html`<p>“${integration.name}” is active now. You can close this page.</p>`),
    );
  });
}

function findHandedOver({ handOvers, accounts }: World, token: string): Integration | undefined {
  const request = handOvers.get(token);
  const account = accounts.get(request?.account ?? '');
  const project = account && findProject(account, request?.project ?? '');
  return project?.integrations.find(({ identifier }) => identifier === request?.integration);
}

function consent({ name }: Integration) {
  return page(
    'Authorise the integration',
    html`<p>“${name}” asks to post messages into your team chat.</p>
<form method="post"><button class="primary">Authorise</button></form>`,
  );
}

function sorry(text: string) {
  return page('This did not work', html`<p>${text}</p>`);
}
