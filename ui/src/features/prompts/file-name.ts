// The name under which a result is offered for saving.

import type { ResultForm } from '../../state/prompts/item';

const BY_TYPE: Record<string, string> = {
  'text/markdown': 'md',
  'text/plain': 'txt',
  'text/html': 'html',
  'text/csv': 'csv',
  'application/json': 'json',
  'application/xml': 'xml',
  'text/xml': 'xml',
  'application/yaml': 'yaml',
};

/** The title without what file systems refuse, and an ending by what the text is. */
export function fileNameFor(title: string, form: ResultForm, mimeType: string | null, fallback: string): string {
  const type = mimeType?.toLowerCase().split(';')[0]?.trim() ?? '';
  const ending = BY_TYPE[type] ?? (form === 'json' ? 'json' : form === 'markdown' ? 'md' : 'txt');
  const base = title
    .replaceAll(/[\p{Cc}\p{Cf}\\/:*?"<>|]+/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .replace(/^[. ]+|[. ]+$/g, '')
    .slice(0, 80)
    .trim();
  return `${base === '' ? fallback : base}.${ending}`;
}
