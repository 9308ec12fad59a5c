// The board's own data: views and pins, one small JSON file. The tasks themselves stay with the task server.

import { join } from 'node:path';
import { randomBytes } from 'node:crypto';

import { DEFAULT_VIEW, GROUPINGS, PRIORITIES, SORTS, STATUSES } from './board.mjs';
import { ensureDir, readText, withLock, writeAtomic } from './files.mjs';
import { ToolError } from './mcp.mjs';
import { check } from './schema.mjs';

const FILE = 'board.json';
const MAX_BYTES = 1024 * 1024;
const MAX_VIEWS = 50;
const MAX_PINS = 100;

const words = (values) => ({ type: 'array', maxItems: 20, items: { type: 'string', enum: values } });

/** What a person or a model may save as a view; also the input schema of the tool. */
export const VIEW_PROPERTIES = {
  id: { type: 'string', pattern: '^[a-z0-9][a-z0-9-]{0,39}$', description: 'Leave it out to make a new view.' },
  name: { type: 'string', minLength: 1, maxLength: 80, description: 'What the person sees.' },
  groupBy: { type: 'string', enum: GROUPINGS, description: 'What the columns are (default status).' },
  sort: { type: 'string', enum: SORTS, description: 'Order inside a column (default updated, newest first).' },
  filter: {
    type: 'object',
    additionalProperties: false,
    description: 'Which tasks are shown; an absent part does not restrict.',
    properties: {
      status: words(STATUSES),
      priority: words(PRIORITIES),
      tags: { type: 'array', maxItems: 20, items: { type: 'string', minLength: 1, maxLength: 64 } },
      text: { type: 'string', maxLength: 200 },
    },
  },
  wip: {
    type: 'object',
    description: 'Column → the most tasks it should hold, for example {"doing": 3}.',
  },
};

export class BoardStore {
  constructor(root) {
    this.root = root;
  }

  async read() {
    const file = await readText(join(this.root, FILE), MAX_BYTES);
    const { views, pins } = file ? parse(file.text) : { views: [], pins: [] };
    return { views: [DEFAULT_VIEW, ...views], pins };
  }

  async view(id = DEFAULT_VIEW.id) {
    const { views } = await this.read();
    const found = views.find((view) => view.id === id);
    if (!found) throw new ToolError('not_found', `there is no view "${id}"; known: ${views.map((v) => v.id).join(', ')}`);
    return found;
  }

  async saveView(input) {
    const view = checkView(input);
    return this.#change((state) => {
      const id = view.id ?? freeId(view.name, state.views);
      if (id === DEFAULT_VIEW.id) throw new ToolError('invalid_argument', `the view "${id}" cannot be changed; save another one`);
      const saved = { groupBy: 'status', sort: 'updated', filter: {}, wip: {}, ...view, id };
      const at = state.views.findIndex((other) => other.id === id);
      if (at < 0 && state.views.length >= MAX_VIEWS) {
        throw new ToolError('resource_exhausted', `there are ${MAX_VIEWS} views already; delete one first`);
      }
      if (at < 0) state.views.push(saved);
      else state.views[at] = saved;
      return { view: saved, created: at < 0 };
    });
  }

  async deleteView(id) {
    return this.#change((state) => {
      const at = state.views.findIndex((view) => view.id === id);
      if (at < 0) throw new ToolError('not_found', `there is no view "${id}" that could be deleted`);
      return { deleted: state.views.splice(at, 1)[0] };
    });
  }

  /** Keeps a task in sight, with a word on why. Pinning it again changes the word. */
  async pin(taskId, note = '') {
    return this.#change((state) => {
      const pin = { taskId, note, at: new Date().toISOString() };
      const known = state.pins.findIndex((other) => other.taskId === taskId);
      if (known >= 0) state.pins[known] = pin;
      else if (state.pins.length >= MAX_PINS) {
        throw new ToolError('resource_exhausted', `there are ${MAX_PINS} pins already; remove one first`);
      } else state.pins.push(pin);
      return { pin, pins: state.pins };
    });
  }

  async unpin(taskId) {
    return this.#change((state) => {
      const before = state.pins.length;
      state.pins = state.pins.filter((pin) => pin.taskId !== taskId);
      return { removed: state.pins.length < before, pins: state.pins };
    });
  }

  async #change(work) {
    await ensureDir(this.root);
    return withLock(this.root, async () => {
      const file = await readText(join(this.root, FILE), MAX_BYTES);
      const before = file?.text ?? '';
      const state = file ? parse(before) : { views: [], pins: [] };
      const result = work(state);
      const after = `${JSON.stringify({ version: 1, ...state }, null, 2)}\n`;
      if (after !== before) await writeAtomic(this.root, FILE, after);
      return result;
    });
  }
}

/** A file somebody broke is reported, never overwritten. */
function parse(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ToolError('unavailable', `${FILE} is not valid JSON (${error.message}); repair or remove it`);
  }
  if (value?.version !== 1 || !Array.isArray(value.views) || !Array.isArray(value.pins)) {
    throw new ToolError('unavailable', `${FILE} was written by another version; it is left as it is`);
  }
  return { views: value.views, pins: value.pins };
}

function checkView(input) {
  const issues = check(
    { type: 'object', additionalProperties: false, required: ['name'], properties: VIEW_PROPERTIES },
    input,
  );
  for (const [column, limit] of Object.entries(input?.wip ?? {})) {
    if (!Number.isSafeInteger(limit) || limit < 1 || limit > 999) {
      issues.push({ path: `/wip/${column}`, message: 'must be a whole number from 1 to 999' });
    }
  }
  if (issues.length > 0) throw new ToolError('invalid_argument', `${issues[0].path}: ${issues[0].message}`, { issues });
  return input;
}

function freeId(name, views) {
  const base = name.toLowerCase().replaceAll(/[^a-z0-9]+/gu, '-').replaceAll(/^-|-$/gu, '').slice(0, 30);
  if (base && base !== DEFAULT_VIEW.id && !views.some((view) => view.id === base)) return base;
  return `${base || 'view'}-${randomBytes(3).toString('hex')}`;
}
