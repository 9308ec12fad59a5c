// Words about a prompt that several surfaces use.

import { i18n } from '../../i18n/index.svelte';
import type { Card } from './card';
import { type Answer, type PromptItem, programName } from './item';
import type { Issue } from './schema';

/** What would be done, by what the host knows; else the asker's title, or one by kind. */
export function titleOf(item: PromptItem): string {
  const { titles } = i18n.t.prompts;
  // Another program, and an app that asks by itself, say themselves what it is about.
  const together = item.state === 'pending' ? item.card?.group : null;
  if (together) return item.card?.verb === 'run_command' ? i18n.t.prompts.card.titles.commands(together.of) : i18n.t.prompts.card.titles.files(together.of);
  const known = item.card && !item.client && item.card.app === null && cardTitle(item.card);
  if (known) return known;
  if (item.title !== null) return item.title;
  if (item.problem || item.kind === null) return titles.problem;
  if (item.body.kind === 'choice' && item.body.url !== null) return titles.url;
  return titles[item.kind];
}

/** Null: the question has a title of its own. */
function cardTitle({ verb, object, to, count, agent, server }: Card): string | null {
  const words = i18n.t.prompts.card.titles;
  switch (verb) {
    case 'run_command':
      return count > 1 ? words.commands(count) : words.command;
    case 'send_input':
      return object === '' ? words.input : words.inputTo(object);
    case 'create_file':
      return words.create(object);
    case 'edit_file':
      return words.edit(object);
    case 'delete_file':
      return words.delete(object);
    case 'move_file':
      return words.move(object, to);
    case 'change_files':
      return words.files(count);
    case 'use_tool':
      return words.tool(agent, object, server);
    case 'add_tasks':
      return words.tasks(count);
    case 'open_page':
      return words.page(object);
    default:
      return null;
  }
}

/** Who asks, by a name people know: another program with the project it works in; a question an agent asks by itself is
    the agent's, not its tool's. Whoever else asks is named as it names itself. */
export function askerOf(item: Pick<PromptItem, 'source' | 'client' | 'card'>, agent: string | null): string {
  if (item.client) return [programName(item.client), item.client.project].filter(Boolean).join(' · ');
  const { card } = item;
  if (card?.agent) {
    const tool = card.server === 'ui_prompter' ? null : card.tool;
    return [card.agent, card.subAgent, tool].filter((name) => name !== null).join(' ▸ ');
  }
  if (item.source === null) return i18n.t.prompts.header.noSource;
  return item.source.startsWith('ui_prompter/') ? (agent ?? i18n.t.chat.assistant) : item.source;
}

/** How it ended. What a person was to approve is approved or rejected, not answered or canceled. */
export function outcomeOf(item: PromptItem, answer: Answer): string {
  const words = i18n.t.prompts.answer;
  if (answer.stopped) return words.rejectedStopped;
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
