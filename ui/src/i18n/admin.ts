// Texts of the pages that administer servers, models and agents. They are apart from the main dictionary so
// that the first view does not load them; language and type rules are the same.

import { admin as en } from './en/admin';
import { i18n } from './index.svelte';
import { admin as zh } from './zh/admin';

export type AdminDictionary = typeof en;

export const words = {
  /** The dictionary of the chosen language; components that read it follow a change. */
  get t(): AdminDictionary {
    return i18n.language === 'zh' ? zh : en;
  },
};
