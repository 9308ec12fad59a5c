// Texts of the pages that administer servers, models and agents. They are apart from the main dictionary so
// that the first view does not load them; language and type rules are the same.

import { admin as en } from './en/admin';
import { apart } from './index.svelte';
import { admin as zh } from './zh/admin';

export type AdminDictionary = typeof en;

export const words = apart<AdminDictionary>(en, zh);
