// The words of a tool call, in the tense of what has happened so far.

import type { Deed, deeds } from '../../i18n/en/deeds';
import type { ToolCall } from '../../state/chat/entry.svelte';
import { onlyTried } from './tone';

/** What a call says of itself. A tool we have no words for is named. */
export function deedOf(call: ToolCall, live: boolean, words: typeof deeds): string {
  const deed: Deed | undefined = words.tools[call.label];
  if (!deed) return call.label;
  const { result } = call;
  if (!result) {
    if (!live) return words.unknown(deed);
    // A question to the person is what it does, not what it wants leave for.
    return call.requestId !== null && !call.label.startsWith('prompt_') ? words.wants(deed) : deed.doing;
  }
  switch (result.status) {
    case 'denied':
      return words.denied(deed);
    case 'canceled':
      return words.canceled(deed);
    case 'needs_input':
      return deed.doing;
    case 'ok':
    case 'noop':
    case 'partial':
    case null:
      if (result.isError) return words.failed(deed);
      return onlyTried(call) ? words.would(deed) : deed.done;
    default:
      return words.failed(deed);
  }
}
