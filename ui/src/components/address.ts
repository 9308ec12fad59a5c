// A web address taken apart for a person who must decide whether to open it (ui-prompts §10.2).

export interface Address {
  /** As written: before the host, the host, after it. */
  before: string;
  host: string;
  after: string;
  /** The host as browsers send it; foreign letters are in punycode. */
  ascii: string;
  punycode: boolean;
  credentials: boolean;
  insecure: boolean;
  /** https, or http on this computer. */
  allowed: boolean;
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i;

export function readAddress(text: string): Address | null {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    // Shown as plain text, and refused.
    return null;
  }
  // The authority as written: what lies between the slashes and the path, without a user part.
  const match = /^([a-z][a-z0-9+.-]*:[\\/]*(?:[^\\/?#]*@)?)([^\\/?#@]*)(.*)$/is.exec(text.trim());
  const host = match?.[2] ?? url.host;
  const loopback = LOOPBACK.test(url.hostname);
  return {
    before: match?.[1] ?? `${url.protocol}//`,
    host,
    after: match?.[3] ?? '',
    ascii: url.host,
    punycode: /(^|\.)xn--/i.test(url.hostname),
    credentials: url.username !== '' || url.password !== '',
    insecure: url.protocol === 'http:',
    allowed: url.protocol === 'https:' || (url.protocol === 'http:' && loopback),
  };
}

/** A question's text without the paragraphs that only repeat the address, which is shown apart from it:
    the host writes them for those who see nothing but the text (ui-prompts §10.2). */
export function withoutAddress(text: string, url: string): string {
  const host = readAddress(url)?.ascii.replace(/:\d+$/u, '').replaceAll(/^\[|\]$/gu, '');
  const repeats = (paragraph: string) => paragraph === `\`${url}\`` || (host !== undefined && [`Host: **${host}**`, `主机：**${host}**`].includes(paragraph));
  return text
    .split('\n\n')
    .filter((paragraph) => !repeats(paragraph))
    .join('\n\n');
}
