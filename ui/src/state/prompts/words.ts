// Words about a prompt that several surfaces use.

import { i18n } from '../../i18n/index.svelte';
import type { Answer, PromptItem } from './item';
import type { Issue } from './schema';

/** The asker's title, or one by kind. */
export function titleOf(item: PromptItem): string {
  const { titles } = i18n.t.prompts;
  if (item.title !== null) return item.title;
  if (item.problem || item.kind === null) return titles.problem;
  if (item.body.kind === 'choice' && item.body.url !== null) return titles.url;
  return titles[item.kind];
}

/** Who asks, by a name people know: a question an agent asks by itself is the agent's, not its tool's. Whoever else
    asks is named as it names itself. */
export function askerOf(item: Pick<PromptItem, 'source'>, agent: string | null): string {
  if (item.source === null) return i18n.t.prompts.header.noSource;
  return item.source.startsWith('ui_prompter/') ? (agent ?? i18n.t.chat.assistant) : item.source;
}

/** How it ended. What a person was to approve is approved or rejected, not answered or canceled. */
export function outcomeOf(item: PromptItem, answer: Answer): string {
  const words = i18n.t.prompts.answer;
  if (answer.declined) return words.declined;
  const approval = item.kind === 'task_confirm' || item.kind === 'file_change_confirm';
  if (!approval || !answer.by?.startsWith('person:')) return words.status[answer.status];
  if (answer.status === 'ok') return words.approved;
  return answer.status === 'canceled' ? words.rejected : words.status[answer.status];
}

/** Who gave the answer. */
export function whoAnswered(answer: Answer): string {
  const { by } = i18n.t.prompts;
  if (answer.by === null) return by.program;
  if (answer.by.startsWith('app:')) return by.app(answer.by.slice(4));
  const known = by.known as Record<string, string | undefined>;
  return known[answer.by] ?? answer.by;
}

/** An issue in words: the host's own, else ours for the code. */
export function issueText(issue: Issue): string {
  if (issue.message) return issue.message;
  const words = i18n.t.prompts.issues as Record<string, ((...args: (string | number)[]) => string) | undefined>;
  return words[issue.code]?.(...issue.args) ?? issue.code;
}
