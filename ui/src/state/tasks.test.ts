import { describe, expect, it } from 'vitest';
import { parseTags } from './tasks.svelte';

describe('parseTags', () => {
  it('takes spaces, commas of both languages and leading hashes', () => {
    expect(parseTags(' #docs, ui，测试  docs ')).toEqual(['docs', 'ui', '测试']);
    expect(parseTags('')).toEqual([]);
  });
});
