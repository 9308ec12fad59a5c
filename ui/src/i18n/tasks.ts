// Texts of the page Tasks, apart from the main dictionary so that the first view does not load them.

import { tasks as en } from './en/tasks';
import { apart } from './index.svelte';
import { tasks as zh } from './zh/tasks';

export const taskWords = apart<typeof en>(en, zh);
