// Form schemas of MCP elicitations (ui-prompts §10.1): which input a field gets, and whether a text
// fits it. Answers stay strings; the host turns them into values with the same rules.

import type { WireObject } from '../../protocol';
import type { KvField } from './item';

export interface SchemaOption {
  value: string;
  label: string;
}

export type Control =
  | { type: 'text'; input: 'text' | 'email' | 'url'; multiline: boolean; minLength: number | null; maxLength: number | null }
  | { type: 'secret'; multiline: boolean }
  | { type: 'number'; integer: boolean; min: number | null; max: number | null }
  | { type: 'date' }
  | { type: 'date-time' }
  | { type: 'switch' }
  | { type: 'select'; options: SchemaOption[] }
  | { type: 'multi'; options: SchemaOption[]; min: number; max: number };

export type Schema = Record<string, Control>;

/** What is wrong with one part of an answer: a code with its numbers, or the host's own words. */
export interface Issue {
  /** JSON pointer, as the host writes it: `/response/values/<key>`. */
  path: string;
  code: string;
  args: (string | number)[];
  message?: string;
}

export function readSchema(value: unknown): Schema | null {
  const properties = record(record(value)?.['properties']);
  if (!properties) return null;
  const schema: Schema = {};
  for (const [key, property] of Object.entries(properties)) {
    const control = readControl(record(property) ?? {});
    if (control) schema[key] = control;
  }
  return schema;
}

function readControl(property: WireObject): Control | null {
  switch (property['type']) {
    case 'string':
      return readText(property);
    case 'number':
    case 'integer':
      return { type: 'number', integer: property['type'] === 'integer', min: num(property['minimum']), max: num(property['maximum']) };
    case 'boolean':
      return { type: 'switch' };
    case 'array': {
      const options = readOptions(record(property['items']) ?? {});
      if (!options) return null;
      return { type: 'multi', options, min: num(property['minItems']) ?? 0, max: num(property['maxItems']) ?? options.length };
    }
    default:
      return null;
  }
}

function readText(property: WireObject): Control {
  const options = readOptions(property);
  if (options) return { type: 'select', options };
  const { format } = property;
  if (format === 'date') return { type: 'date' };
  if (format === 'date-time') return { type: 'date-time' };
  const input = format === 'email' ? 'email' : format === 'uri' ? 'url' : 'text';
  return { type: 'text', input, multiline: false, minLength: num(property['minLength']), maxLength: num(property['maxLength']) };
}

function readOptions(from: WireObject): SchemaOption[] | null {
  const { enum: values, enumNames: names } = from;
  if (Array.isArray(values)) {
    return values
      .map((value, index) => {
        const name: unknown = Array.isArray(names) ? names[index] : undefined;
        return { value: String(value), label: typeof name === 'string' && name !== '' ? name : String(value) };
      });
  }
  const titled = from['oneOf'] ?? from['anyOf'];
  if (!Array.isArray(titled)) return null;
  return titled
    .map((entry) => record(entry) ?? {})
    .filter((entry) => typeof entry['const'] === 'string')
    .map((entry) => ({ value: String(entry['const']), label: typeof entry['title'] === 'string' ? entry['title'] : String(entry['const']) }));
}

/** The input of a field: the schema's where there is one; secret wins over everything. */
export function controlOf(field: KvField, schema: Schema | null): Control {
  if (field.secret) return { type: 'secret', multiline: field.multiline };
  const known = schema?.[field.key];
  if (known) return known.type === 'text' ? { ...known, multiline: field.multiline } : known;
  return { type: 'text', input: 'text', multiline: field.multiline, minLength: null, maxLength: null };
}

/** The text a control starts with, so that what is seen is what is sent. */
export function initialText(field: KvField, control: Control): string {
  switch (control.type) {
    case 'switch':
      return isTrue(field.default) ? 'true' : 'false';
    case 'multi':
      return JSON.stringify(chosenOf(field.default).filter((value) => control.options.some((option) => option.value === value)));
    case 'select':
      return control.options.some((option) => option.value === field.default) ? field.default : '';
    default:
      return field.default;
  }
}

