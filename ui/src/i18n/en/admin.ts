// English texts of the pages that administer servers, models and agents.

import { agents } from './admin/agents';
import { give } from './admin/give';
import { land } from './admin/land';
import { models } from './admin/models';
import { programs } from './admin/programs';
import { servers } from './admin/servers';
import { subagents } from './admin/subagents';

export const admin = {
  common: {
    add: 'Add',
    edit: 'Edit',
    remove: 'Remove',
    removeTitle: (name: string) => `Remove “${name}”?`,
    saveChanges: 'Save changes',
    discard: 'Discard changes',
    saved: (name: string) => `Saved: ${name}`,
    removed: (name: string) => `Removed: ${name}`,
    name: 'Name',
    nameNeeded: 'Enter a name.',
    description: 'Description',
    notFound: 'This no longer exists.',
    search: 'Search',
    noMatch: (text: string) => `No matches for “${text}”`,
    chooseFile: 'Choose a file…',
    main: 'In chats',
    sub: 'As subagent',
    role: 'Used',
    roleMain: 'In chats',
    roleSub: 'As subagent',
    builtin: 'Built in',
    locked: 'Locked',
    langAuto: 'Automatic',
    langZh: '中文',
    langEn: 'English',
    language: 'Text language',
    more: 'More',
    fixes: (n: number) => `${n} ${n === 1 ? 'field needs' : 'fields need'} attention`,
    advanced: 'Advanced',
    notJson: 'Not a JSON object.',
    number: 'Enter a number.',
  },
  servers,
  models,
  agents,
  give,
  land,
  programs,
  subagents,
};
