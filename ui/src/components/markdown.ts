// Markdown of strangers (models, plugins, other programs) to HTML that is safe to insert:
// no raw HTML, no remote images, no scripts, links that say where they lead (ui-prompts §13).

import MarkdownIt, { type MarkdownIt as Renderer, type Token } from 'markdown-it';
import footnotes from 'markdown-it-footnote';
import type { Diagram } from './diagram-pictures.svelte';
import { type MathHtml, plainNotes, useMath, useTasks } from './markdown-extras';

/** A link may lead to the web or to mail; anything else stays text. */
const LINK = /^(https?:|mailto:)/i;
/** In a chat a link may lead to another page of ours, such as the one that adds a model. */
const PAGE = /^#\/[a-z]/i;
/** Pictures are shown only when their bytes are already here. */
const IMAGE = /^(data:image\/(png|jpeg|gif|webp);|blob:)/i;

/** The host part of a link, as the person must see it; punycode is left as it is on purpose. */
export function linkHost(href: string): string {
  try {
    const url = new URL(href);
    return url.protocol === 'mailto:' ? url.pathname : url.host;
  } catch {
    // Not a URL; markdown-it only calls this for links it accepted, so the text itself is honest.
    return href;
  }
}

/** Whether what a person sees of a link is its address and nothing else: the host first, and
    nothing that hides itself or turns the rest around. A text that merely holds the host may name another one beside it. */
