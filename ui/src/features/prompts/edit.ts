// What a person makes of a command or of the arguments of a call, read back from the text field.

import type { WireObject } from '../../protocol';
import type { PromptItem } from '../../state/prompts/item';

/** The text to begin with. */
export function textOf({ body, arguments: given }: PromptItem): string {
  return body.kind === 'file_change_confirm' ? body.command : JSON.stringify(given ?? {}, null, 2);
}

/** The answer's `edited`; null where the text is none. */
export function editedOf({ body }: PromptItem, text: string): WireObject | null {
  if (body.kind === 'file_change_confirm') return text.trim() === '' ? null : { command: text };
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { arguments: value } : null;
  } catch {
    return null;
  }
}
