// Words for a setting's value, for "Default: …", the reset button, and units beside numbers.

import { i18n } from '../../i18n/index.svelte';
import type { JsonValue, Setting } from '../../protocol';
import { unitOf } from './draft';

/** A value as a person would say it. */
export function valueText(setting: Setting, value: JsonValue): string {
  const { t } = i18n;
  if (typeof value === 'boolean') return value ? t.common.on : t.common.off;
  if (typeof value === 'number') {
    const unit = unitText(setting, value);
    return unit ? `${i18n.number(value)} (${unit})` : i18n.number(value);
  }
  if (value === '' || value === null || (Array.isArray(value) && value.length === 0)) return t.settings.emptyText;
  if (Array.isArray(value)) return value.map(String).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : (t.settings.values[setting.key]?.[value] ?? value);
}

/** “2 MiB” or “5 min” for numbers whose name says what they count; null for small or plain ones. */
export function unitText(setting: Setting, value: number): string | null {
  const unit = unitOf(setting);
  if (unit === 'bytes' && value >= 1024) return i18n.bytes(value);
  return unit === 'ms' && value >= 1000 ? i18n.duration(value) : null;
}
