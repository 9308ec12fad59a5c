// Words for an error: the host's own where it gave some, ours where the call never reached it.

import type { ApiError } from '../api/error';
import { i18n } from '../i18n/index.svelte';

export interface Described {
  message: string;
  hint: string | null;
}

export function describe(error: ApiError): Described {
  const texts = i18n.t.errors as Record<string, string | undefined>;
  const ours = texts[error.code];
  // The host answers 401 and 403 without detail (security T2), and page errors carry browser text.
  const bare = error.code.startsWith('page_') || error.message === `HTTP ${error.status}`;
  if (ours && bare) return { message: ours, hint: error.hint ?? texts[`${error.code}_hint`] ?? null };
  return { message: error.message, hint: error.hint };
}
