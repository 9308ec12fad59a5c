// One request of each kind an app can make, as the seeds write them.

export const EXAMPLES: Record<string, Record<string, unknown>> = {
  kv: {
    kind: 'kv',
    title: 'Connection',
    message: 'Where is the database?',
    fields: [
      { key: 'host', label: 'Host', required: true, default: 'localhost' },
      { key: 'password', label: 'Password', secret: true },
    ],
  },
  choice: {
    kind: 'choice',
    title: 'Format',
    message: 'Which format should the export have?',
    options: [
      { value: 'csv', label: 'CSV' },
      { value: 'json', label: 'JSON' },
    ],
  },
  task_confirm: {
    kind: 'task_confirm',
    title: 'Create these tasks?',
    tasks: [
      { title: 'Write the parser', details: 'With tests' },
      { title: 'Write the manual', details: '' },
    ],
  },
  file_change_confirm: {
    kind: 'file_change_confirm',
    title: 'Change notes.md?',
    path: 'notes.md',
    diff: '--- a/notes.md\n+++ b/notes.md\n@@ -1,2 +1,2 @@\n # Notes\n-old line\n+new line\n',
  },
  result: { kind: 'result', title: 'Report', markdown: 'The import is **done**: 128 rows.' },
};
