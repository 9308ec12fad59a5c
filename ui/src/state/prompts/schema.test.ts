import { describe, expect, test } from 'vitest';
import type { KvField } from './item';
import { checkText, chosenOf, type Control, controlOf, fromLocalInput, initialText, readSchema, toLocalInput } from './schema';

const field = (more: Partial<KvField> = {}): KvField => ({
  key: 'k',
  label: 'k',
  description: '',
  placeholder: '',
  default: '',
  required: false,
  multiline: false,
  secret: false,
  ...more,
});

const control = (property: unknown, more: Partial<KvField> = {}): Control =>
  controlOf(field(more), readSchema({ type: 'object', properties: { k: property } }));

const NAMED = { type: 'string', enum: ['a', 'b'], enumNames: ['A'] };
const TITLED = { type: 'string', oneOf: [{ const: 'a', title: 'Ah' }, { const: 'b' }, { title: 'no value' }] };
const SEVERAL = { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }, { const: 'b', title: 'B' }] }, minItems: 1, maxItems: 1 };

describe('the control of a field', () => {
  test.each([
    [{ type: 'number', minimum: 1, maximum: 2.5 }, { type: 'number', integer: false, min: 1, max: 2.5 }],
    [{ type: 'integer' }, { type: 'number', integer: true, min: null, max: null }],
    [{ type: 'boolean' }, { type: 'switch' }],
    [{ type: 'string', format: 'date' }, { type: 'date' }],
    [{ type: 'string', format: 'date-time' }, { type: 'date-time' }],
    [{ type: 'string', format: 'email' }, { type: 'text', input: 'email' }],
    [{ type: 'string', format: 'uri' }, { type: 'text', input: 'url' }],
    [{ type: 'string', minLength: 2, maxLength: 4 }, { type: 'text', input: 'text', minLength: 2, maxLength: 4 }],
    [NAMED, { type: 'select', options: [{ value: 'a', label: 'A' }, { value: 'b', label: 'b' }] }],
    [TITLED, { type: 'select', options: [{ value: 'a', label: 'Ah' }, { value: 'b', label: 'b' }] }],
    [SEVERAL, { type: 'multi', min: 1, max: 1, options: [{ value: 'a', label: 'A' }, { value: 'b', label: 'B' }] }],
    [{ type: 'object' }, { type: 'text', input: 'text' }],
    [null, { type: 'text', input: 'text' }],
  ])('%j', (property, expected) => {
    expect(control(property)).toMatchObject(expected);
  });

  test('a secret stays secret whatever the schema says', () => {
    expect(control({ type: 'boolean' }, { secret: true, multiline: true })).toEqual({ type: 'secret', multiline: true });
  });

  test('no schema', () => {
    for (const schema of [undefined, null, [], 'x', { properties: [] }, { properties: 3 }]) {
      expect(controlOf(field({ multiline: true }), readSchema(schema))).toMatchObject({ type: 'text', multiline: true });
    }
  });
});

test('what a control starts with', () => {
  expect(initialText(field({ default: 'yes' }), { type: 'switch' })).toBe('true');
  expect(initialText(field(), { type: 'switch' })).toBe('false');
  expect(initialText(field({ default: '["b","x"]' }), control(SEVERAL))).toBe('["b"]');
  expect(initialText(field({ default: 'a, b' }), control(SEVERAL))).toBe('["a","b"]');
  expect(initialText(field({ default: 'zebra' }), control(NAMED))).toBe('');
  expect(initialText(field({ default: '7' }), control({ type: 'integer' }))).toBe('7');
});

describe('whether a text fits', () => {
  test.each([
    [{ type: 'integer', minimum: 1, maximum: 9 }, '3', null],
    [{ type: 'integer' }, ' 3 ', null],
    [{ type: 'integer' }, '3.0', null],
    [{ type: 'integer' }, '3.5', 'value_integer'],
    [{ type: 'integer' }, '0x10', 'value_integer'],
    [{ type: 'integer' }, '1e3', null],
    [{ type: 'integer' }, 'three', 'value_integer'],
    [{ type: 'number' }, 'Infinity', 'value_number'],
    [{ type: 'number' }, '-.5', null],
    [{ type: 'number', minimum: 1 }, '0', 'value_min'],
    [{ type: 'number', maximum: 1 }, '2', 'value_max'],
    [{ type: 'string', format: 'date' }, '2026-02-28', null],
    [{ type: 'string', format: 'date' }, '2026-02-30', 'value_date'],
    [{ type: 'string', format: 'date' }, '28.2.2026', 'value_date'],
    [{ type: 'string', format: 'date-time' }, '2026-02-28T10:00:00Z', null],
    [{ type: 'string', format: 'date-time' }, '2026-02-28T10:00', 'value_date_time'],
    [{ type: 'string', format: 'email' }, 'a@b.c', null],
    [{ type: 'string', format: 'email' }, 'a@b..c', 'value_email'],
    [{ type: 'string', format: 'email' }, 'a b@c', 'value_email'],
    [{ type: 'string', format: 'uri' }, 'mailto:a@b', null],
    [{ type: 'string', format: 'uri' }, 'example.com', 'value_uri'],
    [{ type: 'string', minLength: 2 }, '你', 'value_short'],
    [{ type: 'string', maxLength: 2 }, '😀😀', null],
    [{ type: 'string', maxLength: 2 }, '😀😀😀', 'value_long'],
    [SEVERAL, '["a"]', null],
    [SEVERAL, '["a","b"]', 'too_many'],
  ])('%j with %s', (property, text, code) => {
    expect(checkText(control(property), text, false)?.code ?? null).toBe(code);
  });

  test('blank is missing only where something is required', () => {
    for (const property of [{ type: 'string' }, { type: 'integer' }, NAMED]) {
      expect(checkText(control(property), ' \t', true)?.code).toBe('required_missing');
      expect(checkText(control(property), '', false)).toBeNull();
    }
    expect(checkText(control(SEVERAL), '[]', true)?.code).toBe('required_missing');
    expect(checkText(control(SEVERAL), '[]', false)).toBeNull();
  });
});

test('lists in a text', () => {
  expect(chosenOf('["a",1,"b"]')).toEqual(['a', 'b']);
  expect(chosenOf('a, b ,,c')).toEqual(['a', 'b', 'c']);
  expect(chosenOf('')).toEqual([]);
});

test('moments go through the local input and come back', () => {
  for (const moment of ['2026-02-28T10:00:00Z', '2026-07-01T23:59:58Z']) expect(fromLocalInput(toLocalInput(moment))).toBe(moment);
  expect([toLocalInput('no'), fromLocalInput(''), fromLocalInput('no')]).toEqual(['', '', '']);
});
