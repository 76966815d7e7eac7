import type { Project } from '../../service/projects.ts';

/**
 * The projects that a text speaks of, by permalink, identifier or name, each as whole words in any letter case. A
 * longer name hides those within it, so `storefront-api` does not speak of `storefront`. Pure.
 */
export function mentionedProjects(text: string, projects: readonly Project[]): Project[] {
  const names = projects
    .flatMap((project) =>
      [...new Set([project.permalink, project.identifier, project.name])].map((name) => ({
        name: name.toLowerCase(),
        project,
      })),
    )
    .filter(({ name }) => name.length > 1)
    .toSorted((one, other) => other.name.length - one.name.length);
  const found = new Set<Project>();
  let left = text.toLowerCase();
  for (const { name } of names) {
    const rest = without(left, name);
    if (rest === left) continue;
    // Several projects may have one name; each is meant.
    for (const other of names) if (other.name === name) found.add(other.project);
    left = rest;
  }
  return projects.filter((project) => found.has(project));
}

const WORD = /[\p{L}\p{N}_-]/u;

/** The text with each whole-word occurrence blanked out. */
function without(text: string, name: string): string {
  let rest = text;
  for (let at = rest.indexOf(name); at !== -1; at = rest.indexOf(name, at + 1)) {
    const before = rest.slice(0, at);
    const after = rest.slice(at + name.length);
    if (WORD.test(lastOf(before)) || WORD.test(after.slice(0, 1))) continue;
    rest = `${before}${'\n'.repeat(name.length)}${after}`;
  }
  return rest;
}

function lastOf(text: string): string {
  return text.slice(-1);
}
