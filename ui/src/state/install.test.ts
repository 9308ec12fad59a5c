import { describe, expect, test, vi } from 'vitest';
import type { Client } from '../api/client';
import { ApiError } from '../api/error';
import type { InstallResult, Operation } from '../protocol';
import { Install } from './install.svelte';
import { Operations } from './operations.svelte';

const operation = (over: Partial<Operation<InstallResult>>): Operation<InstallResult> => ({
  id: 'op1',
  kind: 'plugin_install',
  state: 'running',
  progress: { done: 1, total: 4, unit: 'files', message: '' },
  result: null,
  error: null,
  ...over,
});
const result = { ok: true, plugins: [], warnings: [] } as unknown as InstallResult;

function setup(client: Partial<Client>) {
  const operations = new Operations(client as Client);
  return { operations, install: new Install(client as Client, operations) };
}

const event = (data: unknown) => ({ seq: 1, topic: 'admin', type: 'operation_changed', data });

describe('Install', () => {
  test('follows the host by events to its result', async () => {
    const { install, operations } = setup({
      installFromPath: () => Promise.resolve(operation({})),
      operation: (() => Promise.resolve(operation({ state: 'done', result }))) as Client['operation'],
    });
    const done = install.start({ kind: 'path', path: '/x' });
    await expect.poll(() => install.progress.total).toBe(4);
    operations.onEvent(event(operation({ progress: { done: 3, total: 4, unit: 'files', message: 'm' } })));
    expect(install.progress).toMatchObject({ done: 3, total: 4, message: 'm' });
    operations.onEvent(event(operation({ state: 'done', result })));
    await done;
    expect(install).toMatchObject({ phase: 'done', result, busy: false });
  });

  test('asks itself when no event comes, also across a short outage', async () => {
    vi.useFakeTimers();
    const answers = [
      () => Promise.reject(new ApiError(0, 'page_unreachable', 'down')),
      () => Promise.resolve(operation({ state: 'done', result })),
    ];
    const { install } = setup({
      installFromPath: () => Promise.resolve(operation({})),
      operation: (() => answers.shift()?.()) as Client['operation'],
    });
    const done = install.start({ kind: 'path', path: '/x' });
    await vi.advanceTimersByTimeAsync(2_000);
    await done;
    vi.useRealTimers();
    expect(install.phase).toBe('done');
  });

  test('an answer that is older than the end changes nothing any more', async () => {
    vi.useFakeTimers();
    const asked: ((answer: Operation<InstallResult>) => void)[] = [];
    const { install, operations } = setup({
      installFromPath: () => Promise.resolve(operation({})),
      operation: (() => new Promise<Operation<InstallResult>>((resolve) => asked.push(resolve))) as unknown as Client['operation'],
    });
    const done = install.start({ kind: 'path', path: '/x' });
    await vi.advanceTimersByTimeAsync(1_000);
    operations.onEvent(event(operation({ state: 'done', result })));
    asked[1]?.(operation({ state: 'done', result }));
    await done;
    asked[0]?.(operation({}));
    await vi.advanceTimersByTimeAsync(3_000);
    vi.useRealTimers();
    expect([install.phase, install.busy, asked.length]).toEqual(['done', false, 2]);
  });

  test('canceled before the host named the operation, it is canceled when it is named', async () => {
    let begun: (answer: Operation<InstallResult>) => void = () => undefined;
    const cancelOperation = vi.fn(() => Promise.resolve(operation({ state: 'canceled' })));
    const { install, operations } = setup({
      installFromPath: () => new Promise((resolve) => (begun = resolve)),
      cancelOperation: cancelOperation as unknown as Client['cancelOperation'],
      operation: (() => Promise.resolve(operation({ state: 'canceled' }))) as Client['operation'],
    });
    const done = install.start({ kind: 'path', path: '/x' });
    await install.cancel();
    begun(operation({}));
    await expect.poll(() => cancelOperation.mock.calls).toEqual([['op1']]);
    operations.onEvent(event(operation({ state: 'canceled' })));
    await done;
    expect(install.phase).toBe('failed');
  });

  test('an operation the host no longer knows is a failure, not an endless wait', async () => {
    vi.useFakeTimers();
    const { install } = setup({
      installFromPath: () => Promise.resolve(operation({})),
      operation: () => Promise.reject(new ApiError(404, 'not_found', 'gone')),
    });
    const done = install.start({ kind: 'path', path: '/x' });
    await vi.advanceTimersByTimeAsync(1_000);
    await done;
    vi.useRealTimers();
    expect(install).toMatchObject({ phase: 'failed' });
    expect(install.error?.code).toBe('not_found');
  });

  test('a refused package keeps its problems and knows whether the rest could be installed', async () => {
    const refused = (paths: string[]) =>
      operation({
        state: 'failed',
        error: { code: 'package_invalid', message: 'm', details: { errors: paths.map((path) => ({ path, severity: 'error' })) } },
      });
    const run = async (paths: string[]) => {
      const { install } = setup({ installFromPath: () => Promise.resolve(refused(paths)) });
      await install.start({ kind: 'path', path: '/x' });
      return [install.phase, install.problems.length, install.canInstallRest];
    };
    expect(await run(['/apps/0/entry/path', '/backend/entry'])).toEqual(['failed', 2, true]);
    expect(await run(['/apps/0', '/name'])).toEqual(['failed', 2, false]);
    expect(await run([''])).toEqual(['failed', 1, false]);
    expect(await run([])).toEqual(['failed', 0, false]);
  });

  test('"install what works" sends the same package with permission', async () => {
    const installFromPath = vi.fn(() => Promise.resolve(operation({ state: 'done', result })));
    const { install } = setup({ installFromPath });
    await install.start({ kind: 'path', path: '/x' });
    await install.startRest();
    expect(installFromPath.mock.calls).toEqual([['/x', false], ['/x', true]]);
  });

  test('a package that cannot be packed never reaches the host', async () => {
    const installFromZip = vi.fn();
    const { install } = setup({ installFromZip });
    await install.start({ kind: 'zip', name: 'x.zip', zip: () => Promise.reject(new Error('unreadable')) });
    expect(install).toMatchObject({ phase: 'failed' });
    expect(install.error?.message).toBe('unreadable');
    expect(installFromZip).not.toHaveBeenCalled();
  });

  test('canceling tells the host', async () => {
    const cancelOperation = vi.fn(() => Promise.resolve(operation({ state: 'canceled' })));
    const { install, operations } = setup({
      installFromPath: () => Promise.resolve(operation({})),
      operation: () => Promise.reject(new ApiError(0, 'page_unreachable', 'down')),
      cancelOperation: cancelOperation as Client['cancelOperation'],
    });
    const done = install.start({ kind: 'path', path: '/x' });
    await expect.poll(() => install.progress.total).toBe(4);
    await install.cancel();
    operations.onEvent(event(operation({ state: 'canceled' })));
    await done;
    expect(cancelOperation).toHaveBeenCalledWith('op1');
    expect(install.error?.code).toBe('canceled');
  });
});
