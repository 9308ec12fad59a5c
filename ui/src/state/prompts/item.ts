// One prompt as the page uses it. This is the only file that reads the host's prompt objects. What may be in one is
// generated (`PromptForm`, `ResponseForm`); what another program wrote may still be anything, so a part of the wrong
// type counts as absent.

import type { FieldError } from '../../protocol';
import type { WireObject } from '../../protocol';
import type { AnswerStatus, ChoiceForm, EditedCall, FormChain, KvFormField, PromptAnswered, PromptForm, PromptLine, PromptView, ResponseForm, ResultForm as ResultPrompt, TaskDraft } from '../../protocol/wire';
import { i18n } from '../../i18n/index.svelte';
import { type Card, readCard } from './card';
import { type Schema, readSchema } from './schema';

export type Kind = PromptForm['kind'];
export const KINDS = ['kv', 'choice', 'task_confirm', 'file_change_confirm', 'result'] as const satisfies Kind[];

export interface KvField {
  key: string;
  label: string;
  description: string;
  placeholder: string;
  default: string;
  required: boolean;
  multiline: boolean;
  secret: boolean;
}

export interface Option {
  value: string;
  label: string;
  description: string;
}

export const PRIORITIES = ['high', 'medium', 'low'] as const satisfies TaskDraft['priority'][];
export const STATUSES = ['todo', 'doing', 'blocked', 'done'] as const satisfies TaskDraft['status'][];

export interface Task {
  draftId: string;
  title: string;
  details: string;
  priority: TaskDraft['priority'];
  status: TaskDraft['status'];
  tags: string[];
  /** Keys we do not know; they go back as they came. */
  extra: WireObject;
}

export type ResultForm = 'markdown' | 'text' | 'json' | 'empty';

export type Body =
  | { kind: 'kv'; fields: KvField[]; schema: Schema | null }
  | { kind: 'choice'; options: Option[]; multiple: boolean; min: number; max: number; default: string[]; url: string | null }
  | { kind: 'task_confirm'; tasks: Task[]; defaultRemark: string }
  | { kind: 'file_change_confirm'; path: string; command: string; cwd: string; diff: string | null; defaultRemark: string }
  | { kind: 'result'; form: ResultForm; text: string; mimeType: string | null }
  /** Not drawn: unknown kind, a problem card, metadata only, or still to be read whole. */
  | { kind: 'none' };

export type { AnswerStatus };

export interface Answer {
  status: AnswerStatus;
  at: number;
  by: string | null;
  verified: boolean;
  auto: boolean;
  declined: boolean;
  /** The run that asked was to end with it. */
  stopped: boolean;
  code: string | null;
  message: string | null;
  remark: string | null;
  /** What the person wrote instead of what was asked. */
  edited: string | null;
  values: Record<string, string> | null;
  selection: string[] | null;
  tasks: Task[] | null;
  /** In minimal log mode: how many values, selections or tasks there were. */
  count: number | null;
  hasRemark: boolean;
}

/** A file whose content no page can show. */
export interface HiddenFile {
  path: string;
  type: string;
  bytes: number;
  before: string | null;
  after: string | null;
}

/** Another program that asks: a coding agent, an editor. */
export interface PromptClient {
  id: string | null;
  name: string;
  /** Tells apart programs of one name in one project, from 1. */
  number: number;
  version: string | null;
  project: string | null;
  root: string | null;
  label: string | null;
}

