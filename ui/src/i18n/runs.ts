// Texts of the page Runs, apart from the main dictionary so that the first view does not load them.

import { runs as en } from './en/runs';
import { apart } from './index.svelte';
import { runs as zh } from './zh/runs';

export const runWords = apart<typeof en>(en, zh);
