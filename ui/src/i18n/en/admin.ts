// English texts of the pages that administer servers, models and agents.

import { agents } from './admin/agents';
import { land } from './admin/land';
import { models } from './admin/models';
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
    nameNeeded: 'Give it a name.',
    description: 'Description',
    notFound: 'This is not there any more.',
    search: 'Search',
    noMatch: (text: string) => `Nothing matches “${text}”.`,
    chooseFile: 'Choose a file…',
    main: 'Main',
    sub: 'Sub',
    role: 'Role',
    roleMain: 'Main agent',
    roleSub: 'Sub agents',
    builtin: 'Built in',
    locked: 'Locked',
    langAuto: 'Automatic',
    langZh: '中文',
    langEn: 'English',
    language: 'Language of its texts',
    more: 'More',
    fixes: (n: number) => `${n} ${n === 1 ? 'field needs' : 'fields need'} your attention.`,
    advanced: 'Advanced',
    notJson: 'This is not a JSON object.',
    number: 'Enter a number.',
  },
  servers,
  models,
  agents,
  land,
  subagents,
};
