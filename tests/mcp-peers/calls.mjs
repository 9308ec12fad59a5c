// One sensible call for every tool, in an order in which each finds what it needs. `ids` carries what
// earlier calls made; a status other than `ok` is named where it is the right one.

const FILES = [
  ['list_directory', () => ({ path: '.' })],
  ['read_file', () => ({ path: 'a.txt' })],
  ['search_text', () => ({ query: 'beta' })],
  ['find_files', () => ({ pattern: '**/*.md' })],
  ['stat_path', () => ({ path: 'a.txt' })],
];

const WRITES = [
  ['write_file', () => ({ path: 'new.txt', contents: 'one\n' })],
  ['edit_file', () => ({ path: 'new.txt', old_string: 'one', new_string: 'two' })],
  ['apply_patch', () => ({ patch: '*** Begin Patch\n*** Add File: p.txt\n+hello\n*** End Patch\n' })],
  ['delete_path', () => ({ path: 'new.txt' })],
];

const NO_HOST = { status: 'error', isError: true };

export const CALLS = {
  project_files: FILES,
  code_writer: [...FILES, ...WRITES],
  code_maintainer: [
    ...FILES,
    ...WRITES,
    ['read_file_raw', () => ({ path: 'a.txt' })],
    ['read_file_range', () => ({ path: 'a.txt', start_line: 1, end_line: 2 })],
    ['copy_path', () => ({ from: 'a.txt', to: 'copy.txt' })],
    ['move_path', () => ({ from: 'copy.txt', to: 'moved.txt' })],
  ],
  // The sessions outlive the server that made them: over stdio every call has a server of its own.
  shell_tasks: [
    ['run_shell_command', () => ({ command: 'echo out; echo err >&2; exit 3', cwd: 'sub' })],
    ['list_workspace_files', () => ({ path: 'sub' })],
    ['session_run', () => ({ command: 'while read -r line; do echo "got $line"; done', session: 'talk', preview_wait_ms: 0 })],
    ['session_run', () => ({ command: 'while read -r line; do echo "got $line"; done', session: 'talk' }), { status: 'noop' }],
    ['session_list', () => ({})],
    ['session_send_input', () => ({ session: 'talk', data: 'hello', enter: true })],
    ['session_capture_output', () => ({ session: 'talk', wait_ms: 1000 })],
    ['session_send_signal', () => ({ session: 'talk', signal: 'SIGCONT' })],
    ['session_kill', () => ({ session: 'talk' })],
    ['session_kill', () => ({ session: 'talk' }), { status: 'noop' }],
  ],
  lsp_bridge: [
    ['list_lsp_servers', () => ({})],
    ['stop_lsp_server', () => ({ server_id: 'fake' }), { status: 'noop' }],
    ['start_lsp_server', () => ({ server_id: 'fake' })],
    ['lsp_hover', () => ({ path: 'one.fk', line: 1, symbol: 'beta' })],
    ['lsp_definition', () => ({ path: 'one.fk', line: 1, character: 7 })],
    ['lsp_references', () => ({ path: 'one.fk', symbol: 'beta' })],
    ['lsp_completion', () => ({ path: 'one.fk', symbol: 'beta' })],
    ['lsp_document_symbols', () => ({ path: 'one.fk' })],
    ['lsp_workspace_symbols', () => ({ query: 'x', server_id: 'fake' })],
    ['lsp_call_hierarchy', () => ({ path: 'one.fk', symbol: 'beta' })],
    ['lsp_get_diagnostics', () => ({ path: 'one.fk' })],
    ['lsp_code_actions', () => ({ path: 'one.fk', line: 2 })],
    ['lsp_rename', () => ({ path: 'one.fk', symbol: 'beta', new_name: 'delta', apply: true })],
    ['lsp_format_document', () => ({ path: 'one.fk', apply: true })],
  ],
  task_manager: [
    ['add_task', () => ({ title: 'Write the report' }), { keep: (data) => ({ task: data.created[0].id }) }],
    ['list_tasks', () => ({ allSessions: true, allRuns: true })],
    ['get_task', (ids) => ({ id: ids.task })],
    ['update_task', (ids) => ({ id: ids.task, status: 'doing' })],
    ['complete_task', (ids) => ({ id: ids.task, note: 'all done' })],
    ['delete_task', (ids) => ({ id: ids.task, confirm: true })],
    ['clear_tasks', () => ({ mode: 'all' }), { status: 'noop' }],
  ],
  project_journal: [
    ['add_exec_log', () => ({ summary: 'Built it' }), { keep: (data) => ({ entry: data.entry.id }) }],
    ['list_exec_logs', () => ({})],
    ['search_exec_logs', () => ({ query: 'Built' })],
    ['get_exec_log', (ids) => ({ id: ids.entry })],
    ['set_project_info', () => ({ summary: 'A project' })],
    ['get_project_info', () => ({})],
    ['add_project_iteration', () => ({ title: 'First' })],
  ],
  // Subagents run in a host; alone the server says that there is none.
  subagent_router: [
    ['get_sub_agent', () => ({ agent_id: 'reviewer' }), NO_HOST],
    ['suggest_sub_agent', () => ({ task: 'Review the change' }), NO_HOST],
    ['run_sub_agent', () => ({ task: 'Review the change' }), NO_HOST],
    ['start_sub_agent_async', () => ({ task: 'Review the change' }), NO_HOST],
    ['get_sub_agent_status', () => ({ job_id: 'job-1' }), NO_HOST],
    ['cancel_sub_agent_job', () => ({ job_id: 'job-1' }), NO_HOST],
  ],
  ui_prompter: [
    ['prompt_choices', () => ({ options: [{ value: 'a' }], timeout_ms: 1000 }), { status: 'timeout', isError: true }],
    ['prompt_key_values', () => ({ fields: [{ key: 'name' }], timeout_ms: 1000 }), { status: 'timeout', isError: true }],
  ],
};

/** Flags under which a server offers and runs all its tools without a person. */
export const FLAGS = {
  code_writer: ['--write', '--confirm-file-changes=false'],
  code_maintainer: ['--write', '--confirm-file-changes=false'],
  lsp_bridge: ['--write', '--confirm-file-changes=false'],
  shell_tasks: ['--confirm-file-changes=false', '--confirm-shell=never', '--keep-sessions'],
  ui_prompter: ['--prompt-backend=file'],
};
