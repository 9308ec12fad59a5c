// What is wrong with arguments, said at the field it is about.

import { toolWords } from '../../../i18n/tools';
import type { ToolIssue } from '../../../protocol/tools';
import type { ArgumentIssue } from '../../../state/tools/arguments';
import type { ToolField } from '../../../state/tools/fields';

export interface IssueText {
  path: string;
  text: string;
}

/** The page's own issues; when it has none, those of the tool. */
export function issueTexts(own: ArgumentIssue[], refused: ToolIssue[]): IssueText[] {
  const t = toolWords.t.issues;
  if (own.length === 0) return refused.map(({ path, message, hint }) => ({ path, text: hint ? `${message} (${hint})` : message }));
  return own.map(({ path, code, limit }) => ({ path, text: code === 'min' || code === 'max' ? t[code](limit ?? 0) : t[code] }));
}

export function issueAt(issues: IssueText[], path: string, deep: boolean): string | null {
  return issues.find((issue) => issue.path === path || (deep && issue.path.startsWith(`${path}/`)))?.text ?? null;
}

/** Issues about something the form has no field for. */
export function looseIssues(fields: ToolField[], issues: IssueText[]): IssueText[] {
  return issues.filter((issue) => !fields.some((field) => issue.path === field.path || issue.path.startsWith(`${field.path}/`)));
}
