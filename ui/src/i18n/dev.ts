// Texts of the page of `chatos dev`. They are apart from the main dictionary so that the first view does not load
// them; language and type rules are the same.

import { dev as en } from './en/dev';
import { i18n } from './index.svelte';
import { dev as zh } from './zh/dev';

export const words = {
  /** The dictionary of the chosen language; components that read it follow a change. */
  get t(): typeof en {
    return i18n.language === 'zh' ? zh : en;
  },
};
