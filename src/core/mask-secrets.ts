/**
 * Hides secrets in foreign text that people will read. No list of forms is whole, so it hides too much rather than too little: a value
 * after a name such as `password` goes whatever it looks like.
 */

const MASK = '[masked]';

/** Maximum length of a line, in UTF-16 units. The rest is dropped, because a part of a secret has no known form. */
const MAX_LINE = 4_000;

/** Values that have a form of their own. */
const TOKENS = [
  // Cloud providers.
  /\b(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA|ANVA|A3T[A-Z0-9])[A-Z0-9]{16}\b/g,
  /\bAIza[\w-]{35}/g,
  /\bya29\.[\w-]{20,}/g,
  /\bGOCSPX-[\w-]{20,}/g,
  /\bdo[opr]_v1_[a-f0-9]{32,}/g,
  /\bdapi[a-f0-9]{32}\b/g,
  /\b(?:hvs|hvb|hvr)\.[\w-]{20,}/g,
  /\b\w{10,20}\.atlasv1\.[\w-]{40,}/g,
  // Code hosts and package registries.
  /\bgh[pousr]_[A-Za-z0-9]{16,}/g,
  /\bgithub_pat_\w{20,}/g,
  /\bgl(?:pat|ptt|dt|rt|cbt|soat|ft|agent|imt|oas|ffct)-[\w.-]{16,}/g,
  /\bATATT3[\w=-]{20,}/g,
  /\bATBB[A-Za-z0-9]{20,}/g,
  /\bnpm_[A-Za-z0-9]{20,}/g,
  /\bpypi-[\w-]{20,}/g,
  /\brubygems_[a-f0-9]{32,}/g,
  /\bdckr_pat_[\w-]{20,}/g,
  // Chat, mail and payment.
  /\bxox[a-z](?:\.xox[a-z])?-[\w-]{8,}/g,
  /\bxapp-\d-[\w-]{8,}/g,
  /(?<=\/\/hooks\.slack(?:-gov)?\.com\/)(?:services|workflows|triggers)\/[\w/]+/g,
  /(?<=\/\/discord(?:app)?\.com\/api\/webhooks\/)\d+\/[\w-]+/g,
  /(?<!\d)\d{8,10}:[\w-]{35}(?![\w-])/g,
  /\bSG\.[\w-]{16,}\.[\w-]{16,}/g,
  /\b(?:SK|AC)[a-f0-9]{32}\b/g,
  /\bkey-[a-f0-9]{32}\b/g,
  /\b[a-f0-9]{32}-us\d{1,2}\b/g,
  /\b[rs]k_(?:live|test)_[A-Za-z0-9]{10,}/g,
  /\bwhsec_[A-Za-z0-9+/=]{16,}/g,
  /\bsq0(?:atp|csp)-[\w-]{20,}/g,
  /\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}/g,
  // Other services.
  /\bsk-(?:proj-|ant-|or-)?[\w-]{20,}/g,
  /\bhf_[A-Za-z0-9]{20,}/g,
  /\b(?:lin_api|ntn|secret|sntrys|sbp|glsa|glc|pscale_tkn|pscale_pw|dp\.(?:pt|st|sa))[_.][\w.+/=-]{24,}/g,
  /\b(?:NRAK|PMAK|HRKU)-[\w-]{20,}/g,
  /\bAGE-SECRET-KEY-1[A-Z0-9]{20,}/g,
  /\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g,
] as const;

/**
 * A name whose value is a secret, a sign and the value. `key` and `pass` alone are the ends of harmless words too, so they need a boundary.
 */
const ASSIGNED =
  /(?<name>(?:passw(?:or)?d|passphrase|pwd|secret|secret_?key_?base|token|credentials?|signature|(?:api|access|secret|private|auth|account|encryption|signing|master|license|deploy|ssh)[_-]?key|(?<![a-z])(?:_auth|sig|pass)|(?<=[a-z])(?-i:Pass))\d*|(?:(?<![a-z])key|(?<=[a-z])(?-i:Key))\d*)(?<sign>["']?\]?\s{0,5}(?:=>|:=|=)\s{0,5})(?<value>"[^"]*"?|'[^']*'?|[^\s"'&]+)/gi;
