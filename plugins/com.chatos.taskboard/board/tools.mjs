// The tools of the board server: views and pins are its own, tasks are handed to it by the caller.

import { isAbsolute, join } from 'node:path';

import { arrange, toMarkdown } from '../lib/board.mjs';
import { dataDirOf } from '../lib/files.mjs';
import { BoardStore, VIEW_PROPERTIES } from '../lib/store.mjs';

const TASK_ID = { type: 'string', minLength: 1, maxLength: 128, description: 'The id of the task, as list_tasks gives it.' };
const VIEW_ID = { type: 'string', minLength: 1, maxLength: 40, description: 'The id of the view.' };
const hints = (readOnly, destructive) => ({
  readOnlyHint: readOnly,
  destructiveHint: destructive,
  idempotentHint: true,
  openWorldHint: false,
});

/** @param {{rootFor?: (meta: object) => string}} options where the board of a call is stored. */
export function boardTools({ rootFor = defaultRoot } = {}) {
  const stores = new Map();
  const storeFor = (meta) => {
    const root = rootFor(meta);
    if (!stores.has(root)) stores.set(root, new BoardStore(root));
    return stores.get(root);
  };

  return [
    {
      name: 'board.views',
      title: 'List views',
      description: 'The saved views of the board and the pinned tasks. A view says how tasks are grouped, sorted and filtered.',
      inputSchema: { type: 'object', additionalProperties: false, properties: {} },
      annotations: { title: 'List views', ...hints(true, false) },
      async run(_args, { meta }) {
        const data = await storeFor(meta).read();
        const views = data.views.map((view) => `- ${view.name} (id: ${view.id}, by ${view.groupBy})`);
        const pins = data.pins.map((pin) => `- ${pin.taskId}${pin.note ? `: ${pin.note}` : ''}`);
        return { text: [`${views.length} views`, ...views, `${pins.length} pinned tasks`, ...pins].join('\n'), data };
      },
    },
    {
      name: 'board.arrange',
      title: 'Show tasks as a board',
      description:
        'Puts tasks you got from the task server (list_tasks) into the columns of a view, and says which columns hold ' +
        'more than their limit. It does not change any task.',
      inputSchema: {
        type: 'object',
        additionalProperties: false,
        required: ['tasks'],
        properties: {
          view: VIEW_ID,
          tasks: {
            type: 'array',
            maxItems: 500,
            description: 'The tasks as list_tasks returned them.',
            items: { type: 'object', required: ['id', 'title'], properties: { id: TASK_ID, title: { type: 'string' } } },
          },
        },
      },
      annotations: { title: 'Show tasks as a board', ...hints(true, false) },
      async run({ view: id, tasks }, { meta }) {
        const view = await storeFor(meta).view(id);
        const board = arrange(view, tasks);
        const columns = board.columns.map(({ key, tasks: inColumn, limit, over }) => ({
          key, count: inColumn.length, limit, over, taskIds: inColumn.map((task) => task.id),
        }));
        return { text: toMarkdown(view, board), data: { view: view.id, columns, shown: board.shown, hidden: board.hidden } };
      },
    },
    {
      name: 'board.save_view',
      title: 'Save a view',
      description: 'Makes a new view, or replaces the one with the given id. The view "all" is fixed.',
      inputSchema: { type: 'object', additionalProperties: false, required: ['name'], properties: VIEW_PROPERTIES },
      annotations: { title: 'Save a view', ...hints(false, false) },
      async run(args, { meta }) {
        const data = await storeFor(meta).saveView(args);
        return { text: `✓ ${data.created ? 'Made' : 'Changed'} view "${data.view.name}" (id: ${data.view.id})`, data };
      },
    },
    {
      name: 'board.delete_view',
      title: 'Delete a view',
      description: 'Removes a saved view. No task is touched.',
      inputSchema: { type: 'object', additionalProperties: false, required: ['id'], properties: { id: VIEW_ID } },
      annotations: { title: 'Delete a view', ...hints(false, true) },
      async run({ id }, { meta }) {
        const data = await storeFor(meta).deleteView(id);
        return { text: `✓ Deleted view "${data.deleted.name}"`, data };
      },
    },
    {
      name: 'board.pin',
      title: 'Pin a task',
      description: 'Keeps a task in the focus list of the person, with a short reason.',
      inputSchema: {
        type: 'object',
        additionalProperties: false,
        required: ['taskId'],
        properties: { taskId: TASK_ID, note: { type: 'string', maxLength: 200, description: 'Why it matters now.' } },
      },
      annotations: { title: 'Pin a task', ...hints(false, false) },
      async run({ taskId, note }, { meta }) {
        const data = await storeFor(meta).pin(taskId, note);
        return { text: `✓ Pinned ${taskId} (${data.pins.length} pinned)`, data };
      },
    },
    {
      name: 'board.unpin',
      title: 'Unpin a task',
      description: 'Takes a task off the focus list. The task itself stays as it is.',
      inputSchema: { type: 'object', additionalProperties: false, required: ['taskId'], properties: { taskId: TASK_ID } },
      annotations: { title: 'Unpin a task', ...hints(false, false) },
      async run({ taskId }, { meta }) {
        const data = await storeFor(meta).unpin(taskId);
        return { text: data.removed ? `✓ Unpinned ${taskId}` : `= ${taskId} was not pinned`, data };
      },
    },
  ];
}

/** The host says where, in callMeta or as the plugin's data folder. */
function defaultRoot(meta) {
  const root = meta.board?.root;
  return typeof root === 'string' && isAbsolute(root) ? root : join(dataDirOf(meta), 'board');
}