function saysWhere(shown: Token[], host: string): boolean {
  if (!shown.every((token) => token.type === 'text' || token.type === 'text_special')) return false;
  const text = shown.map((token) => token.content).join('');
  if (/[\s\p{C}]/u.test(text)) return false;
  const address = text.toLowerCase().replace(/^(https?:\/\/|mailto:)/, '');
  return address.startsWith(host.toLowerCase()) && /^([/?#]|$)/.test(address.slice(host.length));
}

/** An attribute as text; markdown-it may also hold numbers (`start` of a list). */
function attribute(token: Token | undefined, name: string): string {
  return String(token?.attrGet(name) ?? '');
}

/** Words and switches of a renderer. */
export interface MarkdownWords {
  /** The tooltip of a link. */
  link: (host: string) => string;
  /** The label of the button on code blocks; without it they have none. */
  copy?: string;
  /** Code of a block as HTML, by the name of its language; without it code is in one colour. */
  code?: (code: string, language: string) => string;
  /** A formula as HTML; without it formulas are text. */
  math?: MathHtml;
  /** The picture of a diagram, as far as there is one; without it diagrams are code. */
  diagram?: DiagramWords;
}

export interface DiagramWords {
  of: (source: string) => Diagram;
  /** What a picture is called. */
  label: string;
  /** Above the code it was drawn from. */
  code: string;
  /** Beside code that could not be drawn. */
  failed: string;
}

function build({ link: linkNote, copy, code, math, diagram }: MarkdownWords): Renderer {
  const md = new MarkdownIt({ html: false, linkify: true, breaks: false, typographer: false });
  useTasks(md);
  if (math) useMath(md, math);
  const ours = (url: string) => copy !== undefined && PAGE.test(url);
  md.validateLink = (url: string) => LINK.test(url.trim()) || IMAGE.test(url.trim()) || ours(url.trim());

  md.renderer.rules['link_open'] = (tokens, index, options, _env, self) => {
    const token = tokens[index];
    if (!token) return '';
    const href = attribute(token, 'href');
    if (ours(href)) return self.renderToken(tokens, index, options);
    // A data: address passes validateLink for images only; as a link it leads nowhere.
    if (!LINK.test(href)) token.attrSet('href', '#');
    token.attrSet('target', '_blank');
    token.attrSet('rel', 'noopener noreferrer');
    token.attrSet('title', linkNote(linkHost(href)));
    return self.renderToken(tokens, index, options);
  };

  md.renderer.rules['link_close'] = (tokens, index, options, _env, self) => {
    const open = findOpen(tokens, index);
    const href = attribute(open, 'href');
    const host = LINK.test(href) ? linkHost(href) : '';
    const shown = tokens.slice(open ? tokens.indexOf(open) + 1 : index, index);
    // The target is shown beside the text unless the text already is the target.
    const note = host !== '' && !saysWhere(shown, host) ? ` <span class="link-host">(${md.utils.escapeHtml(host)})</span>` : '';
    return self.renderToken(tokens, index, options) + note;
  };

  md.renderer.rules['image'] = (tokens, index) => {
    const token = tokens[index];
    const src = attribute(token, 'src');
    const alt = md.utils.escapeHtml(token?.content ?? '');
    if (IMAGE.test(src)) return `<img src="${md.utils.escapeHtml(src)}" alt="${alt}">`;
    return `<span class="blocked-image">${alt === '' ? '▧' : `▧ ${alt}`}</span>`;
  };

  if (copy !== undefined) {
    const escape = (text: string) => md.utils.escapeHtml(text);
    md.renderer.rules['fence'] = (tokens, index, _options, env) => {
      const token = tokens[index];
      const info = (token?.info ?? '').trim().split(/\s+/)[0] ?? '';
      const text = token?.content ?? '';
      const drawn = diagram && info.toLowerCase() === 'mermaid' && env?.['open'] !== true ? diagram.of(text) : {};
      const failed = diagram && drawn.problem !== undefined ? ` <span class="not-drawn" title="${escape(drawn.problem)}">${escape(diagram.failed)}</span>` : '';
      const head = `<div class="code-head"><span>${escape(info)}${failed}</span><button type="button" data-copy>${escape(copy)}</button></div>`;
      const block = `<pre tabindex="0"><code>${code?.(text, info) ?? escape(text)}</code></pre>`;
      if (!diagram || drawn.url === undefined) return `<div class="code-block">${head}${block}</div>\n`;
      const picture = `<div class="drawing" tabindex="0"><img src="${escape(drawn.url)}" alt="${escape(diagram.label)}"></div>`;
      return `<div class="code-block">${head}${picture}<details><summary>${escape(diagram.code)}</summary>${block}</details></div>\n`;
    };
  }

  // Column alignment is a style attribute by default, which the page's CSP refuses.
  for (const cell of ['th_open', 'td_open']) {
    md.renderer.rules[cell] = (tokens, index, options, _env, self) => {
      const token = tokens[index];
      const align = /text-align:\s*(left|center|right)/.exec(attribute(token, 'style'))?.[1];
      if (token?.attrs) token.attrs = token.attrs.filter(([name]) => name !== 'style');
      if (align) token?.attrSet('class', `align-${align}`);
      return self.renderToken(tokens, index, options);
    };
  }
  return md;
}

function findOpen(tokens: Token[], close: number): Token | undefined {
  for (let index = close - 1; index >= 0; index -= 1) {
    if (tokens[index]?.type === 'link_open') return tokens[index];
  }
  return undefined;
}

/** One renderer per language's wording, without and with what code blocks of a chat have. */
const renderers = new Map<(host: string) => string, Renderer>();
const chatRenderers = new Map<(host: string) => string, { words: MarkdownWords; renderer: Renderer; whole: Renderer }>();

function rendererFor(words: MarkdownWords, whole = false): Renderer {
  if (words.copy === undefined) {
    const known = renderers.get(words.link) ?? build(words);
    renderers.set(words.link, known);
    return known;
  }
  const known = chatRenderers.get(words.link);
  if (known && known.words.copy === words.copy && known.words.code === words.code && known.words.math === words.math && known.words.diagram === words.diagram) return whole ? known.whole : known.renderer;
  // Notes belong to a text as a whole: while it grows block by block, they are text.
  const made = { words, renderer: build(words), whole: build(words).use(footnotes) };
  plainNotes(made.whole);
  chatRenderers.set(words.link, made);
  return whole ? made.whole : made.renderer;
}

/** Renders untrusted Markdown. `linkNote` words the tooltip of links. */
export function renderMarkdown(source: string, linkNote: (host: string) => string): string {
  return rendererFor({ link: linkNote }).render(source);
}

/** A link definition, which may give earlier text another meaning. */
const DEFINITION = /^ {0,3}\[[^\]\n]+\]:/mu;

/** Markdown that grows at its end. Blocks that are closed are parsed once; only the last one, which may still
    change its meaning, is parsed again. Those with code or formulas are rendered at each call: their colours and
    signs come later. */
export class GrowingMarkdown {
  readonly #words: MarkdownWords;
  #source = '';
  #blocks: (string | Token[])[] = [];
  #from = 0;
  #env: Record<string, unknown> = {};

  constructor(words: MarkdownWords) {
    this.#words = words;
  }

  /** The HTML of each block. `final`: nothing will follow. */
  update(source: string, final: boolean): string[] {
    if (!source.startsWith(this.#source)) this.#reset();
    this.#source = source;
    const md = rendererFor(this.#words);
    if (final && DEFINITION.test(source)) return [rendererFor(this.#words, true).render(source)];
    const tail = source.slice(this.#from);
    const tokens = md.parse(tail, this.#env);
    // Where each top-level block begins, by token and by line.
    const starts = tokens.flatMap((token, at) => (token.level === 0 && token.nesting !== -1 && token.map ? [{ at, line: token.map[0] }] : []));
    const last = starts.at(-1);
    const render = (block: Token[]) => md.renderer.render(block, md.options, this.#env);
    starts.slice(0, -1).forEach((start, index) => {
      const block = tokens.slice(start.at, starts[index + 1]?.at);
      this.#blocks.push(block.some(comesLater) ? block : render(block));
    });
    const closed = this.#blocks.map((block) => (typeof block === 'string' ? block : render(block)));
    if (!last) return closed;
    if (starts.length > 1) this.#from += lineOffset(tail, last.line);
    // A diagram is drawn when all of it is there.
    return [...closed, md.renderer.render(tokens.slice(last.at), md.options, { ...this.#env, open: !final })];
  }

  #reset(): void {
    this.#blocks = [];
    this.#from = 0;
    this.#env = {};
  }
}

/** Drawn better once something is loaded. */
function comesLater({ type, children }: Token): boolean {
  return type === 'fence' || type === 'math_block' || (children?.some((child) => child.type === 'math_inline') ?? false);
}

function lineOffset(text: string, line: number): number {
  let at = 0;
  for (let left = line; left > 0; left -= 1) {
    const next = text.indexOf('\n', at);
    if (next < 0) return text.length;
    at = next + 1;
  }
  return at;
}
