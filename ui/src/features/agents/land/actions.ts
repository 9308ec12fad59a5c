// What can be done with a land_config besides editing it.

import { words } from '../../../i18n/admin';
import type { LandConfig } from '../../../protocol/admin';
import { router } from '../../../router';
import { toasts } from '../../../state';
import { agentsApi, lists } from '../../../state/admin';
import { exportText } from '../../../state/admin/land-draft';
import { freeName } from '../../../state/admin/model-draft';

/** Copies it under a free name and opens the copy. */
export async function copyLand(config: LandConfig): Promise<void> {
  try {
    const taken = (lists.land.data ?? []).map(({ name }) => name);
    const made = await agentsApi.copyLandConfig(config.id, freeName(words.t.land.copyName(config.name), taken));
    await lists.land.load();
    toasts.success(words.t.land.copied(made.name));
    router.go('agents', ['land-configs', made.id]);
  } catch (thrown) {
    toasts.failure(thrown);
  }
}

/** Hands the document to the browser as a file. */
export function exportLand(config: LandConfig): void {
  const url = URL.createObjectURL(new Blob([exportText(config)], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${config.name.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-') || 'land-config'}.json`;
  link.click();
  URL.revokeObjectURL(url);
}
