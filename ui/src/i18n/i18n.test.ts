import { describe, expect, test } from 'vitest';
import { en as mainEn } from './en';
import { admin as adminEn } from './en/admin';
import { changes as changesEn } from './en/changes';
import { i18n, languageOf } from './index.svelte';
import { zh as mainZh } from './zh';
import { admin as adminZh } from './zh/admin';
import { changes as changesZh } from './zh/changes';

// Some pages bring their texts with them; the rules are the same.
const en = { ...mainEn, admin: adminEn, changes: changesEn };
const zh = { ...mainZh, admin: adminZh, changes: changesZh };

type Leaf = [path: string, value: unknown];

function leaves(value: unknown, path = ''): Leaf[] {
  if (typeof value !== 'object' || value === null) return [[path, value]];
  return Object.entries(value).flatMap(([key, child]) => leaves(child, path === '' ? key : `${path}.${key}`));
}

/** The text of a leaf; functions are called with plausible arguments. */
function text(value: unknown): string {
  if (typeof value === 'function') return String((value as (...args: unknown[]) => unknown)(2, 3));
  return String(value);
}

describe('dictionaries', () => {
  test('have the same paths', () => {
    expect(leaves(zh).map(([path]) => path).sort()).toEqual(leaves(en).map(([path]) => path).sort());
  });

  test('have no empty text and the same kind at each path', () => {
    const chinese = new Map(leaves(zh));
    for (const [path, value] of leaves(en)) {
      expect(typeof chinese.get(path), path).toBe(typeof value);
      expect(text(value).trim(), path).not.toBe('');
      expect(text(chinese.get(path)).trim(), path).not.toBe('');
    }
  });

  test('Chinese texts are Chinese, but for commands, names and signs', () => {
    const same = new Map(leaves(en).map(([path, value]) => [path, text(value)]));
    const untranslated = leaves(zh).filter(([path, value]) => text(value) === same.get(path));
    const allowed = /^(chatos |http|SQLite|Node\.js|v\d|English|中文)/;
    expect(untranslated.filter(([, value]) => !allowed.test(text(value)))).toEqual([]);
  });
});

describe('languageOf', () => {
  test.each([
    [['zh-CN', 'en'], 'zh'],
    [['zh-Hant-TW'], 'zh'],
    [['ZH'], 'zh'],
    [['en-GB', 'zh'], 'en'],
    [['fr', 'zh-CN'], 'zh'],
    [['fr', 'de'], 'en'],
    [[], 'en'],
  ])('%j', (tags, language) => {
    expect(languageOf(tags)).toBe(language);
  });
});

describe('formats', () => {
  const now = Date.UTC(2026, 0, 11, 12, 0, 0);

  test('durations name the two largest units', () => {
    i18n.choose('en');
    expect(i18n.duration(0)).toBe('0 s');
    expect(i18n.duration(59_999)).toBe('59 s');
    expect(i18n.duration(3_600_000)).toBe('1 h');
    expect(i18n.duration(90_061_000)).toBe('1 d 1 h');
    i18n.choose('zh');
    expect(i18n.duration(150_000)).toBe('2 分 30 秒');
  });

  test('relative times', () => {
    i18n.choose('en');
    expect(i18n.relative(now - 1_000, now)).toBe('just now');
    expect(i18n.relative(now - 180_000, now)).toBe('3 minutes ago');
    expect(i18n.relative(now + 7_200_000, now)).toBe('in 2 hours');
    i18n.choose('zh');
    expect(i18n.relative(now - 180_000, now)).toBe('3分钟前');
  });

  test('bytes', () => {
    i18n.choose('en');
    expect(i18n.bytes(512)).toBe('512 B');
    expect(i18n.bytes(2 * 1024 * 1024)).toBe('2 MiB');
    expect(i18n.bytes(1_600_000)).toBe('1.5 MiB');
  });

  test('the choice is kept and followed', () => {
    i18n.choose('zh');
    expect(localStorage.getItem('chatos.language')).toBe('zh');
    expect(i18n.t.nav.settings).toBe('设置');
    expect(i18n.pick({ zh: '', en: 'fallback' })).toBe('fallback');
  });
});
