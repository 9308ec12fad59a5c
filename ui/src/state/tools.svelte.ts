// Tools called by hand: which there are, and one run of each with its form, its result and what it waits
// for.

import { type ApiError, toApiError } from '../api/error';
import type { ToolsApi } from '../api/tools';
import type { EventFrame } from '../protocol';
import type { JsonObject, ToolIssue, ToolResult, ToolServer } from '../protocol/tools';
import { Resource } from './resource.svelte';
import { type ArgumentIssue, type Draft, emptyDraft, fromArguments, toArguments } from './tools/arguments';
import { envelopeOf } from './tools/envelope';
import { asObject, readFields, type ToolField } from './tools/fields';
import { ToolLog } from './tools/log.svelte';

/** Names this page in the fair queue of calls. */
const SESSION = 'page';

export interface Progress {
  done: number;
  total: number | null;
  message: string | null;
}

export class ToolRun {
  draft: Draft = $state({});
  /** The arguments are written as JSON instead of with the form. */
  asJson = $state(false);
  json = $state('{}');
  /** Where it works; empty: in the host's project. */
  root = $state('');
  /** Whoever tests a server adds to `_meta`, and sees what was sent. Null: nobody does. */
  meta: string | null = $state(null);
  metaInvalid = $state(false);
  callId: string | null = $state(null);
  canceling = $state(false);
  progress: Progress | null = $state.raw(null);
  /** The question that this call waits for. */
  waiting: string | null = $state(null);
  result: ToolResult | null = $state.raw(null);
  /** The host did not run it at all. */
  failure: ApiError | null = $state.raw(null);
  issues: ArgumentIssue[] = $state.raw([]);
  /** The form cannot hold what was written as JSON, or that is no JSON. */
  jsonProblem: 'invalid' | 'unfit' | null = $state(null);
  readonly #api: ToolsApi;

  constructor(
    api: ToolsApi,
    readonly server: string,
    readonly tool: string,
    readonly fields: ToolField[],
  ) {
    this.#api = api;
    this.draft = emptyDraft(fields);
    this.asJson = fields.length > 0 && fields.every((field) => field.kind === 'json');
  }

  get running(): boolean {
    return this.callId !== null;
  }

  /** What the tool found wrong with the arguments, by place. */
  get refused(): ToolIssue[] {
    const issues = this.result ? envelopeOf(this.result).error?.details?.['issues'] : undefined;
    return Array.isArray(issues) ? (issues as unknown as ToolIssue[]).filter((issue) => typeof asObject(issue)?.['path'] === 'string') : [];
  }

  /** The arguments as they stand; null when they are no JSON object. */
  get arguments(): { value: JsonObject; issues: ArgumentIssue[] } | null {
    if (!this.asJson) return toArguments(this.fields, $state.snapshot(this.draft));
    const value = parse(this.json);
    return value && { value, issues: [] };
  }

  showJson(): void {
    this.json = JSON.stringify(toArguments(this.fields, $state.snapshot(this.draft)).value, null, 2);
    this.asJson = true;
    this.jsonProblem = null;
    this.issues = [];
  }

  /** Back to the form, if it can hold what was written. */
  showForm(): void {
    const value = parse(this.json);
    const draft = value && fromArguments(this.fields, value);
    this.jsonProblem = value === null ? 'invalid' : draft === null ? 'unfit' : null;
    if (!draft) return;
    this.draft = draft;
    this.asJson = false;
  }

  /** Puts arguments in, as the form where it can. */
  fill(value: JsonObject): void {
    const draft = fromArguments(this.fields, value);
    this.issues = [];
    this.jsonProblem = null;
    this.asJson = draft === null;
    if (draft) this.draft = draft;
    else this.json = JSON.stringify(value, null, 2);
  }

  async run(): Promise<void> {
    if (this.running) return;
    const now = this.arguments;
    this.jsonProblem = now === null ? 'invalid' : null;
    this.issues = now?.issues ?? [];
    const meta = this.meta === null ? {} : parse(this.meta);
    this.metaInvalid = meta === null;
    if (!now || !meta || this.issues.length > 0) return;
    const traced = this.meta === null ? {} : { meta, trail: true };
    const callId = crypto.randomUUID();
    this.callId = callId;
    this.canceling = false;
    this.progress = null;
    this.waiting = null;
    this.failure = null;
    try {
      const root = this.root.trim();
      this.result = await this.#api.call(this.server, this.tool, { arguments: now.value, callId, session: SESSION, ...(root === '' ? {} : { root }), ...traced });
    } catch (thrown) {
      this.result = null;
      this.failure = toApiError(thrown);
    } finally {
      this.callId = null;
      this.progress = null;
      this.waiting = null;
    }
  }

  async cancel(): Promise<void> {
    if (this.callId === null) return;
    this.canceling = true;
    await this.#api.cancel(this.callId);
  }

  onEvent({ type, data }: EventFrame): void {
    if (this.callId === null) return;
    const said = asObject(data);
    if (type === 'tool_progress' && said?.['callId'] === this.callId) {
      const { progress, total, message } = said;
      this.progress = { done: Number(progress), total: typeof total === 'number' ? total : null, message: typeof message === 'string' ? message : null };
    }
    if (type === 'tool_waiting' && said?.['callId'] === this.callId && typeof said?.['requestId'] === 'string') {
      this.waiting = said['requestId'];
    }
  }
}

export class Tools {
  readonly servers: Resource<{ servers: ToolServer[] }>;
  readonly log: ToolLog;
  readonly #api: ToolsApi;
  readonly #details = new Map<string, Resource<ToolServer>>();
  readonly #runs = new Map<string, ToolRun>();

  constructor(api: ToolsApi) {
    this.#api = api;
    this.servers = new Resource(() => api.servers());
    this.log = new ToolLog(api);
  }

  /** One server with the schemas of its tools. */
  details(server: string): Resource<ToolServer> {
    const known = this.#details.get(server);
    if (known) return known;
    const made = new Resource(() => this.#api.server(server));
    this.#details.set(server, made);
    return made;
  }

  /** The run of a tool, with what was put in before. */
  run(server: ToolServer, name: string): ToolRun | null {
    const tool = server.tools.find((other) => other.name === name);
    return tool ? this.runOf(server.name, name, tool.inputSchema) : null;
  }

  /** The same for a tool that another list names. What was put in is kept only while the schema is the same. */
  runOf(server: string, name: string, inputSchema: JsonObject | null | undefined): ToolRun {
    const key = `${server}\n${name}\n${JSON.stringify(inputSchema ?? null)}`;
    const known = this.#runs.get(key);
    if (known) return known;
    const made = new ToolRun(this.#api, server, name, readFields(inputSchema));
    this.#runs.set(key, made);
    return made;
  }

  onEvent(frame: EventFrame): void {
    this.log.onEvent(frame);
    for (const run of this.#runs.values()) run.onEvent(frame);
  }

  /** Texts and lists may have changed. */
  async resync(): Promise<void> {
    this.log.resync();
    await Promise.all([this.servers.refresh(), ...[...this.#details.values()].map((details) => details.refresh())]);
  }

  clear(): void {
    this.servers.clear();
    this.#details.clear();
    this.#runs.clear();
    this.log.clear();
  }
}

function parse(text: string): JsonObject | null {
  try {
    return asObject(JSON.parse(text.trim() === '' ? '{}' : text));
  } catch {
    // Said at the field.
    return null;
  }
}
