// What a person put into the form of a tool, and the arguments that makes; and the other way round.

import type { JsonValue } from '../../protocol';
import type { JsonObject } from '../../protocol/tools';
import { asObject, type ToolField } from './fields';

/** Everything typed stays text until it is sent, so that a wrong value can be shown and explained. */
export type DraftValue = string | string[] | Draft | Draft[];
export interface Draft {
  [key: string]: DraftValue;
}

export interface ArgumentIssue {
  path: string;
  code: 'required' | 'integer' | 'number' | 'min' | 'max' | 'json';
  limit?: number;
}

export function emptyDraft(fields: ToolField[]): Draft {
  return Object.fromEntries(fields.map((field) => [field.key, emptyValue(field)]));
}

function emptyValue(field: ToolField): DraftValue {
  if (field.kind === 'group') return emptyDraft(field.fields);
  if (field.kind === 'rows') return field.required ? [emptyDraft(field.fields)] : [];
  return field.kind === 'options' ? [] : '';
}

/** The arguments, and what is wrong with them. Optional fields left empty are left out. */
export function toArguments(fields: ToolField[], draft: Draft): { value: JsonObject; issues: ArgumentIssue[] } {
  const issues: ArgumentIssue[] = [];
  return { value: objectOf(fields, draft, '', issues), issues };
}

function objectOf(fields: ToolField[], draft: Draft, at: string, issues: ArgumentIssue[]): JsonObject {
  const value: JsonObject = {};
  for (const field of fields) {
    const own = valueOf(field, draft[field.key] ?? emptyValue(field), at, issues);
    if (own !== undefined) value[field.key] = own;
  }
  return value;
}

function valueOf(field: ToolField, draft: DraftValue, at: string, issues: ArgumentIssue[]): JsonValue | undefined {
  const path = at + field.path;
  const missing = (): undefined => {
    if (field.required) issues.push({ path, code: 'required' });
    return undefined;
  };
  switch (field.kind) {
    case 'group': {
      const inner = draft as Draft;
      return !field.required && isEmpty(inner) ? undefined : objectOf(field.fields, inner, at, issues);
    }
    case 'rows': {
      const rows = draft as Draft[];
      if (rows.length === 0) return missing();
      return rows.map((row, index) => objectOf(field.fields, row, `${path}/${index}`, issues));
    }
    case 'options': {
      const chosen = draft as string[];
      return chosen.length === 0 ? missing() : chosen.map((text) => JSON.parse(text) as JsonValue);
    }
    case 'lines': {
      const lines = (draft as string).split('\n').filter((line) => line.trim() !== '');
      if (lines.length === 0) return missing();
      return lines.map((line) => (field.lineKind === 'text' ? line : numberOf(field, line, field.lineKind, path, issues)));
    }
    case 'text':
    case 'long':
      if (draft === '') return field.required && field.minLength === 0 ? '' : missing();
      return draft as string;
    default:
      return draft === '' ? missing() : scalarOf(field, draft as string, path, issues);
  }
}

function scalarOf(field: ToolField, text: string, path: string, issues: ArgumentIssue[]): JsonValue {
  if (field.kind === 'integer' || field.kind === 'number') return numberOf(field, text, field.kind, path, issues);
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // Said at the field; nothing is sent meanwhile.
    issues.push({ path, code: 'json' });
    return null;
  }
}

function numberOf(field: ToolField, text: string, kind: 'integer' | 'number', path: string, issues: ArgumentIssue[]): number {
  const trimmed = text.trim();
  const value = Number(trimmed);
  const good = kind === 'integer' ? /^[+-]?\d+$/.test(trimmed) && Number.isSafeInteger(value) : trimmed !== '' && Number.isFinite(value);
  if (!good) issues.push({ path, code: kind });
  else if (field.min !== null && value < field.min) issues.push({ path, code: 'min', limit: field.min });
  else if (field.max !== null && value > field.max) issues.push({ path, code: 'max', limit: field.max });
  return value;
}

function isEmpty(value: DraftValue): boolean {
  if (typeof value === 'string') return value === '';
  return Array.isArray(value) ? value.length === 0 : Object.values(value).every(isEmpty);
}

/** The form for these arguments; null when a form cannot hold them. */
export function fromArguments(fields: ToolField[], value: JsonObject): Draft | null {
  if (Object.keys(value).some((key) => !fields.some((field) => field.key === key))) return null;
  const draft = emptyDraft(fields);
  for (const field of fields) {
    const own = value[field.key];
    if (own === undefined || own === null) continue;
    const read = draftOf(field, own);
    if (read === null) return null;
    draft[field.key] = read;
  }
  return draft;
}

function draftOf(field: ToolField, value: JsonValue): DraftValue | null {
  switch (field.kind) {
    case 'text':
    case 'long':
      return typeof value === 'string' ? value : null;
    case 'integer':
    case 'number':
      return typeof value === 'number' ? String(value) : null;
    case 'boolean':
      return typeof value === 'boolean' ? String(value) : null;
    case 'option':
      return field.options.includes(value) ? JSON.stringify(value) : null;
    case 'options':
      return Array.isArray(value) && value.every((item) => field.options.includes(item)) ? value.map((item) => JSON.stringify(item)) : null;
    case 'lines': {
      const fits = (item: JsonValue) => (field.lineKind === 'text' ? typeof item === 'string' && item.trim() !== '' && !item.includes('\n') : typeof item === 'number');
      return Array.isArray(value) && value.every(fits) ? value.join('\n') : null;
    }
    case 'group': {
      const inner = asObject(value);
      return inner && fromArguments(field.fields, inner);
    }
    case 'rows': {
      if (!Array.isArray(value)) return null;
      const rows = value.map((item) => fromArguments(field.fields, asObject(item) ?? { '': null }));
      return rows.every((row) => row !== null) ? rows : null;
    }
    case 'json':
      return JSON.stringify(value, null, 2);
  }
}
