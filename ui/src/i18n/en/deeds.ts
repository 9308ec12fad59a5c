// What tools do, in the tense of what has happened: a card says "Wrote" only once something was written.

/** One tool: what it wants to do, what it is doing, what it has done. */
export interface Deed {
  to: string;
  doing: string;
  done: string;
}

export const deeds = {
  /** It waits for the person's word. */
  wants: (deed: Deed) => `Wants to ${deed.to}`,
  /** Only tried out: nothing was changed. */
  would: (deed: Deed) => `Would ${deed.to}`,
  denied: (deed: Deed) => `Wasn’t allowed to ${deed.to}`,
  canceled: (deed: Deed) => `Didn’t ${deed.to}`,
  failed: (deed: Deed) => `Failed to ${deed.to}`,
  /** Nothing was written down about how it ended. */
  unknown: (deed: Deed) => `Was about to ${deed.to}`,
  /** How a call ended, in a word or two. */
  outcome: {
    ok: 'Done',
    noop: 'Nothing to do',
    partial: 'Partly done',
    needs_input: 'Waiting for input',
    canceled: 'Canceled',
    invalid: 'Invalid arguments',
    denied: 'Not allowed',
    not_found: 'Not found',
    timeout: 'Timed out',
    error: 'Failed',
  } as Record<string, string>,
  tools: {
    edit: { to: 'edit', doing: 'Editing', done: 'Edited' },
    execute: { to: 'run', doing: 'Running', done: 'Ran' },
    read: { to: 'read', doing: 'Reading', done: 'Read' },
    delete: { to: 'delete', doing: 'Deleting', done: 'Deleted' },
    move: { to: 'move', doing: 'Moving', done: 'Moved' },
    search: { to: 'search', doing: 'Searching', done: 'Searched' },
    fetch: { to: 'open', doing: 'Opening', done: 'Opened' },
    think: { to: 'think', doing: 'Thinking', done: 'Thought' },
    plan: { to: 'plan', doing: 'Plan', done: 'Plan' },
    list_directory: { to: 'list', doing: 'Listing', done: 'Listed' },
    read_file: { to: 'read', doing: 'Reading', done: 'Read' },
    read_file_range: { to: 'read', doing: 'Reading', done: 'Read' },
    search_text: { to: 'search', doing: 'Searching', done: 'Searched' },
    write_file: { to: 'write', doing: 'Writing', done: 'Wrote' },
    edit_file: { to: 'edit', doing: 'Editing', done: 'Edited' },
    apply_patch: { to: 'change files', doing: 'Changing files', done: 'Changed files' },
    delete_path: { to: 'delete', doing: 'Deleting', done: 'Deleted' },
    move_path: { to: 'move', doing: 'Moving', done: 'Moved' },
    copy_path: { to: 'copy', doing: 'Copying', done: 'Copied' },
    lsp_hover: { to: 'look up', doing: 'Looking up', done: 'Looked up' },
    lsp_definition: { to: 'find the definition', doing: 'Finding the definition', done: 'Found the definition' },
    lsp_references: { to: 'find references', doing: 'Finding references', done: 'Found references' },
    lsp_document_symbols: { to: 'list symbols', doing: 'Listing symbols', done: 'Listed symbols' },
    lsp_workspace_symbols: { to: 'find symbols', doing: 'Finding symbols', done: 'Found symbols' },
    lsp_call_hierarchy: { to: 'trace calls', doing: 'Tracing calls', done: 'Traced calls' },
    lsp_get_diagnostics: { to: 'check for problems', doing: 'Checking for problems', done: 'Checked for problems' },
    lsp_rename: { to: 'rename', doing: 'Renaming', done: 'Renamed' },
    lsp_format_document: { to: 'format', doing: 'Formatting', done: 'Formatted' },
    lsp_code_actions: { to: 'use a code action', doing: 'Code actions', done: 'Code actions' },
    run_shell_command: { to: 'run', doing: 'Running', done: 'Ran' },
    add_task: { to: 'add tasks', doing: 'Adding tasks', done: 'Added tasks' },
    list_tasks: { to: 'list tasks', doing: 'Listing tasks', done: 'Listed tasks' },
    update_task: { to: 'update a task', doing: 'Updating a task', done: 'Updated a task' },
    complete_task: { to: 'complete a task', doing: 'Completing a task', done: 'Completed a task' },
    get_current_time: { to: 'check the time', doing: 'Checking the time', done: 'Checked the time' },
    run_sub_agent: { to: 'start a subagent', doing: 'Subagent', done: 'Subagent' },
    prompt_key_values: { to: 'ask you', doing: 'Asking you', done: 'Asked you' },
    prompt_choices: { to: 'ask you', doing: 'Asking you', done: 'Asked you' },
  } as Record<string, Deed>,
  /** After an undo, by what happened to the file. */
  undone: {
    removed: (name: string) => `Undone: ${name} removed`,
    restored: (name: string) => `Undone: ${name} restored`,
    recreated: (name: string) => `Undone: ${name} recreated`,
    moved_back: (name: string) => `Undone: ${name} moved back`,
    several: (parts: string) => `Undone: ${parts}`,
    counts: {
      removed: (n: number) => `${n} ${n === 1 ? 'file' : 'files'} removed`,
      restored: (n: number) => `${n} ${n === 1 ? 'file' : 'files'} restored`,
      recreated: (n: number) => `${n} ${n === 1 ? 'file' : 'files'} recreated`,
      moved_back: (n: number) => `${n} ${n === 1 ? 'file' : 'files'} moved back`,
    },
  },
  /** Why a run ended. */
  ends: {
    end: 'Reply complete',
    length: 'The reply reached its maximum length',
    content_filter: 'The provider’s filter blocked the reply',
    max_passes: 'Reached the limit of model calls',
    max_tool_calls: 'Reached the limit of tool calls',
    max_minutes: 'Reached the time limit',
    repeating: 'The same call kept failing',
    budget: 'Reached the budget',
    compacted: 'Only compacted the context',
    aborted: 'Stopped by you',
    error: 'Error',
  } as Record<string, string>,
  run: 'View run',
  /** The server and tool a question came through. */
  through: 'Asked via',
};
