import { html } from 'hono/html';
import type { InstallAsk } from './oauth.ts';
import type { World } from './world.ts';

type Html = ReturnType<typeof html>;

/** The page on which a person allows or refuses the install; `html` escapes all that is foreign. */
export function installPage(world: World, ask: InstallAsk): Html {
  const people = [...world.workspaces.values()].flatMap((workspace) =>
    [...workspace.people.values()]
      .filter((person) => !person.is_bot && !person.deleted)
      .map((person) => ({ workspace, person })),
  );
  const chosenTeam = ask.team ?? '';
  return page(
    `Install ${world.app.name}`,
    html`<h1>${world.app.name} asks for access</h1>
      <p>It would be able to use:</p>
      <ul>${ask.scope.split(/[ ,]+/).map((scope) => html`<li><code>${scope}</code></li>`)}</ul>
      <form method="post" action="/oauth/v2/authorize">
        ${Object.entries(ask).map(
          ([name, value]) => html`<input type="hidden" name="${name}" value="${value ?? ''}" />`,
        )}
        <label>Install as
          <select name="who" required>
            <option value="">Choose a workspace</option>
            ${people.map(
              ({ workspace, person }) =>
                html`<option value="${workspace.id} ${person.id}" ${workspace.id === chosenTeam ? 'selected' : ''}>
                  ${person.real_name} in ${workspace.name}
                </option>`,
            )}
          </select>
        </label>
        ${
          people.some(({ workspace }) => workspace.enterprise)
            ? html`<label><input type="checkbox" name="org_wide" value="1" /> for the whole organisation</label>`
            : ''
        }
        <p>
          <button name="decision" value="allow">Allow</button>
          <button name="decision" value="deny" formnovalidate>Cancel</button>
        </p>
      </form>`,
  );
}

export function installFault(code: string): Html {
  return page('Something went wrong', html`<h1>Something went wrong</h1><p>${code}</p>`);
}

function page(title: string, body: Html | Promise<Html>): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <style>
          :root { color-scheme: light dark; font: 16px/1.5 system-ui, "Liberation Sans", sans-serif; }
          body { max-width: 32rem; margin: 12vh auto; padding: 0 1.25rem; }
          select, button { font: inherit; padding: 0.35rem 0.8rem; }
          label { display: block; margin: 1rem 0; }
        </style>
      </head>
      <body>${body}</body>
    </html>`;
}
