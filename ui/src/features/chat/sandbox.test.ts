// What is shown of a command's sandbox, from data that may be anything.

import { describe, expect, it } from 'vitest';
import { deniedOf, hasNotes, noticeOf, rootOf } from './sandbox';

describe('refusals of the sandbox', () => {
  it('shows what is certain, each once', () => {
    const one = { certain: true, access: 'read', path: '/home/a/.aws/config', setting: 'shellReadPaths', opens: { kind: 'run', value: '/x' } };
    const data = { sandbox: { level: 'full', denied: [one, one, { ...one, certain: false, path: '/x' }, { certain: true, access: 'network', host: 'example.com', setting: 'shellNetwork', opens: { kind: 'host', value: 'example.com' } }], root: '/home/a/code' } };
    expect(deniedOf(data)).toEqual([
      { access: 'read', path: '/home/a/.aws/config', host: null, setting: 'shellReadPaths', opens: null },
      { access: 'network', path: null, host: 'example.com', setting: 'shellNetwork', opens: { kind: 'host', value: 'example.com' } },
    ]);
    expect(rootOf(data)).toBe('/home/a/code');
    expect(hasNotes(data)).toBe(true);
  });

  it('shows nothing of data it does not know', () => {
    for (const data of [null, 1, [], { sandbox: 'full' }, { sandbox: { denied: [null, 3, { certain: true, access: 'fly' }] } }]) {
      expect(deniedOf(data)).toEqual([]);
      expect(noticeOf(data)).toBeNull();
      expect(rootOf(data)).toBeNull();
      expect(hasNotes(data)).toBe(false);
    }
  });

  it('says how commands run with the first of a project', () => {
    expect(noticeOf({ findings: [{ id: 'pipe' }, { id: 'first_use', message: 'Commands run in a sandbox.' }] })).toBe('Commands run in a sandbox.');
  });
});
