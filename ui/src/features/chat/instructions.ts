// Sizes of instruction files in words.

import { words } from '../../i18n/dialogs';
import { i18n } from '../../i18n/index.svelte';

/** `5 KB`, `120 bytes`. */
export function sizeText(bytes: number): string {
  const number = new Intl.NumberFormat(i18n.tag, { maximumFractionDigits: 0 });
  return bytes < 1_000 ? words.t.instructions.bytes(number.format(bytes)) : `${number.format(Math.ceil(bytes / 1_000))} KB`;
}