const SAID =
  /(?<name>(?:passw(?:or)?d|passphrase|pwd|secret|secret_?key_?base|token|credentials?|signature|(?:api|access|secret|private|auth|account|encryption|signing|master|license|deploy|ssh)[_-]?key|(?<![a-z])(?:_auth|sig|pass)|(?<=[a-z])(?-i:Pass))\d*|(?<=["'])key)(?<sign>["']?\s{0,5}:\s{0,5})(?<value>"[^"]*"?|'[^']*'?|[^\s"'&]{200,}|(?=[^\s"'&]{0,200}[a-z])[^\s"'&]{0,200}\d[^\s"'&]*|[^\s"'&]{1,200}(?=\s{0,5}(?:[,;})\]]|$)))/gi;
const FLAG =
  /(?<name>--?(?:[a-z]{1,20}-){0,5}(?:(?:passw(?:or)?d|passphrase|pwd|secret|secret_?key_?base|token|credentials?|signature|(?:api|access|secret|private|auth|account|encryption|signing|master|license|deploy|ssh)[_-]?key|(?<![a-z])(?:_auth|sig|pass)|(?<=[a-z])(?-i:Pass))\d*|key))(?<sign>\s{1,5})(?<value>(?!-)(?:"[^"]*"?|'[^']*'?|[^\s"'&]+))/gi;

/** Values after a name that are no secrets. */
const HARMLESS =
  /^["']?(?:(?:required|missing|expired|invalid|unset|null|nil|none|true|false|undefined|empty|yes|no|set|not|ok|changed|failed|rejected|accepted|denied|wrong|incorrect|redacted|hidden|masked|\[\w+\]|\*+|•+|x{3,}|\.{3}|\$\{{1,2}[^}]*\}{0,2}|%\w+%|<[^>]*>|process\.env\.\w+)[.,;!)\]}]*)?["']?[)}\]]*$/i;

/** Secrets in a place that gives them away. `$1` stays. */
const PLACES = [
  // `user:password@` in an address, and an address that begins with a token.
  /(:\/\/[^\s:/@]{0,200}:)[^\s/]{1,500}(?=@)/g,
  /(:\/\/)[^\s:/@]{20,500}(?=@)/g,
  /(\b(?:proxy-)?authorization["']?\s{0,5}[:=]\s{0,5}["']?)[^\s"'][^"']*/gi,
  /(\b(?:set-)?cookie["']?:\s{0,5})[^\s"'][^"']*/gi,
  /(\b(?:bearer|basic)\s{1,5})(?=[\w.~+/=-]*\d)[\w.~+/=-]{16,}/gi,
  /(\b(?:x-)?[a-z]{0,20}-?(?:api-?key|auth-?token):\s{0,5})[^\s"']+/gi,
  /(\bmysql\w{0,20}\b[^|;]{0,200}\s-p)(?=\S)(?!(?:ort|rotocol)\b)\S+/g,
  /(\bsshpass\s{1,5}-p\s{0,5})\S+/g,
  /(\s(?:-u|--user)[ =]{1,5}["']?[^\s:"']{1,100}:)(?!\d+(?:\s|$))[^\s"']+/g,
  /(\blogin\s{1,5}\S{1,100}\s{1,5}password\s{1,5})\S+/gi,
] as const;

/** Hides the secrets of one line. For several lines use `maskLines`. */
function maskLine(line: string): string {
  let text = line.slice(0, MAX_LINE);
  for (const pattern of PLACES) text = text.replace(pattern, `$1${MASK}`);
  for (const pattern of TOKENS) text = text.replace(pattern, MASK);
  for (const pattern of [ASSIGNED, SAID, FLAG])
    text = text.replace(pattern, (match, name: string, sign: string, value: string) =>
      isHarmless(name, value) ? match : `${name}${sign}${MASK}`,
    );
  return text;
}

const VARIABLE = /^["']?\$[A-Z_][A-Z0-9_]*["']?$/;

/** `PWD` is a folder. */
function isHarmless(name: string, value: string): boolean {
  return HARMLESS.test(value) || VARIABLE.test(value) || (/^pwd$/i.test(name) && value.startsWith('/'));
}

const BEGIN = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY/;
const END = /-----END [A-Z ]{0,40}PRIVATE KEY/;
/** A line of a key whose beginning is not there. Hashes are shorter, or hexadecimal. */
const KEY_LINE = /^\s*(?![0-9a-fA-F]+\s*$)[A-Za-z0-9+/]{60,76}={0,2}\s*$/;

/**
 * Hides secrets in lines that follow each other, private keys over several lines too. Takes time in proportion to the text.
 * @param last number of lines at the end to return; all by default
 */
export function maskLines(lines: readonly string[], last = lines.length): string[] {
  let isInKey = false;
  const states = lines.map((line) => {
    const isKey = isInKey || BEGIN.test(line) || KEY_LINE.test(line);
    isInKey = (isInKey || BEGIN.test(line)) && !END.test(line);
    return isKey || END.test(line);
  });
  const from = Math.max(0, lines.length - last);
  return lines.slice(from).map((line, at) => (states[from + at] ? MASK : maskLine(line)));
}