export interface PromptItem {
  id: string;
  kind: Kind | null;
  /** As written, also when this page does not know it. */
  kindText: string;
  title: string | null;
  message: string;
  source: string | null;
  /** Asked through the host, which vouches for the owner. */
  served: boolean;
  owner: string | null;
  runId: string | null;
  /** The chat it belongs to. */
  sessionId: string | null;
  /** The other program that asks, as it names itself, and where it works. */
  client: PromptClient | null;
  at: number;
  position: number | null;
  expiresAt: number | null;
  /** Put off until then. */
  snoozedUntil: number | null;
  state: 'pending' | 'closed' | 'lost';
  needsYou: boolean;
  body: Body;
  partial: boolean;
  metadataOnly: boolean;
  allowCancel: boolean;
  canDecline: boolean;
  shown: string | null;
  /** The answer decides an effect: it must carry `shown`, and its button waits a moment. */
  effect: boolean;
  /** Which effect, by the host's word. */
  effectName: string | null;
  /** What the host itself knows of it; nothing for a line another program wrote. */
  card: Card | null;
  plainSecrets: boolean;
  chain: { id: string; step: number; of: number | null } | null;
  /** The text it is about is longer than what the question holds: how many lines there are and are shown. */
  cut: { lines: number; shown: number } | null;
  hidden: HiddenFile[];
  /** What a tool would be called with, as far as it is shown. */
  arguments: WireObject | null;
  answer: Answer | null;
  problem: FieldError | null;
  raw: string | null;
  warnings: FieldError[];
  ignored: number;
  forged: number;
  ignoredLines: PromptLine[];
  forgedLines: PromptLine[];
}

/** Reads an item; null when it is none (no id), which only a broken host would send. */
export function readItem(wire: PromptView | null | undefined): PromptItem | null {
  if (typeof wire?.requestId !== 'string' || wire.requestId === '') return null;
  const prompt = wire.class === 'served' ? worded(asForm(wire.prompt)) : asForm(wire.prompt);
  const kindText = text(wire.kind);
  const kind = KINDS.find((known) => known === kindText) ?? null;
  const partial = wire.partial === true;
  const metadataOnly = wire.metadataOnly === true;
  const drawn = kind !== null && !partial && !metadataOnly && !wire.problem;
  const ignoredLines = lines(wire.ignoredLines);
  const forgedLines = lines(wire.foreignLines);
  return {
    id: wire.requestId,
    kind,
    kindText,
    title: notBlank(prompt.title) ?? notBlank(wire.title),
    message: text(prompt.message),
    source: notBlank(wire.source) ?? notBlank(prompt.source),
    served: wire.class === 'served',
    owner: notBlank(wire.owner),
    runId: notBlank(wire.runId),
    sessionId: notBlank(wire.sessionId),
    client: readClient(wire.client),
    at: time(wire.ts) ?? Date.now(),
    position: number(wire.positions?.request),
    expiresAt: time(wire.expiresAt),
    snoozedUntil: time(wire.snoozedUntil),
    state: wire.state === 'closed' || wire.state === 'lost' ? wire.state : 'pending',
    needsYou: wire.state === 'pending' && kind !== 'result',
    body: drawn ? readBody(prompt) : { kind: 'none' },
    partial,
    metadataOnly,
    allowCancel: prompt.allowCancel !== false,
    canDecline: wire.canDecline === true,
    shown: notBlank(wire.shown),
    effect: wire.shownRequired === true || notBlank(wire.effect) !== null || kind === 'task_confirm' || kind === 'file_change_confirm',
    effectName: notBlank(wire.effect),
    card: wire.class === 'served' ? readCard(wire.card) : null,
    plainSecrets: wire.plainSecrets === true,
    chain: readChain(prompt.chain),
    ...readReference(prompt.diffRef),
    arguments: wire.class === 'served' && wire.effect === 'tool_approval' && isObject(prompt.arguments) ? prompt.arguments : null,
    answer: wire.answer ? readAnswer(wire.answer) : null,
    problem: wire.problem ?? null,
    raw: notBlank(wire.raw),
    warnings: Array.isArray(wire.warnings) ? wire.warnings : [],
    ignored: number(wire.ignoredResponses) ?? ignoredLines.length,
    forged: number(wire.foreignResponses) ?? forgedLines.length,
    ignoredLines,
    forgedLines,
  };
}

/** As it is drawn; of a summary the parts that it has. Whether the rest is there, `kind`, `partial` and `problem` say. */
function asForm(prompt: unknown): PromptForm {
  return object(prompt) as unknown as PromptForm;
}

/** The words of the page's language, where the asker gave them in both: an event has them in the host's. */
function worded(prompt: PromptForm): PromptForm {
  const words = object(object(prompt.words)[i18n.language]);
  const labels = object(words['options']);
  const said = { ...prompt };
  for (const key of ['title', 'message'] as const) {
    const word = words[key];
    if (typeof word === 'string') said[key] = word;
  }
  if (said.kind === 'choice' && Object.keys(labels).length > 0) {
    said.options = list(said.options).flatMap((option) => {
      if (!isObject(option)) return [];
      const label = labels[text(option.value)];
      return [typeof label === 'string' ? { ...option, label } : option];
    });
  }
  return said;
}

