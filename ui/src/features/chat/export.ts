// A chat as one HTML page to show and print: what the chat shows, in the versions that are chosen, without script and
// with nothing to load. It is made from the JSON file of the host, from which secrets were taken out (security T15);
// Markdown and JSON are made by the host alone.

import { renderMarkdown } from '../../components/markdown';
import type { AttachmentView, MessageView } from '../../protocol/wire';

export interface ExportOptions {
  /** With calls of tools and their results. */
  tools: boolean;
}

/** Words of the file, in the language of the page. */
export interface ExportWords {
  untitled: string;
  you: string;
  assistant: string;
  note: string;
  file: string;
  result: string;
  language: string;
  moment: (iso: string) => string;
  link: (host: string) => string;
}

export interface Exported {
  name: string;
  mime: string;
  text: string;
}

interface Source {
  /** The chat as the host's JSON file has it, `chatos-chat/1`. */
  json: string;
  /** The bytes of a picture as a `data:` address; null when they cannot be had. */
  picture: (file: AttachmentView) => Promise<string | null>;
}

const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

export async function exportChat(source: Source, options: ExportOptions, words: ExportWords): Promise<Exported> {
  const { session, messages } = JSON.parse(source.json) as { session: { title: string }; messages: MessageView[] };
  const title = session.title.trim() || words.untitled;
  return { name: `${fileName(title)}.html`, mime: 'text/html', text: await html(messages, source.picture, title, options, words) };
}

/** A name every system takes. */
export function fileName(title: string): string {
  const plain = title.replaceAll(/[\p{C}\\/:*?"<>|]+/gu, ' ').replaceAll(/\s+/gu, ' ').trim().replace(/^\.+|\.+$/gu, '');
  return [...plain].slice(0, 80).join('').trim() || 'chat';
}

/** What one message shows: who speaks, what is said, what was called. */
const shown = (messages: MessageView[], { tools }: ExportOptions) => messages.filter(({ role, content, attachments, toolCalls }) => (role === 'tool' ? tools : content !== '' || (attachments?.length ?? 0) > 0 || (tools && (toolCalls?.length ?? 0) > 0)));

const speaker = ({ role }: MessageView, words: ExportWords) => (role === 'user' ? words.you : role === 'assistant' ? words.assistant : words.note);

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.6 system-ui, sans-serif; }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
article { margin: 1.5rem 0; overflow-wrap: anywhere; }
.user > div { padding: .6rem .9rem; border-radius: 12px; background: #8882; white-space: pre-wrap; }
header, .tool { color: #777; font-size: .85rem; }
pre { padding: .75rem; border-radius: 8px; background: #8881; overflow-x: auto; white-space: pre-wrap; font-size: .85rem; }
img { max-width: 100%; } table { border-collapse: collapse; } td, th { padding: .25rem .5rem; border: 1px solid #8886; }
.align-center { text-align: center; } .align-right { text-align: right; }
@media print { body { margin: 0; max-width: none; } article, pre { break-inside: avoid-page; } }`;

async function html(messages: MessageView[], picture: Source['picture'], title: string, options: ExportOptions, words: ExportWords): Promise<string> {
  const parts: string[] = [];
  for (const message of shown(messages, options)) {
    if (message.role === 'tool') {
      parts.push(`<article><p class="tool">${escape(`${words.result}: ${message.tool ?? message.toolName ?? ''}`)}</p><pre>${escape(message.content)}</pre></article>`);
      continue;
    }
    const files: string[] = [];
    for (const file of message.attachments ?? []) {
      const url = file.mime.startsWith('image/') ? await picture(file) : null;
      files.push(url === null ? `<p class="tool">${escape(`${words.file}: ${file.name}`)}</p>` : `<img src="${escape(url)}" alt="${escape(file.name)}">`);
    }
    const text = message.role === 'assistant' ? renderMarkdown(message.content, words.link) : message.content === '' ? '' : `<div>${escape(message.content)}</div>`;
    const calls = options.tools ? (message.toolCalls ?? []).map((call) => `<p class="tool">${escape(`${call.server} · ${call.tool || call.name}`)}</p><pre>${escape(call.args)}</pre>`) : [];
    parts.push(`<article class="${message.role}"><header>${escape(`${speaker(message, words)} · ${words.moment(message.createdAt)}`)}</header>${files.join('')}${text}${calls.join('')}</article>`);
  }
  const policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'";
  return `<!doctype html>\n<html lang="${escape(words.language)}">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width">\n<meta http-equiv="Content-Security-Policy" content="${policy}">\n<title>${escape(title)}</title>\n<style>${STYLE}\n</style>\n</head>\n<body>\n<h1>${escape(title)}</h1>\n${parts.join('\n')}\n</body>\n</html>\n`;
}
