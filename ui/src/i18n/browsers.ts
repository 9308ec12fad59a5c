// Texts of Settings › Browsers, apart from the main dictionary so that the first view does not load them.

import { browsers as en } from './en/browsers';
import { apart } from './index.svelte';
import { browsers as zh } from './zh/browsers';

export const browserWords = apart<typeof en>(en, zh);
