// The routes of changes in files as functions.

import type { FileChangeDetail, FileChangeList, UndoAnswer } from '../protocol/changes';
import type { Http } from './http';

const V1 = '/api/v1/changes';
/** Many large files may have to be compared and written. */
const UNDO_TIMEOUT_MS = 300_000;

export interface ChangeQuery {
  path?: string;
  change?: string;
  root?: string;
  server?: string;
  tool?: string;
  runId?: string;
  sessionId?: string;
  limit: number;
  before?: string;
}

/** Some changes, or everything of a run that is in force. */
export type UndoOrder = { ids: string[] } | { runId: string };

export class ChangesApi {
  constructor(private readonly http: Http) {}

  list(query: ChangeQuery): Promise<FileChangeList> {
    return this.http.get(V1, { query: { ...query } });
  }

  get(id: string): Promise<FileChangeDetail> {
    return this.http.get(at(id));
  }

  content(id: string, side: 'before' | 'after'): Promise<Blob> {
    return this.http.blob(`${at(id)}/content/${side}`);
  }

  undo(order: UndoOrder, dryRun: boolean): Promise<UndoAnswer> {
    return this.http.post(`${V1}/undo`, { ...order, dryRun }, { timeoutMs: UNDO_TIMEOUT_MS });
  }
}

function at(id: string): string {
  return `${V1}/${encodeURIComponent(id)}`;
}
