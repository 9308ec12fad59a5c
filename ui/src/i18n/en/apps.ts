// Texts of the Apps page.

export const apps = {
  title: 'Apps',
  search: 'Search apps',
  searchPlaceholder: 'Name, id or description',
  count: (shown: number, all: number) =>
    shown === all ? `${all} ${all === 1 ? 'plugin' : 'plugins'}` : `${shown} of ${all} plugins`,
  empty: 'No apps are installed: put a plugin folder into the folder below and it appears here by itself.',
  emptyButton: 'Copy the folder’s path',
  exampleIntro: 'Or install a package from a terminal:',
  example: 'chatos plugin install ./my-app.zip',
  noMatch: (text: string) => `No app matches “${text}”.`,
  noApps: 'This plugin has no apps.',
  version: (version: string) => `v${version}`,
  by: (name: string) => `by ${name} (unverified)`,
  sources: { builtin: 'Built in', user: 'Installed', dev: 'Development' },
  trust: { trusted: 'Trusted', untrusted: 'Not trusted', changed: 'Changed since you trusted it' },
  trustNote: {
    untrusted: 'Nothing of it runs until you trust it.',
    changed: 'Its files are not the ones you trusted. Nothing of it runs until you trust it again.',
  },
  shadowsBuiltin: 'Would replace the built-in plugin of the same id once trusted.',
  backend: 'Backend',
  backendUnavailable: 'Backend missing',
  offers: {
    server: 'Tools for agents',
    prompt: 'Instructions for agents',
    compact: 'Compact view',
    agent: 'Agent template',
  },
  problems: 'Problems',
  problemsNone: 'No problems.',
  problemsCount: (n: number) => `${n} ${n === 1 ? 'problem' : 'problems'}`,
  problemsIntro: 'A broken part is left out; everything else keeps working.',
  severity: { error: 'Error', warning: 'Warning' },
  otherPlugin: 'Not tied to a plugin',
  wholeFile: 'whole file',
};