/** What programs call themselves in the protocol, and what people call them. */
const PEOPLE_SAY = new Map([['claude-code', 'Claude Code'], ['codex-mcp-client', 'codex'], ['gemini-cli-mcp-client', 'Gemini CLI']]);

/** A program by the name it gives itself, with a number where another one in the same project has that name, too. */
export function programName({ name, number }: { name: string; number: number }): string {
  const known = PEOPLE_SAY.get(name) ?? name;
  return number > 1 ? `${known} ${number}` : known;
}

function readClient(value: unknown): PromptClient | null {
  const client = object(value);
  const name = notBlank(client['name']);
  if (name === null) return null;
  const part = (key: string) => notBlank(client[key]);
  return { id: part('id'), name, number: number(client['number']) ?? 1, version: part('version'), project: part('project'), root: part('root'), label: part('label') };
}

function readReference(value: unknown): Pick<PromptItem, 'cut' | 'hidden'> {
  const reference = object(value);
  const lines = number(reference['lines']) ?? 0;
  const shown = number(reference['shownLines']) ?? lines;
  const hidden = list(reference['hidden']).map((entry) => {
    const file = object(entry);
    const digest = (key: string) => notBlank(file[key]);
    return { path: text(file['path']), type: text(file['type']), bytes: number(file['bytes']) ?? 0, before: digest('before'), after: digest('after') };
  });
  return { cut: shown < lines ? { lines, shown } : null, hidden };
}

function readBody(prompt: PromptForm): Body {
  switch (prompt.kind) {
    case 'kv':
      return { kind: prompt.kind, fields: readFields(prompt.fields), schema: readSchema(prompt.requestedSchema) };
    case 'choice':
      return readChoice(prompt);
    case 'task_confirm':
      return { kind: prompt.kind, tasks: readTasks(prompt.tasks), defaultRemark: text(prompt.defaultRemark) };
    case 'file_change_confirm':
      return {
        kind: prompt.kind,
        path: text(prompt.path),
        command: text(prompt.command),
        cwd: text(prompt.cwd),
        diff: typeof prompt.diff === 'string' ? prompt.diff : null,
        defaultRemark: text(prompt.defaultRemark),
      };
    case 'result':
      return { kind: prompt.kind, ...resultText(prompt), mimeType: notBlank(prompt.mimeType) };
  }
}

function readFields(value: readonly KvFormField[]): KvField[] {
  const fields = list(value).map(readField);
  return fields.filter((field, index) => field.key !== '' && fields.findIndex((other) => other.key === field.key) === index);
}

function readField(field: KvFormField | null): KvField {
  const key = text(field?.key).trim();
  return {
    key,
    label: notBlank(field?.label) ?? key,
    description: text(field?.description),
    placeholder: text(field?.placeholder),
    // A secret's default is never shown (ui-prompts §5).
    default: field?.secret === true ? '' : text(field?.default),
    required: field?.required === true,
    multiline: field?.multiline === true,
    secret: field?.secret === true,
  };
}

function readChoice(prompt: ChoiceForm): Body {
  const options = list(prompt.options)
    .map((option): Option => {
      const id = text(option?.value).trim();
      return { value: id, label: notBlank(option?.label) ?? id, description: text(option?.description) };
    })
    .filter((option, index, all) => option.value !== '' && all.findIndex((other) => other.value === option.value) === index);
  const multiple = prompt.multiple === true;
  const bound = (given: unknown, low: number, absent: number) => Math.min(options.length, Math.max(low, number(given) ?? absent));
  const max = multiple ? bound(prompt.maxSelections, 1, options.length) : 1;
  const min = multiple ? Math.min(max, bound(prompt.minSelections, 0, 0)) : 1;
  const wanted: unknown[] = multiple ? (Array.isArray(prompt.default) ? prompt.default : []) : [prompt.default];
  const chosen = options.map((option) => option.value).filter((value) => wanted.includes(value));
  return { kind: 'choice', options, multiple, min, max, default: chosen.slice(0, max), url: notBlank(prompt.url) };
}

