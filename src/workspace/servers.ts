/** No server was given, or none has that name: the person gets a menu, and what they typed runs again. */
export class ServerNeeded extends Error {
  readonly code = 'server_needed';
  /** Where to look for the server. */
  readonly place: { account: string; project: string };

  /** @param message one sentence for the person; foreign text in it must be escaped already */
  constructor(message: string, place: { account: string; project: string }) {
    super(message);
    this.name = 'ServerNeeded';
    this.place = place;
  }
}
