// The routes only `chatos dev` has.

import type { AsyncTestInput, AsyncTestResult, DevInfo, DevProblems } from '../protocol/wire';
import type { Http } from './http';

const V1 = '/api/v1';
/** The test gives up after eight seconds of its own. */
const TEST_TIMEOUT_MS = 30_000;

export class DevApi {
  constructor(private readonly http: Http) {}

  info(): Promise<DevInfo> {
    return this.http.get(`${V1}/dev`);
  }

  /** What `chatos plugin validate` says about the files as they are. */
  problems(): Promise<DevProblems> {
    return this.http.get(`${V1}/dev/problems`);
  }

  asyncTest(input: AsyncTestInput): Promise<AsyncTestResult> {
    return this.http.post(`${V1}/dev/async-test`, input, { timeoutMs: TEST_TIMEOUT_MS });
  }
}
