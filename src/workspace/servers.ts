/** No server was named, or none by that name: the person is shown a menu, and what they typed runs again. */
export class ServerNeeded extends Error {
  readonly code = 'server_needed';
  /** Where the servers are that may be meant. */
  readonly place: { account: string; project: string };

  /** @param message one sentence for the person; foreign text in it must be escaped already */
  constructor(message: string, place: { account: string; project: string }) {
    super(message);
    this.name = 'ServerNeeded';
    this.place = place;
  }
}
