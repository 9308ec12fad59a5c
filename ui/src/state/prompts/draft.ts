// What the person has put in so far: how it starts, how a saved one is taken up again, what of it is
// saved (never a secret), what it is sent as, and what is still wrong with it. No DOM, no calls.

import type { FieldError } from '../../protocol';
import type { WireObject } from '../../protocol';
import { type PromptItem, type Task, readTasks } from './item';
import { type Issue, checkText, controlOf, initialText, isEmpty } from './schema';

/** A task being edited. A deleted one keeps its place until the answer is sent, so it can come back. */
export interface DraftTask extends Task {
  added: boolean;
  deleted: boolean;
}

export interface Draft {
  values: Record<string, string>;
  selection: string[];
  tasks: DraftTask[];
  remark: string;
}

/** Limits of ui-prompts §5–6. */
export const MAX_TASKS = 200;
const MAX_REMARK_BYTES = 16 * 1024;

export function initialDraft(item: PromptItem): Draft {
  const draft: Draft = { values: {}, selection: [], tasks: [], remark: '' };
  const { body } = item;
  switch (body.kind) {
    case 'kv':
      for (const field of body.fields) draft.values[field.key] = initialText(field, controlOf(field, body.schema));
      break;
    case 'choice':
      draft.selection = [...body.default];
      break;
    case 'task_confirm':
      draft.tasks = body.tasks.map((task) => ({ ...task, tags: [...task.tags], added: false, deleted: false }));
      draft.remark = body.defaultRemark;
      break;
    case 'file_change_confirm':
      draft.remark = body.defaultRemark;
      break;
    default:
      break;
  }
  return draft;
}

/** Takes up a saved draft as far as it still fits the question. */
export function mergeDraft(item: PromptItem, saved: WireObject | null): Draft {
  const draft = initialDraft(item);
  if (!saved) return draft;
  const { body } = item;
  if (typeof saved['remark'] === 'string') draft.remark = saved['remark'];
  if (body.kind === 'kv') {
    const values = (saved['values'] ?? {}) as WireObject;
    for (const field of body.fields) {
      const value = values[field.key];
      if (!field.secret && typeof value === 'string') draft.values[field.key] = value;
    }
  }
  if (body.kind === 'choice' && Array.isArray(saved['selection'])) {
    const wanted = saved['selection'] as unknown[];
    draft.selection = body.options.map((option) => option.value).filter((value) => wanted.includes(value)).slice(0, body.max);
  }
  if (body.kind === 'task_confirm' && Array.isArray(saved['tasks'])) {
    draft.tasks = mergeTasks(draft.tasks, readDraftTasks(saved['tasks']), saved['shown'] === item.shown);
  }
  return draft;
}

/** Edits of the same proposal are taken as they are. When the proposal has changed, the edited tasks
    keep their edits, tasks the person added stay, and the rest is as proposed now. */
function mergeTasks(proposed: DraftTask[], edited: DraftTask[], sameProposal: boolean): DraftTask[] {
  if (sameProposal) {
    // A task the saved draft does not know of would be lost without a word.
    const known = new Set(edited.map((task) => task.draftId));
    return [...edited, ...proposed.filter((task) => !known.has(task.draftId))];
  }
  const byId = new Map(edited.map((task) => [task.draftId, task]));
  const kept = proposed.map((task) => byId.get(task.draftId) ?? task);
  return [...kept, ...edited.filter((task) => task.added)];
}

function readDraftTasks(saved: unknown[]): DraftTask[] {
  return readTasks(saved).map((task) => {
    const { added, deleted, ...extra } = task.extra;
    return { ...task, extra, added: added === true, deleted: deleted === true };
  });
}

/** The form in which a draft is saved. Values of secret fields are left out (ui-prompts §13). */
export function storedDraft(item: PromptItem, draft: Draft): WireObject {
  const { body } = item;
  const stored: WireObject = { shown: item.shown };
  if (draft.remark !== '') stored['remark'] = draft.remark;
  if (body.kind === 'kv') {
    const open = body.fields.filter((field) => !field.secret);
    stored['values'] = Object.fromEntries(open.map((field) => [field.key, draft.values[field.key] ?? '']));
  }
  if (body.kind === 'choice') stored['selection'] = draft.selection;
  if (body.kind === 'task_confirm') {
    stored['tasks'] = draft.tasks.map((task) => ({ ...taskForWire(task), added: task.added, deleted: task.deleted }));
  }
  return stored;
}

/** True while nothing differs from how the question was asked. */
export function isPristine(item: PromptItem, draft: Draft): boolean {
  return JSON.stringify(storedDraft(item, draft)) === JSON.stringify(storedDraft(item, initialDraft(item)));
}

function taskForWire(task: Task): WireObject {
  const { draftId, title, details, priority, status, tags, extra } = task;
  return { ...extra, draftId, title, details, priority, status, tags };
}

export function keptTasks(draft: Draft): DraftTask[] {
  return draft.tasks.filter((task) => !task.deleted);
}

