import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../protocol/tools';
import { emptyDraft, fromArguments, toArguments } from './arguments';
import { readFields } from './fields';

const SCHEMA: JsonObject = {
  type: 'object',
  required: ['path', 'edits', 'mode'],
  $defs: { count: { type: ['integer', 'null'], minimum: 1, maximum: 9 } },
  properties: {
    path: { type: 'string', minLength: 1, description: 'where' },
    content: { type: ['string', 'null'], title: 'What to write' },
    limit: { $ref: '#/$defs/count', description: 'how many' },
    ratio: { anyOf: [{ type: 'number' }, { type: 'null' }] },
    dry: { type: 'boolean', default: false },
    mode: { enum: ['a', 'b', 3] },
    kind: { oneOf: [{ const: 'x', title: 'X' }, { const: 'y' }] },
    tags: { type: 'array', items: { type: 'string' } },
    lines: { type: 'array', items: { type: 'integer' } },
    flags: { type: 'array', items: { enum: ['i', 'm'] } },
    where: { type: 'object', properties: { from: { type: 'integer' }, to: { type: 'integer' } }, required: ['from'] },
    edits: { type: 'array', items: { type: 'object', required: ['old_text'], properties: { old_text: { type: 'string' }, count: { type: 'integer' } } } },
    extra: { type: 'object', additionalProperties: true },
    either: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
    many: { anyOf: [{ type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } }, { type: 'string' }], description: 'a list or its text' },
  },
};
const fields = readFields(SCHEMA);

describe('fields of a schema', () => {
  test('each has the input that fits it, or JSON', () => {
    expect(fields.map((field) => `${field.key}:${field.kind}`)).toEqual([
      'path:text', 'content:long', 'limit:integer', 'ratio:number', 'dry:boolean', 'mode:option', 'kind:option', 'tags:lines',
      'lines:lines', 'flags:options', 'where:group', 'edits:rows', 'extra:json', 'either:json', 'many:rows',
    ]);
    expect(fields[1]?.label).toBe('What to write');
    expect(fields[2]).toMatchObject({ min: 1, max: 9, description: 'how many', required: false, path: '/limit' });
    expect(fields[5]?.options).toEqual(['a', 'b', 3]);
    expect(fields[6]?.options).toEqual(['x', 'y']);
  });

  test('a schema that refers to itself, or is none, does no harm', () => {
    expect(readFields({ properties: { a: { $ref: '#/properties/a' } } }).map((field) => field.kind)).toEqual(['json']);
    expect(readFields({ type: 'object', properties: { a: { $ref: '#' } } })[0]?.kind).toBe('json');
    expect(readFields(null)).toEqual([]);
    expect(readFields({ properties: { a: 3, b: null, c: { type: 'object', properties: [] } } } as unknown as JsonObject).map((field) => field.kind)).toEqual(['json', 'json', 'json']);
  });
});

describe('arguments', () => {
  const filled = () => ({
    ...emptyDraft(fields),
    path: 'src/x',
    limit: '3',
    ratio: ' 0.5 ',
    dry: 'true',
    mode: '3',
    tags: 'one\n\ntwo words\n',
    lines: '1\n2',
    flags: ['"i"'],
    where: { from: '1', to: '' },
    edits: [{ old_text: '', count: '' }, { old_text: 'b', count: '2' }],
    extra: '{"k":[1]}',
    either: '"text"',
  });
  const value: JsonObject = {
    path: 'src/x',
    limit: 3,
    ratio: 0.5,
    dry: true,
    mode: 3,
    tags: ['one', 'two words'],
    lines: [1, 2],
    flags: ['i'],
    where: { from: 1 },
    edits: [{ old_text: '' }, { old_text: 'b', count: 2 }],
    extra: { k: [1] },
    either: 'text',
  };

  test('are what was put in; what was left empty is left out', () => {
    expect(toArguments(fields, filled())).toEqual({ value, issues: [] });
  });

  test('come back into the form', () => {
    const draft = fromArguments(fields, value);
    expect(draft && toArguments(fields, draft)).toEqual({ value, issues: [] });
    expect(fromArguments(fields, { path: 'x', nobody: 1 })).toBeNull();
    expect(fromArguments(fields, { path: 3 })).toBeNull();
    expect(fromArguments(fields, { mode: 'z' })).toBeNull();
    expect(fromArguments(fields, { tags: ['a\nb'] })).toBeNull();
    expect(fromArguments(fields, { edits: [3] })).toBeNull();
  });

  test('that are wrong are named by their place', () => {
    const draft = { ...filled(), path: '', limit: '10', ratio: 'x', lines: '1\n1.5', mode: '', where: { from: '', to: '2' }, extra: '{' };
    draft.edits = [{ old_text: 'a', count: '1e99' }];
    expect(toArguments(fields, draft).issues).toEqual([
      { path: '/path', code: 'required' },
      { path: '/limit', code: 'max', limit: 9 },
      { path: '/ratio', code: 'number' },
      { path: '/mode', code: 'required' },
      { path: '/lines', code: 'integer' },
      { path: '/where/from', code: 'required' },
      { path: '/edits/0/count', code: 'integer' },
      { path: '/extra', code: 'json' },
    ]);
  });
});
