// Between a setting's value and the text in its input. No DOM, no state.

import type { JsonValue, Setting, SettingType } from '../../protocol';

export type Parsed = { value: JsonValue } | { error: 'int' | 'map' };

/** The text an input starts with. */
export function toText(type: SettingType, value: JsonValue): string {
  switch (type.kind) {
    case 'list':
      return Array.isArray(value) ? value.map(String).join('\n') : '';
    case 'map':
      return JSON.stringify(value, null, 2);
    default:
      return value === null ? '' : String(value);
  }
}

/** Reads an input back. Ranges are the host's to judge; only what is no value at all is refused here. */
export function fromText(type: SettingType, text: string): Parsed {
  switch (type.kind) {
    case 'bool':
      return { value: text === 'true' };
    case 'int': {
      const plain = text.replaceAll(/[\s_,]/g, '');
      return /^-?\d{1,15}$/.test(plain) ? { value: Number(plain) } : { error: 'int' };
    }
    case 'list':
      return { value: text.split('\n').map((line) => line.trim()).filter((line) => line !== '') };
    case 'map':
      return parseMap(text);
    case 'enum':
    case 'string':
      return { value: text };
  }
}

function parseMap(text: string): Parsed {
  if (text.trim() === '') return { value: {} };
  try {
    const value = JSON.parse(text) as JsonValue;
    const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isMap ? { value } : { error: 'map' };
  } catch {
    // The caller words the error beside the field.
    return { error: 'map' };
  }
}

/** Equal as JSON; key order of maps does not matter to people, but the host keeps it, so it does here. */
export function sameValue(a: JsonValue, b: JsonValue): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** A byte count or a number of milliseconds is easier to read with its unit. */
export function unitOf(setting: Setting): 'bytes' | 'ms' | null {
  if (setting.type.kind !== 'int') return null;
  if (/Bytes$/.test(setting.key)) return 'bytes';
  return /Ms$/.test(setting.key) ? 'ms' : null;
}
