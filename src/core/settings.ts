/** What commands and jobs may know of the configuration: no secret. The names are those of the variables. */
export interface Settings {
  SLACK_COMMAND: string;
  PUBLIC_URL?: string | undefined;
  SUPPORT_URL?: string | undefined;
  SERVICE_BASE_URL: string;
  SERVICE_SIGNUP_URL?: string | undefined;
  SERVICE_AUTH_URL?: string | undefined;
  SERVICE_OAUTH_CLIENT_ID?: string | undefined;
  SERVICE_SITES_DOMAIN?: string | undefined;
  SERVICE_HOOK_TYPES: Record<string, string>;
  POLL_INTERVAL_MS: number;
  FOLLOW_TIMEOUT_MINUTES: number;
  NOTICE_INTERVAL_MS?: number | undefined;
}
