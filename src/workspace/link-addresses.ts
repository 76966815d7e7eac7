export const START_PATH = '/service/oauth/start';
export const CALLBACK_PATH = '/service/oauth/callback';

/** Where the person's browser begins; only the holder of the ticket gets on. */
export function startAddress(publicUrl: string, ticket: string): string {
  return `${baseOf(publicUrl)}${START_PATH}?ticket=${encodeURIComponent(ticket)}`;
}

/** Where the service sends the browser back; registered there to the letter. */
export function callbackAddress(publicUrl: string): string {
  return `${baseOf(publicUrl)}${CALLBACK_PATH}`;
}

function baseOf(publicUrl: string): string {
  return publicUrl.replace(/\/+$/, '');
}
