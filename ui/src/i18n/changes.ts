// Texts of the Changes page. They are apart from the main dictionary so that the first view does not load
// them; language and type rules are the same.

import { changes as en } from './en/changes';
import { i18n } from './index.svelte';
import { changes as zh } from './zh/changes';

export const words = {
  /** The dictionary of the chosen language; components that read it follow a change. */
  get t(): typeof en {
    return i18n.language === 'zh' ? zh : en;
  },
};
