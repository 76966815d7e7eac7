import { hashJson } from './json.ts';

/** Id of a document for the options of menus, which hold little. */
export function shortenId(id: string): string {
  return hashJson(id).slice(0, 12);
}

/** True if a button or menu names this id. */
export function isNamedId(id: string, drawn: string): boolean {
  return id === drawn || shortenId(id) === drawn;
}