export function readTasks(value: unknown): Task[] {
  const used = new Set<string>();
  return (Array.isArray(value) ? value : []).map((entry, index) => {
    const { draftId, title, details, priority, status, tags, ...extra } = object(entry) as Partial<TaskDraft>;
    const given = notBlank(draftId);
    const id = given === null || used.has(given) ? `task-${index + 1}-${used.size}` : given;
    used.add(id);
    return {
      draftId: id,
      title: text(title),
      details: text(details),
      priority: PRIORITIES.find((known) => known === priority) ?? 'medium',
      status: STATUSES.find((known) => known === status) ?? 'todo',
      tags: list(tags).map((tag) => text(tag).trim()).filter((tag) => tag !== ''),
      extra,
    };
  });
}

/** The first non-blank string, else the first object or array as JSON (ui-prompts §5). */
function resultText(prompt: ResultPrompt): { form: ResultForm; text: string } {
  const sources = [prompt.markdown, prompt.result, prompt.content];
  const words = sources.find((value) => typeof value === 'string' && value.trim() !== '');
  if (typeof words === 'string') {
    const mime = text(prompt.mimeType).toLowerCase().split(';')[0]?.trim() ?? '';
    const plain = mime !== '' && !mime.includes('markdown');
    return { form: plain ? 'text' : 'markdown', text: words };
  }
  const data = sources.find((value) => typeof value === 'object' && value !== null);
  return data === undefined ? { form: 'empty', text: '' } : { form: 'json', text: JSON.stringify(data, null, 2) };
}

function readAnswer(wire: PromptAnswered): Answer {
  const response: Partial<ResponseForm> = object(wire.response);
  const { values, selection } = response;
  const counted = number(response.valueCount) ?? number(response.selectionCount) ?? number(response.taskCount);
  return {
    status: readStatus(wire.status),
    at: time(wire.ts) ?? Date.now(),
    by: notBlank(wire.by),
    verified: wire.verified === true,
    auto: wire.auto === true || response.auto === true,
    declined: response.declined === true,
    stopped: response.stop === true,
    code: notBlank(response.code),
    message: notBlank(response.message),
    remark: notBlank(response.remark),
    edited: editedText(response.edited),
    values: isObject(values) ? Object.fromEntries(Object.entries(values).map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)])) : null,
    selection: typeof selection === 'string' ? [selection] : Array.isArray(selection) ? selection.map((value) => text(value)) : null,
    tasks: Array.isArray(response.tasks) ? readTasks(response.tasks) : null,
    count: counted,
    hasRemark: response.hasRemark === true || notBlank(response.remark) !== null,
  };
}

function editedText(value: unknown): string | null {
  const edited: EditedCall = object(value);
  return notBlank(edited.command) ?? (isObject(edited.arguments) ? JSON.stringify(edited.arguments, null, 2) : null);
}

/** ui-prompts §4, status as read: whatever is not known is not a confirmation. */
export function readStatus(status: unknown): AnswerStatus {
  switch (text(status).trim()) {
    case 'ok':
      return 'ok';
    case 'timeout':
      return 'timeout';
    case 'canceled':
    case 'cancel':
    case 'cancelled':
    case 'dismissed':
    case 'rejected':
      return 'canceled';
    default:
      return 'error';
  }
}

function readChain(value: unknown): PromptItem['chain'] {
  const chain: Partial<FormChain> = object(value);
  const id = notBlank(chain.id);
  const step = number(chain.step);
  return id === null || step === null ? null : { id, step, of: number(chain.of) };
}

function lines(value: unknown): PromptLine[] {
  return list(value)
    .map(object)
    .map((line) => ({ offset: number(line['offset']) ?? 0, line: text(line['line']) }));
}

function isObject(value: unknown): value is WireObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function object(value: unknown): WireObject {
  return isObject(value) ? value : {};
}

/** What should be a list; an entry of it may still be anything. */
function list<T>(value: readonly T[] | null | undefined): (T | null)[];
function list(value: unknown): unknown[];
function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function notBlank(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

function number(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

function time(value: unknown): number | null {
  if (typeof value !== 'string') return null;
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? null : ms;
}
