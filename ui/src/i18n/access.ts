// Texts of Settings › Sandbox, apart from the main dictionary so that the first view does not load them.

import { access as en } from './en/access';
import { apart } from './index.svelte';
import { access as zh } from './zh/access';

export const accessWords = apart<typeof en>(en, zh);
