// Colours for code by the grammars editors use. Runs in a worker (code.worker.ts): making a grammar ready takes
// long, and a hostile text may keep one of its expressions busy, which must not be the page's time.
// Everything it gives back is escaped; it never changes or drops a character.

import { codeToTokensBase, createShikiPrimitiveAsync, getLastGrammarState, type GrammarState, type LanguageRegistration, type ShikiPrimitive } from 'shiki/core';
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript';
import { escapeHtml } from './code-languages';

type State = GrammarState | undefined;

const LOADERS: Record<string, () => Promise<{ default: LanguageRegistration[] }>> = {
  shellscript: () => import('shiki/langs/shellscript.mjs'),
  c: () => import('shiki/langs/c.mjs'),
  csharp: () => import('shiki/langs/csharp.mjs'),
  css: () => import('shiki/langs/css.mjs'),
  diff: () => import('shiki/langs/diff.mjs'),
  docker: () => import('shiki/langs/docker.mjs'),
  go: () => import('shiki/langs/go.mjs'),
  html: () => import('shiki/langs/html.mjs'),
  ini: () => import('shiki/langs/ini.mjs'),
  java: () => import('shiki/langs/java.mjs'),
  javascript: () => import('shiki/langs/javascript.mjs'),
  json: () => import('shiki/langs/json.mjs'),
  kotlin: () => import('shiki/langs/kotlin.mjs'),
  lua: () => import('shiki/langs/lua.mjs'),
  make: () => import('shiki/langs/make.mjs'),
  markdown: () => import('shiki/langs/markdown.mjs'),
  php: () => import('shiki/langs/php.mjs'),
  powershell: () => import('shiki/langs/powershell.mjs'),
  python: () => import('shiki/langs/python.mjs'),
  rust: () => import('shiki/langs/rust.mjs'),
  sql: () => import('shiki/langs/sql.mjs'),
  swift: () => import('shiki/langs/swift.mjs'),
  toml: () => import('shiki/langs/toml.mjs'),
  tsx: () => import('shiki/langs/tsx.mjs'),
  typescript: () => import('shiki/langs/typescript.mjs'),
  xml: () => import('shiki/langs/xml.mjs'),
  yaml: () => import('shiki/langs/yaml.mjs'),
};

/** What the grammars' scopes are shown as. The theme names no colours of its own: each entry becomes a class that
    markdown.css gives one of the page's colours, so that light and dark are a matter of the stylesheet (the page's
    policy refuses style attributes anyway). Of several that fit, the longest scope counts. */
const SCOPES: [kind: string, scopes: string[]][] = [
  ['comment', ['comment', 'punctuation.definition.comment']],
  ['string', ['string', 'punctuation.definition.string', 'constant.character', 'markup.inline.raw', 'markup.inserted']],
  ['number', ['constant.numeric', 'constant.language', 'constant.other', 'keyword.other.unit', 'support.constant']],
  ['keyword', [
    'keyword', 'storage', 'variable.language', 'entity.name.tag', 'punctuation.definition.tag', 'keyword.operator.new', 'keyword.operator.expression',
    'keyword.operator.logical.python', 'keyword.operator.word', 'markup.bold', 'markup.italic',
  ]],
  ['built-in', ['support', 'entity.name.type', 'entity.name.class', 'entity.name.namespace', 'entity.other.inherited-class', 'entity.name.scope-resolution']],
  ['attr', [
    'entity.other.attribute-name', 'support.type.property-name', 'meta.object-literal.key', 'entity.name.tag.yaml', 'keyword.other.definition.ini',
    'variable.other.normal.shell', 'punctuation.definition.variable',
  ]],
  ['title', ['entity.name.function', 'support.function', 'meta.function-call.generic', 'markup.heading', 'entity.name.section']],
  ['meta', ['meta.preprocessor', 'meta.diff.header', 'meta.diff.range', 'meta.attribute.rust', 'meta.decorator', 'entity.name.function.decorator']],
  ['deleted', ['markup.deleted']],
  // Code inside a string is code, and an operator of signs is quiet.
  ['', ['meta.embedded', 'meta.template.expression', 'meta.interpolation', 'string meta.embedded', 'keyword.operator']],
];

