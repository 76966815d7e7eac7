/** The address if a link may lead there (http, https or mailto), else `undefined`. */
export function safeUrl(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  return ['http:', 'https:', 'mailto:'].includes(new URL(url).protocol) ? url : undefined;
}

/** The address if the page itself serves it: the page's policy loads pictures from nowhere else. */
export function ownUrl(url: string): string | undefined {
  if (!URL.canParse(url, location.href)) return undefined;
  const parsed = new URL(url, location.href);
  return parsed.origin === location.origin ? parsed.href : undefined;
}
