// Texts of dialogs that are opened later, apart from the main dictionary so that the first view does not load them.

import { dialogs as en } from './en/dialogs';
import { apart } from './index.svelte';
import { dialogs as zh } from './zh/dialogs';

export const words = apart<typeof en>(en, zh);
