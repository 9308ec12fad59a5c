// Reading fields of events, whose types only the host knows for sure.

import type { MessageView } from '../../protocol/wire';

export function isMessage(value: MessageView | undefined): value is MessageView {
  return typeof value?.id === 'string' && typeof value.content === 'string' && typeof value.seq === 'number';
}

export function string(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

export function number(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

export function moment(value: unknown): number | null {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}
