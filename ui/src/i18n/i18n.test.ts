import { describe, expect, test } from 'vitest';
import { en as mainEn } from './en';
import { i18n, languageOf } from './index.svelte';
import { shippedPlugin, shippedProfile, shippedServer } from '../state/shipped';
import { SHIPPED } from './shipped';
import { zh as mainZh } from './zh';

// Some pages bring their texts with them; the rules are the same, whichever files there are.
const apart = (files: Record<string, Record<string, unknown>>) => Object.assign({}, ...Object.values(files)) as Record<string, unknown>;
const en = { ...mainEn, ...apart(import.meta.glob<Record<string, unknown>>('./en/*.ts', { eager: true })), shipped: SHIPPED.en };
const zh = { ...mainZh, ...apart(import.meta.glob<Record<string, unknown>>('./zh/*.ts', { eager: true })), shipped: SHIPPED.zh };

type Leaf = [path: string, value: unknown];

function leaves(value: unknown, path = ''): Leaf[] {
  if (typeof value !== 'object' || value === null) return [[path, value]];
  return Object.entries(value).flatMap(([key, child]) => leaves(child, path === '' ? key : `${path}.${key}`));
}

/** What texts are made of: numbers, kinds of access, lists of names, deeds. */
const PARTS: unknown[][] = [[2, 3, 4, 5], ['read', 'x'], [['a', 'b'], ['c']], [{ to: ' x ', doing: ' x ', done: ' x ' }]];

/** The text of a leaf; functions are called with arguments they can do something with. */
function text(value: unknown): string {
  if (typeof value !== 'function') return String(value);
  for (const parts of PARTS) {
    try {
      const said: unknown = (value as (...args: unknown[]) => unknown)(...parts);
      if (said !== undefined && !String(said).includes('undefined')) return String(said);
    } catch {
      // Others fit.
    }
  }
  throw new Error(`no arguments fit ${String(value as object)}`);
}

/** A whole text that is a command line or an address. */
const COMMAND = /^(例如 )?(chatos |https?:|\/|[{[]|agents\/)/;
/** Names that are two words in every language. */
const NAMES = ['LM Studio', 'JSON Lines', 'OTLP JSON', 'Authorization: Bearer'];
/** Two English words in a row, outside of a piece of code. */
const PHRASE = /(?<![`\w.:/-])[A-Za-z][a-z]+ [a-z]{2,}(?![\w`:/=-])/;
/** A Chinese character and a letter or digit without a space between them. */
const TIGHT = /\p{Script=Han}[A-Za-z0-9`]|[A-Za-z0-9`%]\p{Script=Han}/u;
/** What is put into these is Chinese itself: a duration with its unit, a right. */
const PHRASES = ['prompts.header.expiresIn', 'apps.rights.wants'];
/** Words that docs/glossary.md replaces by others. */
const RETIRED = /land.?config|sub.agent|sub.flow|\b(hub|queue page)\b|子代理|您|纠正|主流程|子流程|待办中心|队列|「/i;

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
    const allowed = /^(chatos |http|taskId|mcp-task:|SQLite|Node\.js|v\d|English|中文)|^(ntfy|Webhook|Slack|Discord|Telegram|OpenAI|OpenAI Responses|Anthropic|Gemini|Ollama|LM Studio|AsyncTask|ACK|markdown|result|content)$/;
    expect(untranslated.filter(([, value]) => !allowed.test(text(value)))).toEqual([]);
  });

  test('English texts have no Chinese in them, but for the name of the language', () => {
    const mixed = leaves(en).filter(([, value]) => /[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]/.test(text(value)));
    expect(mixed.filter(([, value]) => text(value) !== '中文')).toEqual([]);
  });

  test('Chinese texts have no English phrases in them, but for commands and names', () => {
    const mixed = leaves(zh)
      .map(([path, value]) => [path, text(value)] as const)
      .filter(([, value]) => !COMMAND.test(value) && PHRASE.test(NAMES.reduce((rest, name) => rest.replaceAll(name, ''), value)));
    expect(mixed).toEqual([]);
  });

  test('Chinese and other letters or digits stand apart', () => {
    const close = leaves(zh).filter(([path, value]) => !PHRASES.includes(path) && TIGHT.test(text(value)));
    expect(close).toEqual([]);
  });

  test('one word per thing: what the glossary has left behind is nowhere', () => {
    const left = [...leaves(en), ...leaves(zh)].filter(([, value]) => RETIRED.test(text(value)));
    expect(left).toEqual([]);
  });

  test('the forbidden is recognized', () => {
    expect(PHRASE.test('请 try again 一次')).toBe(true);
    expect(PHRASE.test('用 `chatos serve` 启动 MCP 服务器')).toBe(false);
    expect(RETIRED.test('运行一个子代理')).toBe(true);
    expect(RETIRED.test('No land config')).toBe(true);
    expect(RETIRED.test('no permissions profile')).toBe(false);
  });
});

