/** A person known to the identity service, with or without an account. */
export interface Identity {
  email: string;
  password: string;
  twoFactor: boolean;
  failedAttempts: number;
  lockedUntil: number;
}

export interface Mail {
  to: string;
  subject: string;
  link: string;
  at: number;
}

export interface Verification {
  account: string;
  email: string;
  expiresAt: number;
}

export interface OauthClient {
  id: string;
  secret: string;
  name: string;
  redirectUris: string[];
}

export interface Grant {
  client: string;
  email: string;
  scopes: string[];
  accessToken: string;
  createdAt: number;
  revoked: boolean;
}

export interface AuthorisationCode {
  client: string;
  redirectUri: string;
  scopes: string[];
  email: string;
  challenge: string | undefined;
  expiresAt: number;
  /** The access token it was exchanged for. */
  usedFor: string | undefined;
}
