// Texts of the trust sheet, apart from the main dictionary so that the first view does not load them.

import { sheet as en } from './en/sheet';
import { apart } from './index.svelte';
import { sheet as zh } from './zh/sheet';

export const sheetWords = apart<typeof en>(en, zh);
