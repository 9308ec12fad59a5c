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
  denied: (deed: Deed) => `Was not allowed to ${deed.to}`,
  canceled: (deed: Deed) => `Did not ${deed.to}`,
  failed: (deed: Deed) => `Failed to ${deed.to}`,
  /** Nothing was written down about how it ended. */
  unknown: (deed: Deed) => `Was about to ${deed.to}`,
  tools: {
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
    run_shell_command: { to: 'run', doing: 'Running', done: 'Ran' },
    add_task: { to: 'add tasks', doing: 'Adding tasks', done: 'Added tasks' },
    list_tasks: { to: 'look at tasks', doing: 'Looking at tasks', done: 'Looked at tasks' },
    update_task: { to: 'change a task', doing: 'Changing a task', done: 'Changed a task' },
    complete_task: { to: 'finish a task', doing: 'Finishing a task', done: 'Finished a task' },
    get_current_time: { to: 'look at the clock', doing: 'Looking at the clock', done: 'Looked at the clock' },
    run_sub_agent: { to: 'start a sub agent', doing: 'Sub agent', done: 'Sub agent' },
    prompt_key_values: { to: 'ask you', doing: 'Asks you', done: 'Asked you' },
    prompt_choices: { to: 'ask you', doing: 'Asks you', done: 'Asked you' },
  } as Record<string, Deed>,
  /** After an undo, by what happened to the file. */
  undone: {
    removed: (name: string) => `Undone: ${name} removed`,
    restored: (name: string) => `Undone: ${name} is as it was before`,
    recreated: (name: string) => `Undone: ${name} is back`,
    moved_back: (name: string) => `Undone: ${name} moved back`,
    several: (parts: string) => `Undone: ${parts}`,
    counts: {
      removed: (n: number) => `${n} ${n === 1 ? 'file' : 'files'} removed`,
      restored: (n: number) => `${n} ${n === 1 ? 'file' : 'files'} as before`,
      recreated: (n: number) => `${n} ${n === 1 ? 'file' : 'files'} back`,
      moved_back: (n: number) => `${n} ${n === 1 ? 'file' : 'files'} moved back`,
    },
  },
  /** Why a run ended. */
  ends: {
    end: 'The answer is complete',
    length: 'The answer reached the longest the model gives',
    content_filter: 'The provider held the answer back',
    max_passes: 'Limit of model calls for one run',
    max_tool_calls: 'Limit of tool calls for one run',
    max_minutes: 'Time limit for one run',
    repeating: 'The same call failed again and again',
    budget: 'The budget is spent',
    compacted: 'It only summarised the chat',
    aborted: 'You stopped it',
    error: 'An error',
  } as Record<string, string>,
  run: 'Open the run',
  /** The server and tool a question came through. */
  through: 'Asked through',
};
