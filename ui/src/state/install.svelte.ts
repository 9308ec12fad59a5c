// One installation from the page: packing, upload, the host's work, and how it ended.

import type { Client } from '../api/client';
import { ApiError, toApiError } from '../api/error';
import type { InstallResult, Operation, Problem } from '../protocol';
import type { Operations } from './operations.svelte';

export type InstallPhase = 'idle' | 'packing' | 'uploading' | 'working' | 'done' | 'failed';

/** Where the package comes from; kept to try again with "install what works". */
export type InstallSource =
  | { kind: 'path'; path: string }
  | { kind: 'zip'; name: string; zip: () => Promise<Blob> };

const START = { done: 0, total: null, unit: 'bytes', message: '' };

export class Install {
  phase: InstallPhase = $state('idle');
  /** What is being installed, for the headline. */
  name = $state('');
  progress: { done: number; total: number | null; unit: string; message: string } = $state.raw(START);
  result: InstallResult | null = $state.raw(null);
  error: ApiError | null = $state.raw(null);
  #source: InstallSource | null = null;
  #abort: AbortController | null = null;
  #operationId: string | null = null;
  readonly #client: Client;
  readonly #operations: Operations;

  constructor(client: Client, operations: Operations) {
    this.#client = client;
    this.#operations = operations;
  }

  get busy(): boolean {
    return this.phase === 'packing' || this.phase === 'uploading' || this.phase === 'working';
  }

  /** The problems of a refused package. */
  get problems(): Problem[] {
    const errors = (this.error?.details as { errors?: unknown } | null)?.errors;
    return Array.isArray(errors) ? (errors as Problem[]) : [];
  }

  /** True when only parts are broken, so that the rest could be installed (plugins §8 step 3). */
  get canInstallRest(): boolean {
    const errors = this.problems.filter((problem) => problem.severity !== 'warning');
    return errors.length > 0 && errors.every((problem) => /^\/(apps\/\d+|backend)(\/|$)/.test(problem.path));
  }

  async start(source: InstallSource, allowProblems = false): Promise<void> {
    if (this.busy) return;
    this.#source = source;
    this.#abort = new AbortController();
    this.#operationId = null;
    this.result = null;
    this.error = null;
    this.name = source.kind === 'path' ? source.path : source.name;
    this.phase = source.kind === 'path' ? 'working' : 'packing';
    this.progress = START;
    try {
      const operation = await this.#send(source, allowProblems, this.#abort.signal);
      this.#operationId = operation.id;
      // Cancel was pressed before there was anything to name.
      if (this.#abort.signal.aborted) await this.#client.cancelOperation(operation.id);
      const ended = await this.#operations.follow(operation, (now) => {
        this.phase = 'working';
        this.progress = now.progress ?? START;
      });
      if (ended.state !== 'done' || !ended.result) throw failureOf(ended);
      this.result = ended.result;
      this.phase = 'done';
    } catch (thrown) {
      this.error = toApiError(thrown);
      this.phase = 'failed';
    }
  }

  /** The same package again, leaving out its broken parts. */
  async startRest(): Promise<void> {
    if (this.#source) await this.start(this.#source, true);
  }

  /** Stops wherever it is; nothing of the package stays. */
  async cancel(): Promise<void> {
    this.#abort?.abort();
    if (this.#operationId !== null && this.phase === 'working') await this.#client.cancelOperation(this.#operationId);
  }

  reset(): void {
    if (this.busy) return;
    this.phase = 'idle';
    this.error = null;
    this.result = null;
  }

  async #send(source: InstallSource, allowProblems: boolean, signal: AbortSignal): Promise<Operation<InstallResult>> {
    if (source.kind === 'path') return this.#client.installFromPath(source.path, allowProblems);
    const zip = await source.zip();
    if (signal.aborted) throw ApiError.page('page_canceled', 'canceled while packing');
    this.#step('uploading', 0, zip.size);
    return this.#client.installFromZip(zip, source.name, allowProblems, signal, (sent) => {
      this.#step('uploading', sent, zip.size);
    });
  }

  /** Told by whoever packs. */
  packed(done: number, total: number): void {
    if (this.phase === 'packing') this.#step('packing', done, total);
  }

  #step(phase: InstallPhase, done: number, total: number): void {
    this.phase = phase;
    this.progress = { ...START, done, total };
  }
}

function failureOf(operation: Operation<InstallResult>): ApiError {
  if (operation.error) {
    const { code, message, hint, details } = operation.error;
    return new ApiError(200, code, message, hint ?? null, details ?? null);
  }
  return operation.state === 'canceled'
    ? new ApiError(200, 'canceled', 'HTTP 200')
    : new ApiError(200, 'page_bad_answer', `operation ${operation.id} ended without a result`);
}
