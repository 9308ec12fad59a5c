// Texts of the Changes page. They are apart from the main dictionary so that the first view does not load
// them; language and type rules are the same.

import { changes as en } from './en/changes';
import { apart } from './index.svelte';
import { changes as zh } from './zh/changes';

export const words = apart<typeof en>(en, zh);
