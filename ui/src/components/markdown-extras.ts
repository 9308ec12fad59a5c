// What chats write beyond plain Markdown: formulas, task lists and footnotes, as rules of markdown-it. All of it ends
// as text or as our own elements; no rule lets through what the renderer refuses.

import type { MarkdownIt as Renderer, Token } from 'markdown-it';

/** HTML of a formula. */
export type MathHtml = (tex: string, display: boolean) => string;

/** `$x$`, `$$x$$`, `\(x\)` and `\[x\]`. A dollar before a space or a digit is money. */
export function useMath(md: Renderer, html: MathHtml): void {
  md.inline.ruler.before('escape', 'math_inline', (state, silent) => {
    const found = inlineMath(state.src, state.pos);
    if (!found) return false;
    if (!silent) {
      const token = state.push('math_inline', 'math', 0);
      token.content = found.tex;
      token.markup = found.display ? '$$' : '$';
    }
    state.pos = found.end;
    return true;
  });
  md.block.ruler.before(
    'fence',
    'math_block',
    (state, from, to, silent) => {
      const line = (at: number) => state.src.slice((state.bMarks[at] ?? 0) + (state.tShift[at] ?? 0), state.eMarks[at]);
      const first = line(from).trimEnd();
      const open = ['$$', '\\['].find((mark) => first.startsWith(mark));
      if (!open) return false;
      const close = open === '$$' ? '$$' : '\\]';
      const rest = first.slice(2);
      if (rest.includes(close) && !rest.trimEnd().endsWith(close)) return false;
      let last = from;
      let tex = rest;
      while (!tex.trimEnd().endsWith(close)) {
        last += 1;
        // An end that has not come yet: while it is written, it is text.
        if (last >= to) return false;
        tex += `\n${line(last)}`;
      }
      if (silent) return true;
      const token = state.push('math_block', 'math', 0);
      token.block = true;
      token.content = tex.trimEnd().slice(0, -2).trim();
      token.map = [from, last + 1];
      state.line = last + 1;
      return true;
    },
    { alt: ['paragraph', 'reference', 'blockquote', 'list'] },
  );
  md.renderer.rules['math_inline'] = (tokens, index) => html(tokens[index]?.content ?? '', tokens[index]?.markup === '$$');
  md.renderer.rules['math_block'] = (tokens, index) => `<div class="math-block" tabindex="0">${html(tokens[index]?.content ?? '', true)}</div>\n`;
}

function inlineMath(src: string, at: number): { tex: string; end: number; display: boolean } | null {
  if (src.startsWith('\\(', at) || src.startsWith('\\[', at)) {
    const end = src.indexOf(src[at + 1] === '(' ? '\\)' : '\\]', at + 2);
    return end > at + 2 ? { tex: src.slice(at + 2, end), end: end + 2, display: src[at + 1] === '[' } : null;
  }
  if (src[at] !== '$') return null;
  if (src[at + 1] === '$') {
    const end = src.indexOf('$$', at + 2);
    return end > at + 2 ? { tex: src.slice(at + 2, end), end: end + 2, display: true } : null;
  }
  if (!/\S/u.test(src[at + 1] ?? '')) return null;
  for (let end = src.indexOf('$', at + 1); end > 0; end = src.indexOf('$', end + 1)) {
    const tex = src.slice(at + 1, end);
    if (tex.includes('\n')) return null;
    if (src[end - 1] === '\\') continue;
    return /\s$/u.test(tex) || /\d/u.test(src[end + 1] ?? '') ? null : { tex, end: end + 1, display: false };
  }
  return null;
}

/** `- [ ]` and `- [x]`. The boxes are drawn, not pressed: what a model wrote is not a form. */
export function useTasks(md: Renderer): void {
  md.core.ruler.after('inline', 'tasks', (state) => {
    state.tokens.forEach((token, at) => {
      const [item, paragraph] = [state.tokens[at - 2], state.tokens[at - 1]];
      const text = token.children?.[0];
      if (token.type !== 'inline' || paragraph?.type !== 'paragraph_open' || item?.type !== 'list_item_open' || text?.type !== 'text') return;
      const found = /^\[([ xX])\]\s+/u.exec(text.content);
      if (!found) return;
      item.attrJoin('class', 'task');
      text.content = text.content.slice(found[0].length);
      const box = new state.Token('task_box', '', 0);
      box.content = found[1] === ' ' ? '☐' : '☑';
      token.children?.unshift(box);
    });
  });
  md.renderer.rules['task_box'] = (tokens, index) => `<span class="task-box">${tokens[index]?.content ?? ''}</span> `;
}

/** Notes have numbers and no links: an address with a hash belongs to the page. */
export function plainNotes(md: Renderer): void {
  const number = (token: Token | undefined) => Number((token?.meta as { id?: number } | null)?.id ?? 0) + 1;
  md.renderer.rules['footnote_ref'] = (tokens, index) => `<sup class="note-ref">[${number(tokens[index])}]</sup>`;
  md.renderer.rules['footnote_block_open'] = () => '<section class="notes"><ol>\n';
  md.renderer.rules['footnote_open'] = () => '<li>';
  md.renderer.rules['footnote_anchor'] = () => '';
}