const PLAIN = '#000000';
const colour = (at: number) => `#0000${(at + 1).toString(16).padStart(2, '0')}`;
const CLASSES = new Map(SCOPES.map(([kind], at) => [colour(at), kind]));

const THEME = {
  name: 'page',
  type: 'light' as const,
  fg: PLAIN,
  bg: '#ffffff',
  settings: [
    { settings: { foreground: PLAIN, background: '#ffffff' } },
    ...SCOPES.map(([, scope], at) => ({ scope, settings: { foreground: colour(at) } })),
  ],
};

/** A longer line is no line somebody wrote; it stays in one colour. */
const MAX_LINE = 2_000;

/** The text coloured last, up to its last line end: a growing one is not begun anew. */
interface Done {
  language: string;
  done: string;
  html: string;
  state: State;
}

export class Grammars {
  #primitive: Promise<ShikiPrimitive> | null = null;
  #last: Done | null = null;

  /** The code as HTML. The language is one of `LANGUAGES`. */
  async colour(code: string, language: string): Promise<string> {
    const primitive = await this.#ready(language);
    const before = this.#last;
    let last: Done = before?.language === language && code.startsWith(before.done) ? before : { language, done: '', html: '', state: undefined };
    const end = code.lastIndexOf('\n') + 1;
    if (end > last.done.length) {
      // The line end itself is left out: behind it another, empty line would begin.
      const lines = code.slice(last.done.length, end).replace(/\r?\n$/, '');
      const { html, state } = draw(primitive, lines, language, last.state);
      last = { language, done: code.slice(0, end), html: last.html + html + code.slice(last.done.length + lines.length, end), state };
    }
    this.#last = last;
    return end === code.length ? last.html : last.html + draw(primitive, code.slice(end), language, last.state).html;
  }

  async #ready(language: string): Promise<ShikiPrimitive> {
    this.#primitive ??= createShikiPrimitiveAsync({ themes: [THEME], langs: [], engine: createJavaScriptRegexEngine({ forgiving: true }) });
    const primitive = await this.#primitive;
    if (!primitive.getLoadedLanguages().includes(language)) {
      const load = LOADERS[language];
      if (!load) throw new Error(`no grammar for ${language}`);
      await primitive.loadLanguage((await load()).default);
    }
    return primitive;
  }
}

function draw(primitive: ShikiPrimitive, code: string, language: string, state: State): { html: string; state: State } {
  const tokens = codeToTokensBase(primitive, code, {
    lang: language,
    theme: THEME.name,
    tokenizeMaxLineLength: MAX_LINE,
    // A slow first line would stay half coloured for good; who asked ends the worker instead.
    tokenizeTimeLimit: 0,
    ...(state ? { grammarState: state } : {}),
  });
  const pieces: { kind: string; text: string }[] = [];
  const put = (kind: string, text: string) => {
    const before = pieces.at(-1);
    // Spaces need no colour of their own; a line end never lies inside a span, so that lines are drawn one by one.
    if (before && (before.kind === kind || /^[ \t]+$/.test(text))) before.text += text;
    else if (text !== '') pieces.push({ kind, text });
  };
  let from = 0;
  for (const { offset, content, color } of tokens.flat()) {
    // What no token covers, such as line ends, is copied from the code.
    put('', code.slice(from, offset));
    put(CLASSES.get(color?.toLowerCase() ?? '') ?? '', content);
    from = offset + content.length;
  }
  put('', code.slice(from));
  const html = pieces.map(({ kind, text }) => (kind === '' ? escapeHtml(text) : `<span class="c-${kind}">${escapeHtml(text)}</span>`)).join('');
  return { html, state: getLastGrammarState(primitive, tokens) };
}