/** True when the person put nothing in. */
export function isEmpty(control: Control, text: string): boolean {
  return control.type === 'multi' ? chosenOf(text).length === 0 : text.trim() === '';
}

/** Why a text does not fit its control, without its path; null when it does. */
export function checkText(control: Control, text: string, required: boolean): { code: string; args: (string | number)[] } | null {
  if (isEmpty(control, text)) return required ? { code: 'required_missing', args: [] } : null;
  switch (control.type) {
    case 'text':
      return checkPlain(control, text);
    case 'number':
      return checkNumber(control, text.trim());
    case 'date':
      return isDate(text) ? null : { code: 'value_date', args: [] };
    case 'date-time':
      return isDateTime(text) ? null : { code: 'value_date_time', args: [] };
    case 'multi': {
      const count = chosenOf(text).length;
      if (count < control.min) return { code: 'too_few', args: [control.min, count] };
      return count > control.max ? { code: 'too_many', args: [control.max, count] } : null;
    }
    default:
      return null;
  }
}

function checkPlain(control: Extract<Control, { type: 'text' }>, text: string): { code: string; args: number[] } | null {
  const length = [...text].length;
  if (control.minLength !== null && length < control.minLength) return { code: 'value_short', args: [control.minLength, length] };
  if (control.maxLength !== null && length > control.maxLength) return { code: 'value_long', args: [control.maxLength, length] };
  if (control.input === 'email' && !isEmail(text)) return { code: 'value_email', args: [] };
  if (control.input === 'url' && !isUri(text)) return { code: 'value_uri', args: [] };
  return null;
}

function checkNumber(control: Extract<Control, { type: 'number' }>, text: string): { code: string; args: number[] } | null {
  const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(value)) return { code: control.integer ? 'value_integer' : 'value_number', args: [] };
  if (control.integer && !Number.isInteger(value)) return { code: 'value_integer', args: [] };
  if (control.min !== null && value < control.min) return { code: 'value_min', args: [control.min] };
  if (control.max !== null && value > control.max) return { code: 'value_max', args: [control.max] };
  return null;
}

/** The values of a multi-select, which travels as a JSON array in a string; a comma list is understood. */
export function chosenOf(text: string): string[] {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return value.filter((entry) => typeof entry === 'string');
  } catch {
    // A comma list, as an asker may write its default.
  }
  return text.split(',').map((part) => part.trim()).filter((part) => part !== '');
}

export function isTrue(text: string): boolean {
  return ['true', 'yes', 'on', '1'].includes(text.trim().toLowerCase());
}

/** What `<input type="datetime-local">` shows for an ISO moment: local time without a zone. */
export function toLocalInput(moment: string): string {
  const date = new Date(moment);
  if (Number.isNaN(date.getTime())) return '';
  const pad = (value: number) => String(value).padStart(2, '0');
  const day = `${String(date.getFullYear()).padStart(4, '0')}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  const seconds = date.getSeconds() === 0 ? '' : `:${pad(date.getSeconds())}`;
  return `${day}T${pad(date.getHours())}:${pad(date.getMinutes())}${seconds}`;
}

/** The other way: the moment in UTC, as the host wants it. */
export function fromLocalInput(text: string): string {
  const date = new Date(text);
  return text === '' || Number.isNaN(date.getTime()) ? '' : date.toISOString().replace(/\.000Z$/, 'Z');
}

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (!match) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

function isDateTime(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(text) && !Number.isNaN(Date.parse(text));
}

function isEmail(text: string): boolean {
  return /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(text) && !/@\.|\.\.|\.$/.test(text.slice(text.lastIndexOf('@')));
}

function isUri(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:[^\s\p{Cc}]+$/iu.test(text);
}

function record(value: unknown): WireObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as WireObject) : null;
}

function num(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
