// What `/` and `@` in the composer mean: where a list opens, how it is filtered, and the message a typed command becomes.

import type { ChatApi } from '../../api/chat';
import type { Attachment, CommandView } from '../../protocol/wire';

/** Whose commands and files: a chat, or the agent of one that does not exist yet. */
export interface Where {
  session?: string;
  agent?: string;
}

/** A list that is wanted: of commands or of files, for what stands from `from` up to the cursor. */
export interface Wanted {
  kind: 'command' | 'file';
  from: number;
  query: string;
}

/** The list for what stands before the cursor: commands at the very beginning, files behind an `@` that begins a word. */
export function wantedAt(text: string, cursor: number): Wanted | null {
  const before = text.slice(0, cursor);
  const command = /^\/([^\s/]\S*)?$/u.exec(before);
  if (command) return { kind: 'command', from: 0, query: command[1] ?? '' };
  const file = /(?:^|[\s(])@([^\s@]*)$/u.exec(before);
  if (file) return { kind: 'file', from: cursor - (file[1] ?? '').length - 1, query: file[1] ?? '' };
  return null;
}

/** The commands that fit what was typed: names that begin with it, names that have it, then texts that do. */
export function matching(all: readonly CommandView[], query: string): CommandView[] {
  const wanted = query.toLowerCase();
  if (wanted === '') return [...all];
  const rank = (item: CommandView): number => {
    const name = item.name.toLowerCase();
    if (name === wanted) return 0;
    if (name.startsWith(wanted)) return 1;
    if (name.includes(wanted) || item.key.toLowerCase().includes(wanted)) return 2;
    return item.title.toLowerCase().includes(wanted) || item.description.toLowerCase().includes(wanted) ? 3 : 4;
  };
  return all
    .map((item, at) => ({ item, at, rank: rank(item) }))
    .filter((one) => one.rank < 4)
    .sort((a, b) => a.rank - b.rank || a.at - b.at)
    .map((one) => one.item);
}

/** A file of the workspace that is not there any more. */
export class Gone extends Error {
  constructor(readonly path: string) {
    super(path);
  }
}

export interface Expanded {
  text: string;
  files: Attachment[];
  notices: string[];
  /** The model that answers this one message. */
  answerBy?: string;
}

/** The message: a command's text, `//` as one `/`, and the chosen files as they are now. Nothing is sent. */
export async function expand(api: ChatApi, where: Where, text: string, mentions: readonly string[], form?: Record<string, string>): Promise<Expanded> {
  if (text.startsWith('//')) return { ...(await read(api, where, text.slice(1), mentions)), notices: [] };
  if (!text.startsWith('/')) return { ...(await read(api, where, text, mentions)), notices: [] };
  const chosen = (await read(api, where, text, mentions)).files;
  const filled = await api.fill({ ...where, text, ...(form ? { arguments: form } : {}) });
  const named = filled.mentions.length === 0 ? [] : (await api.readMentions({ ...where, paths: filled.mentions })).files;
  const files = [...chosen, ...(filled.files ?? []), ...named.filter((file) => !chosen.some((other) => other.name === file.name))];
  return { text: filled.text, files, notices: filled.notices, ...(filled.answerBy ? { answerBy: filled.answerBy } : {}) };
}

async function read(api: ChatApi, where: Where, text: string, mentions: readonly string[]): Promise<{ text: string; files: Attachment[] }> {
  const paths = mentions.filter((path) => text.includes(`@${path}`));
  if (paths.length === 0) return { text, files: [] };
  const { files, missing } = await api.readMentions({ ...where, paths });
  if (missing[0] !== undefined) throw new Gone(missing[0]);
  return { text, files };
}
