// What a board is: tasks of the task server, arranged by a view. Pure; runs in the page, the backend and the server.

export const STATUSES = ['todo', 'doing', 'blocked', 'done'];
export const PRIORITIES = ['high', 'medium', 'low'];
export const GROUPINGS = ['status', 'priority', 'tag'];
export const SORTS = ['updated', 'created', 'priority', 'title'];

/** The column of tasks that have no tag. */
export const NO_TAG = '';

/** Always there, cannot be deleted. */
export const DEFAULT_VIEW = Object.freeze({
  id: 'all',
  name: 'All tasks',
  groupBy: 'status',
  sort: 'updated',
  filter: Object.freeze({}),
  wip: Object.freeze({ doing: 3 }),
});

/**
 * Tasks in columns. A column over its limit is marked, never cut: a board that hides work is wrong.
 * @returns {{columns: Array<{key: string, tasks: object[], limit: number|null, over: boolean}>, shown: number, hidden: number}}
 */
export function arrange(view, tasks) {
  const wanted = tasks.filter((task) => matches(view.filter ?? {}, task));
  wanted.sort(order(view.sort ?? 'updated'));
  const keys = columnKeys(view.groupBy ?? 'status', wanted);
  const columns = keys.map((key) => {
    const inColumn = wanted.filter((task) => columnsOf(view.groupBy ?? 'status', task).includes(key));
    const limit = view.wip?.[key] ?? null;
    return { key, tasks: inColumn, limit, over: limit !== null && inColumn.length > limit };
  });
  return { columns, shown: wanted.length, hidden: tasks.length - wanted.length };
}

/** The board as Markdown, for a model or a report. */
export function toMarkdown(view, board) {
  const parts = [`# ${view.name}`];
  for (const column of board.columns) {
    const limit = column.limit === null ? '' : ` / ${column.limit}${column.over ? ' (over the limit)' : ''}`;
    parts.push(`## ${column.key === NO_TAG ? 'no tag' : column.key}: ${column.tasks.length}${limit}`);
    parts.push(column.tasks.length === 0 ? '–' : column.tasks.map(row).join('\n'));
  }
  if (board.hidden > 0) parts.push(`${board.hidden} task(s) do not match this view.`);
  return parts.join('\n\n');
}

function row(task) {
  const tags = (task.tags ?? []).map((tag) => ` #${tag}`).join('');
  return `- [${task.status ?? 'todo'}/${task.priority ?? 'medium'}] ${oneLine(task.title)} (id=${task.id})${tags}`;
}

function oneLine(text) {
  return String(text ?? '').replaceAll(/\s+/gu, ' ').trim();
}

function matches(filter, task) {
  const allowed = (list, value) => !list || list.length === 0 || list.includes(value);
  if (!allowed(filter.status, task.status ?? 'todo')) return false;
  if (!allowed(filter.priority, task.priority ?? 'medium')) return false;
  if (filter.tags?.length > 0 && !filter.tags.some((tag) => (task.tags ?? []).includes(tag))) return false;
  const text = (filter.text ?? '').trim().toLowerCase();
  return text === '' || `${task.title}\n${task.details ?? ''}`.toLowerCase().includes(text);
}

function order(sort) {
  const newest = (key) => (a, b) => String(b[key] ?? '').localeCompare(String(a[key] ?? '')) || byId(a, b);
  if (sort === 'created') return newest('createdAt');
  if (sort === 'title') return (a, b) => String(a.title).localeCompare(String(b.title)) || byId(a, b);
  if (sort === 'priority') {
    const rank = (task) => PRIORITIES.indexOf(task.priority ?? 'medium');
    return (a, b) => rank(a) - rank(b) || newest('updatedAt')(a, b);
  }
  return newest('updatedAt');
}

function byId(a, b) {
  return String(a.id).localeCompare(String(b.id));
}

function columnKeys(groupBy, tasks) {
  if (groupBy === 'status') return STATUSES;
  if (groupBy === 'priority') return PRIORITIES;
  const tags = [...new Set(tasks.flatMap((task) => task.tags ?? []))].sort((a, b) => a.localeCompare(b));
  return tasks.some((task) => (task.tags ?? []).length === 0) ? [...tags, NO_TAG] : tags;
}

function columnsOf(groupBy, task) {
  if (groupBy === 'status') return [task.status ?? 'todo'];
  if (groupBy === 'priority') return [task.priority ?? 'medium'];
  return (task.tags ?? []).length > 0 ? task.tags : [NO_TAG];
}
