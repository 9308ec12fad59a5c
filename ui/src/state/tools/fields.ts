// A tool's input schema as fields of a form. What a form cannot ask for sensibly is asked for as JSON.

import type { JsonValue } from '../../protocol';
import type { JsonObject } from '../../protocol/tools';

export type FieldKind =
  | 'text'
  | 'long'
  | 'integer'
  | 'number'
  | 'boolean'
  /** One of several. */
  | 'option'
  /** Any of several. */
  | 'options'
  /** Texts or numbers, one per line. */
  | 'lines'
  | 'group'
  /** Groups, as many as wanted. */
  | 'rows'
  | 'json';

export interface ToolField {
  key: string;
  /** JSON pointer of its place, as the host names it in issues; rows have their index after it. */
  path: string;
  label: string;
  description: string;
  required: boolean;
  kind: FieldKind;
  options: JsonValue[];
  /** Of `lines`: what each line is. */
  lineKind: 'text' | 'integer' | 'number';
  fields: ToolField[];
  min: number | null;
  max: number | null;
  minLength: number;
  default: JsonValue | undefined;
}

/** Groups within groups deeper than this are JSON. */
const MAX_DEPTH = 3;
const LONG = /content|text|patch|diff|body|message|summary|details|command|script|stdin|input|markdown|instructions|prompt/i;

export function readFields(schema: JsonObject | null | undefined): ToolField[] {
  return schema ? propertiesOf(schema, schema, '', 0) : [];
}

function propertiesOf(schema: JsonObject, root: JsonObject, path: string, depth: number): ToolField[] {
  const required = asList(schema['required']);
  return Object.entries(asObject(schema['properties']) ?? {}).map(([key, value]) => {
    const own = simplify(asObject(value) ?? {}, root);
    return fieldOf(key, own, root, `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, required.includes(key), depth);
  });
}

function fieldOf(key: string, schema: JsonObject, root: JsonObject, path: string, required: boolean, depth: number): ToolField {
  const field: ToolField = {
    key,
    path,
    label: asText(schema['title']) ?? key,
    description: asText(schema['description']) ?? '',
    required,
    kind: 'json',
    options: [],
    lineKind: 'text',
    fields: [],
    min: asNumber(schema['minimum']),
    max: asNumber(schema['maximum']),
    minLength: asNumber(schema['minLength']) ?? 0,
    default: schema['default'],
  };
  const options = optionsOf(schema);
  if (options.length > 0) return { ...field, kind: 'option', options };
  switch (schema['type']) {
    case 'string':
      return { ...field, kind: LONG.test(key) ? 'long' : 'text' };
    case 'integer':
    case 'number':
    case 'boolean':
      return { ...field, kind: schema['type'] };
    case 'object': {
      const fields = depth < MAX_DEPTH ? propertiesOf(schema, root, path, depth + 1) : [];
      return fields.length > 0 ? { ...field, kind: 'group', fields } : field;
    }
    case 'array': {
      const items = simplify(asObject(schema['items']) ?? {}, root);
      const choices = optionsOf(items);
      if (choices.length > 0) return { ...field, kind: 'options', options: choices };
      if (items['type'] === 'string') return { ...field, kind: 'lines' };
      if (items['type'] === 'integer' || items['type'] === 'number') return { ...field, kind: 'lines', lineKind: items['type'] };
      if (items['type'] !== 'object' || depth >= MAX_DEPTH) return field;
      const fields = propertiesOf(items, root, '', depth + 1);
      return fields.length > 0 ? { ...field, kind: 'rows', fields } : field;
    }
    default:
      return field;
  }
}

/** Follows a reference into the same document, and takes “or null” away: leaving it out says the same. */
function simplify(schema: JsonObject, root: JsonObject, left = 8): JsonObject {
  if (left === 0) return {};
  const target = asText(schema['$ref'])?.startsWith('#/') ? follow(root, asText(schema['$ref']) ?? '') : null;
  if (target) return simplify({ ...target, ...without(schema, '$ref') }, root, left - 1);
  const type = schema['type'];
  if (Array.isArray(type)) {
    const rest = type.filter((name) => name !== 'null');
    const only = rest.length === 1 ? rest[0] : undefined;
    return only === undefined ? without(schema, 'type') : { ...schema, type: only };
  }
  for (const word of ['anyOf', 'oneOf', 'allOf']) {
    const branches = asList(schema[word]).map(asObject).filter((branch) => branch !== null);
    if (branches.length === 0) continue;
    const rest = branches.map((branch) => simplify(branch, root, left - 1)).filter((branch) => branch['type'] !== 'null');
    // A list or an object that may also be given as its JSON text is asked for as what it is.
    const shaped = rest.filter((branch) => branch['type'] !== 'string');
    const structured = shaped.length === 1 && (shaped[0]?.['type'] === 'array' || shaped[0]?.['type'] === 'object');
    const only = structured ? shaped[0] : rest.length === 1 ? rest[0] : undefined;
    if (only) return simplify({ ...only, ...without(schema, word) }, root, left - 1);
    const choices = rest.flatMap(optionsOf);
    if (choices.length > 0 && rest.every((branch) => optionsOf(branch).length > 0)) return { ...without(schema, word), enum: choices };
  }
  return schema;
}

function optionsOf(schema: JsonObject): JsonValue[] {
  if (schema['const'] !== undefined) return [schema['const']];
  return asList(schema['enum']).filter((value) => value !== null && typeof value !== 'object');
}

function follow(root: JsonObject, ref: string): JsonObject | null {
  let at: JsonValue | undefined = root;
  for (const part of ref.slice(2).split('/')) at = asObject(at)?.[part.replaceAll('~1', '/').replaceAll('~0', '~')];
  return asObject(at);
}

function without(schema: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== key));
}

export function asObject(value: unknown): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

function asList(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function asText(value: JsonValue | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

function asNumber(value: JsonValue | undefined): number | null {
  return typeof value === 'number' ? value : null;
}