describe('what comes with ChatOS', () => {
  const plugins = import.meta.glob<{ id: string; name: string; description: string; apps: { id: string; name: string; description: string }[] }>('../../../plugins/*/plugin.json', {
    eager: true,
    import: 'default',
  });

  test('every built-in plugin and app has its words, and its manifest says them in English', () => {
    const manifests = Object.values(plugins);
    expect(manifests.map((plugin) => plugin.id).sort()).toEqual(Object.keys(SHIPPED.en.plugins).sort());
    for (const { id, name, description, apps } of manifests) {
      expect({ name, description }, id).toEqual(SHIPPED.en.plugins[id]);
      for (const app of apps) expect({ name: app.name, description: app.description }, `${id}/${app.id}`).toEqual(SHIPPED.en.apps[`${id}/${app.id}`]);
    }
    const known = manifests.flatMap((plugin) => plugin.apps.map((app) => `${plugin.id}/${app.id}`));
    expect(known.sort()).toEqual(Object.keys(SHIPPED.en.apps).sort());
  });

  test('follows the language; what a person added or changed keeps its own words', async () => {
    await i18n.choose('zh');
    const profile = { id: 'lc_developer', name: 'Developer', description: 'x', locked: true } as Parameters<typeof shippedProfile>[0];
    expect(shippedProfile(profile)).toMatchObject({ id: 'lc_developer', name: '开发者' });
    expect(shippedProfile({ ...profile, locked: false })).toMatchObject({ name: 'Developer' });
    const server = { name: 'project_files', description: 'mine', source: 'user' } as Parameters<typeof shippedServer>[0];
    expect(shippedServer(server)).toBe(server);
    expect(shippedServer({ ...server, source: 'builtin' }).description).toBe('读取和搜索项目文件夹中的文件');
    const plugin = { id: 'com.chatos.notes', name: 'Notes', source: 'user', apps: [] } as unknown as Parameters<typeof shippedPlugin>[0];
    expect(shippedPlugin(plugin)).toBe(plugin);
    await i18n.choose('en');
    expect(shippedPlugin({ ...plugin, source: 'builtin' }).description).toBe(SHIPPED.en.plugins['com.chatos.notes']?.description);
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

  test('durations name the two largest units', async () => {
    await i18n.choose('en');
    expect(i18n.duration(0)).toBe('0 s');
    expect(i18n.duration(59_999)).toBe('59 s');
    expect(i18n.duration(3_600_000)).toBe('1 h');
    expect(i18n.duration(90_061_000)).toBe('1 d 1 h');
    await i18n.choose('zh');
    expect(i18n.duration(150_000)).toBe('2 分 30 秒');
  });

  test('relative times', async () => {
    await i18n.choose('en');
    expect(i18n.relative(now - 1_000, now)).toBe('just now');
    expect(i18n.relative(now - 180_000, now)).toBe('3 minutes ago');
    expect(i18n.relative(now + 7_200_000, now)).toBe('in 2 hours');
    await i18n.choose('zh');
    expect(i18n.relative(now - 180_000, now)).toBe('3 分钟前');
  });

  test('bytes', async () => {
    await i18n.choose('en');
    expect(i18n.bytes(512)).toBe('512 B');
    expect(i18n.bytes(2 * 1024 * 1024)).toBe('2 MiB');
    expect(i18n.bytes(1_600_000)).toBe('1.5 MiB');
  });

  test('the choice is kept and followed', async () => {
    await i18n.choose('zh');
    expect(localStorage.getItem('chatos.language')).toBe('zh');
    expect(i18n.t.nav.settings).toBe('设置');
    expect(i18n.pick({ zh: '', en: 'fallback' })).toBe('fallback');
  });
});
