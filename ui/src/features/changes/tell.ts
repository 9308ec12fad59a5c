// What the person hears after an undo or a redo, with the way back.

import { words } from '../../i18n/changes';
import { i18n } from '../../i18n/index.svelte';
import type { UndoAnswer } from '../../protocol/changes';
import { toasts } from '../../state';
import { changes, changesApi } from '../../state/changes';
import { undoneText } from '../../state/changes/undone';
import { readWarning } from '../../state/changes/undo.svelte';

export function tell(answer: UndoAnswer, redo: boolean): void {
  const { done, warnings } = words.t;
  const ids = answer.changes.map(({ id }) => id);
  const back = { label: redo ? done.undo : done.redo, run: () => void goBack(ids, !redo) };
  toasts.success(redo ? done.redone(answer.steps.length) : undoneText(answer.steps, i18n.t.deeds.undone), ids.length > 0 ? back : null);
  for (const { code, text } of answer.warnings.map(readWarning)) toasts.info(done.warning, warnings[code] ?? text);
}

async function goBack(ids: string[], redo: boolean): Promise<void> {
  try {
    const answer = await changesApi.undo({ ids }, false);
    void changes.refresh();
    tell(answer, redo);
  } catch (thrown) {
    toasts.failure(thrown);
  }
}
