/** Something in a channel, and the person whose own it is if the channel is a direct message. */
export interface Placed {
  channel?: string | undefined;
  person?: string | undefined;
}

/** True for a direct message with one person, by its own id or the person's. */
export function isDirect(channel: string | undefined): boolean {
  return channel !== undefined && /^[DUW]/.test(channel);
}

/** Direct messages are shown to their own person alone. @param user undefined: a channel reads it */
export function mayRead(user: string | undefined, { channel, person }: Placed): boolean {
  return !isDirect(channel) || (user !== undefined && person === user);
}
