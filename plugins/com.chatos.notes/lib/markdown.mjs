// Markdown to DOM nodes: headings, paragraphs, lists with check boxes, quotes, code, rules, emphasis, links.
//
// It builds elements and never parses HTML, so a note can contain anything without running anything. Links open only
// http, https and mailto; pictures are shown as links, because a note must not fetch from the network when it is read.

import { h } from './dom.mjs';

export function renderMarkdown(text) {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const nodes = [];
  let at = 0;
  while (at < lines.length) {
    const [node, next] = block(lines, at);
    if (node) nodes.push(node);
    at = next;
  }
  return nodes;
}

/** One block starting at a line: its node (or none) and the line after it. */
function block(lines, at) {
  const line = lines[at];
  if (line.trim() === '') return [null, at + 1];
  const fence = /^\s*(`{3,}|~{3,})(.*)$/u.exec(line);
  if (fence) return codeBlock(lines, at, fence[1]);
  const heading = /^(#{1,6})\s+(.*?)\s*#*\s*$/u.exec(line);
  if (heading) return [h(`h${heading[1].length}`, {}, inline(heading[2])), at + 1];
  if (/^\s*([-*_])(\s*\1){2,}\s*$/u.test(line)) return [h('hr'), at + 1];
  if (/^\s*>/u.test(line)) return quote(lines, at);
  if (listItem(line)) return list(lines, at);
  return paragraph(lines, at);
}

function codeBlock(lines, at, marker) {
  const body = [];
  let next = at + 1;
  while (next < lines.length && !lines[next].trim().startsWith(marker)) {
    body.push(lines[next]);
    next += 1;
  }
  return [h('pre', {}, h('code', {}, body.join('\n'))), next + 1];
}

function quote(lines, at) {
  const inner = [];
  let next = at;
  while (next < lines.length && /^\s*>/u.test(lines[next])) {
    inner.push(lines[next].replace(/^\s*>\s?/u, ''));
    next += 1;
  }
  return [h('blockquote', {}, renderMarkdown(inner.join('\n'))), next];
}

function listItem(line) {
  const match = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/u.exec(line);
  return match && { indent: match[1].length, ordered: /\d/u.test(match[2]), text: match[3] };
}

function list(lines, at) {
  const first = listItem(lines[at]);
  const element = h(first.ordered ? 'ol' : 'ul');
  let next = at;
  while (next < lines.length) {
    const item = listItem(lines[next]);
    if (!item || item.indent < first.indent) break;
    if (item.indent > first.indent) {
      const [nested, after] = list(lines, next);
      (element.lastElementChild ?? element).append(nested);
      next = after;
    } else {
      element.append(listEntry(item.text));
      next += 1;
    }
  }
  return [element, next];
}

function listEntry(text) {
  const box = /^\[([ xX])\]\s+(.*)$/u.exec(text);
  if (!box) return h('li', {}, inline(text));
  const done = box[1] !== ' ';
  return h('li', { class: 'check' }, h('input', { type: 'checkbox', disabled: true, checked: done }), ' ', inline(box[2]));
}

function paragraph(lines, at) {
  const text = [lines[at].trim()];
  let next = at + 1;
  while (next < lines.length && lines[next].trim() !== '' && !startsBlock(lines[next])) {
    text.push(lines[next].trim());
    next += 1;
  }
  return [h('p', {}, inline(text.join('\n'))), next];
}

function startsBlock(line) {
  return /^\s*(`{3,}|~{3,}|>|#{1,6}\s)/u.test(line) || Boolean(listItem(line));
}

// Longest first: code wins over everything in it, pictures over links, strong over emphasis.
const INLINE =
  /(`+)(?<code>[^`]|[^`][\s\S]*?[^`])\1(?!`)|(?<picture>!?)\[(?<label>[^\]]*)\]\((?<target>[^()\s]+)\)|(\*\*|__)(?<strong>\S[\s\S]*?)\6|(?<![\p{L}\p{N}])([*_])(?<em>\S[^*_]*?)\8(?![\p{L}\p{N}])|~~(?<gone>[^~]+)~~|(?<bare>https?:\/\/[^\s<>()]+)/gu;

/** Text with emphasis, code and links, as nodes. */
function inline(text) {
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    if (match.index > end) nodes.push(text.slice(end, match.index));
    end = match.index + match[0].length;
    const { code, label, target, strong, em, gone, bare } = match.groups;
    if (code !== undefined) nodes.push(h('code', {}, code));
    else if (target !== undefined) nodes.push(link(target, label || target));
    else if (strong !== undefined) nodes.push(h('strong', {}, inline(strong)));
    else if (em !== undefined) nodes.push(h('em', {}, inline(em)));
    else if (gone !== undefined) nodes.push(h('del', {}, inline(gone)));
    else nodes.push(link(bare, bare));
  }
  if (end < text.length) nodes.push(text.slice(end));
  return nodes;
}

function link(target, label) {
  const allowed = /^(https?:\/\/|mailto:)/iu.test(target);
  if (!allowed) return h('span', { title: target }, label);
  return h('a', { href: target, target: '_blank', rel: 'noopener noreferrer', title: target }, label);
}
