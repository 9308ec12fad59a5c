// Texts of the tools and the tool log in Settings, apart from the main dictionary so that the first view does not load
// them.

import { tools as en } from './en/tools';
import { apart } from './index.svelte';
import { tools as zh } from './zh/tools';

export const toolWords = apart<typeof en>(en, zh);
