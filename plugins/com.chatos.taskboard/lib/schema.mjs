// Checks a value against the part of JSON Schema our tools use, and reports everything that is wrong at once.
//
// Known keywords: type, enum, properties, required, additionalProperties (false), items, minItems, maxItems,
// minLength, maxLength, pattern, minimum, maximum. A tool that needs another one adds it here first.

/** @returns {Array<{path: string, message: string}>} problems; `path` is a JSON pointer. */
export function check(schema, value, path = '') {
  const issues = [];
  visit(schema, value, path, issues);
  return issues;
}

function visit(schema, value, path, issues) {
  const problem = (message, at = path) => issues.push({ path: at, message });
  if (schema.type && !hasType(schema.type, value)) {
    problem(`must be ${article(schema.type)}, found ${typeName(value)}`);
    return;
  }
  if (schema.enum && !schema.enum.includes(value)) {
    problem(`must be one of ${schema.enum.map((item) => JSON.stringify(item)).join(', ')}`);
  }
  if (typeof value === 'string') checkString(schema, value, problem);
  if (typeof value === 'number') {
    if (schema.minimum !== undefined && value < schema.minimum) problem(`must be at least ${schema.minimum}`);
    if (schema.maximum !== undefined && value > schema.maximum) problem(`must be at most ${schema.maximum}`);
  }
  if (Array.isArray(value)) {
    if (schema.minItems !== undefined && value.length < schema.minItems) {
      problem(`needs at least ${schema.minItems} items`);
    }
    if (schema.maxItems !== undefined && value.length > schema.maxItems) {
      problem(`may have at most ${schema.maxItems} items`);
    }
    if (schema.items) value.forEach((item, index) => visit(schema.items, item, `${path}/${index}`, issues));
  } else if (value !== null && typeof value === 'object') {
    checkObject(schema, value, path, issues, problem);
  }
}

function checkString(schema, value, problem) {
  // Lengths are counted in characters, as JSON Schema says, not in UTF-16 units.
  const length = schema.minLength !== undefined || schema.maxLength !== undefined ? [...value].length : 0;
  if (schema.minLength !== undefined && length < schema.minLength) {
    problem(schema.minLength === 1 ? 'must not be empty' : `needs at least ${schema.minLength} characters`);
  }
  if (schema.maxLength !== undefined && length > schema.maxLength) {
    problem(`may have at most ${schema.maxLength} characters`);
  }
  if (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test(value)) {
    problem(`must match ${schema.pattern}`);
  }
}

function checkObject(schema, value, path, issues, problem) {
  const properties = schema.properties ?? {};
  for (const key of schema.required ?? []) {
    if (!Object.hasOwn(value, key)) problem('is required', `${path}/${pointer(key)}`);
  }
  for (const [key, item] of Object.entries(value)) {
    const at = `${path}/${pointer(key)}`;
    if (Object.hasOwn(properties, key)) visit(properties[key], item, at, issues);
    else if (schema.additionalProperties === false) {
      problem(`unknown key; known: ${Object.keys(properties).join(', ')}`, at);
    }
  }
}

function hasType(type, value) {
  if (type === 'integer') return Number.isSafeInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return value !== null && typeof value === 'object' && !Array.isArray(value);
  return typeof value === type;
}

function typeName(value) {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function article(type) {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function pointer(key) {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