/** The answer `ok`, as the kind wants it (seed 004 §5–8). */
export function okResponse(item: PromptItem, draft: Draft, secrets: Record<string, string>): WireObject {
  const { body } = item;
  const response: WireObject = { status: 'ok' };
  if (body.kind === 'kv') {
    response['values'] = Object.fromEntries(
      body.fields.map((field) => {
        const control = controlOf(field, body.schema);
        const text = (field.secret ? secrets[field.key] : draft.values[field.key]) ?? '';
        // An empty list is an empty answer, not the text "[]".
        return [field.key, control.type === 'multi' && isEmpty(control, text) ? '' : text];
      }),
    );
  }
  if (body.kind === 'choice') {
    const chosen = body.options.map((option) => option.value).filter((value) => draft.selection.includes(value));
    response['selection'] = body.multiple ? chosen : (chosen[0] ?? '');
  }
  if (body.kind === 'task_confirm') response['tasks'] = keptTasks(draft).map(taskForWire);
  return withRemark(item, draft, response);
}

export function cancelResponse(item: PromptItem, draft: Draft, declined: boolean): WireObject {
  const response: WireObject = declined ? { status: 'canceled', declined: true } : { status: 'canceled' };
  return withRemark(item, draft, response);
}

/** The person may say something beside the answer: to whatever decides an effect, opening a page aside. */
export function takesRemark({ body, effect }: PromptItem): boolean {
  if (body.kind === 'choice') return effect && body.url === null;
  return body.kind === 'task_confirm' || body.kind === 'file_change_confirm';
}

function withRemark(item: PromptItem, draft: Draft, response: WireObject): WireObject {
  if (takesRemark(item) && draft.remark.trim() !== '') response['remark'] = draft.remark;
  return response;
}

/** Everything that would make the host refuse the answer, in the order of the form. */
export function checkDraft(item: PromptItem, draft: Draft, secrets: Record<string, string>): Issue[] {
  const issues: Issue[] = [];
  const { body } = item;
  if (body.kind === 'kv') {
    for (const field of body.fields) {
      const control = controlOf(field, body.schema);
      const text = (field.secret ? secrets[field.key] : draft.values[field.key]) ?? '';
      // A blank required field takes its default first (ui-prompts §6).
      if (field.required && isEmpty(control, text) && field.default.trim() !== '') continue;
      const wrong = checkText(control, text, field.required);
      if (wrong) issues.push({ path: valuePath(field.key), ...wrong });
    }
  }
  if (body.kind === 'choice') {
    const count = draft.selection.length;
    if (!body.multiple && count === 0) issues.push({ path: SELECTION, code: 'selection_required', args: [] });
    if (body.multiple && count < body.min) issues.push({ path: SELECTION, code: 'too_few', args: [body.min, count] });
    if (body.multiple && count > body.max) issues.push({ path: SELECTION, code: 'too_many', args: [body.max, count] });
  }
  if (body.kind === 'task_confirm') {
    const kept = keptTasks(draft);
    for (const task of kept) {
      if (task.title.trim() === '') issues.push({ path: taskPath(task.draftId), code: 'task_title_required', args: [] });
    }
    if (kept.length > MAX_TASKS) issues.push({ path: TASKS, code: 'tasks_type', args: [MAX_TASKS] });
  }
  if (new TextEncoder().encode(draft.remark).length > MAX_REMARK_BYTES) issues.push({ path: REMARK, code: 'remark_type', args: [] });
  return issues;
}

export const SELECTION = '/response/selection';
export const TASKS = '/response/tasks';
export const REMARK = '/response/remark';

export function valuePath(key: string): string {
  return `/response/values/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Tasks move, so their issues are kept by draft id and not by index. */
export function taskPath(draftId: string): string {
  return `${TASKS}/#${draftId}`;
}

/** The host's refusals at the places of this form. `sent` is the list the indexes refer to. */
export function hostIssues(errors: FieldError[], sent: DraftTask[]): Issue[] {
  return errors.map(({ path, code, message }) => {
    const index = /^\/response\/tasks\/(\d+)/.exec(path)?.[1];
    const task = index === undefined ? undefined : sent[Number(index)];
    const place = task ? taskPath(task.draftId) : path.startsWith(`${SELECTION}/`) ? SELECTION : path;
    return { path: place, code, args: [], message };
  });
}

/** Issues that no control of the form can show beside itself. */
export function looseIssues(item: PromptItem, draft: Draft, issues: Issue[]): Issue[] {
  const places = new Set<string>();
  const { body } = item;
  if (body.kind === 'kv') body.fields.forEach((field) => places.add(valuePath(field.key)));
  if (body.kind === 'choice') places.add(SELECTION);
  if (body.kind === 'task_confirm') draft.tasks.forEach((task) => places.add(taskPath(task.draftId)));
  if (body.kind === 'task_confirm' || body.kind === 'file_change_confirm') places.add(REMARK);
  return issues.filter((issue) => !places.has(issue.path));
}
