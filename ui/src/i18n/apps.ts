// Texts of apps and their pages, apart from the main dictionary so that the first view does not load them.

import { apps as en } from './en/apps';
import { apart } from './index.svelte';
import { apps as zh } from './zh/apps';

export const appWords = apart<typeof en>(en, zh);
