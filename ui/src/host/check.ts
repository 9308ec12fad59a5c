// Arguments of a frame, read with care: each function gives a value of the right type or throws
// `invalid_argument`. What a member does not know is left out, so nothing unknown travels on.

import { HostError } from '../frame/wire';

export type Fields = Record<string, unknown>;

export function refuse(message: string, data?: unknown): never {
  throw new HostError('invalid_argument', message, data);
}

/** A non-empty string, cut to its trimmed form. */
export function needText(value: unknown, name: string): string {
  if (typeof value !== 'string' || value.trim() === '') refuse(`${name} is required`);
  return value;
}

export function needObject(value: unknown, name: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) refuse(`${name} must be an object`);
  return value as Fields;
}

/** An object, or nothing. */
export function optionalObject(value: unknown, name: string): Fields {
  return value === undefined || value === null ? {} : needObject(value, name);
}

export function optionalText(fields: Fields, key: string): string | undefined {
  const value = fields[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') refuse(`${key} must be a string`);
  return value;
}

export function optionalInteger(fields: Fields, key: string, least: number, most: number): number | undefined {
  const value = fields[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
    refuse(`${key} must be an integer from ${least} to ${most}`);
  }
  return value;
}

export function optionalTexts(fields: Fields, key: string): string[] | undefined {
  const value = fields[key];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value) || value.some((item) => typeof item !== 'string')) refuse(`${key} must be a list of strings`);
  return value as string[];
}

/** Only the named keys, and only those that are there. */
export function pick(fields: Fields, keys: readonly string[]): Fields {
  return Object.fromEntries(keys.filter((key) => fields[key] !== undefined).map((key) => [key, fields[key]]));
}
