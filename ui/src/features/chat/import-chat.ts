// A chat from a file that was exported: handed to the host, which reads it and says what is wrong with it.

import { words } from '../../i18n/dialogs';
import { router } from '../../router';
import { chat, toasts } from '../../state';

const MAX_BYTES = 50 * 1024 * 1024;

export async function importChat(file: File): Promise<void> {
  if (file.size > MAX_BYTES) {
    toasts.error(words.t.imported.tooLarge);
    return;
  }
  try {
    const made = await chat.api.importChat(await file.text());
    router.go('chat', [made.id]);
    toasts.success(words.t.imported.done);
  } catch (thrown) {
    toasts.failure(thrown);
  }
}
