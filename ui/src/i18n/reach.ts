// Texts of Settings › Notifications, apart from the main dictionary so that the first view does not load them.

import { reach as en } from './en/reach';
import { apart } from './index.svelte';
import { reach as zh } from './zh/reach';

export const reachWords = apart<typeof en>(en, zh);
