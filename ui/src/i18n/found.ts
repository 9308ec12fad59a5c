// Texts about agents of other makers on this machine, apart from the main dictionary so that the first view does not load
// them where there are none.

import { found as en } from './en/found';
import { apart } from './index.svelte';
import { found as zh } from './zh/found';

export const foundWords = apart<typeof en>(en, zh);
