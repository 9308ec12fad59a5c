// Texts of Settings › Help beside the guide itself, apart from the main dictionary so that the first view does not load them.

import { help as en } from './en/help';
import { apart } from './index.svelte';
import { help as zh } from './zh/help';

export const helpWords = apart<typeof en>(en, zh);
