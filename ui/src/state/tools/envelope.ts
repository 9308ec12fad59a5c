// How a call ended, in one form: the host says it beside every result; tools of this host say why and with what
// data in the result itself (tools §4).

import type { JsonValue } from '../../protocol';
import type { CallNote, Envelope, JsonObject, ToolResult } from '../../protocol/tools';
import { asObject } from './fields';

export function textOf(result: ToolResult): string {
  return result.content
    .map((block) => block.text ?? '')
    .filter((text) => text !== '')
    .join('\n');
}

/** Keys of an envelope; runs of earlier versions have `chatos` in it too. */
const KEYS = ['status', 'code', 'data', 'error', 'chatos'];

/** The envelope of a tool that keeps our convention; nothing for what another maker put there. */
export function ownEnvelope(structured: unknown): Envelope | null {
  const own = asObject(structured);
  if (!own || typeof own['status'] !== 'string' || typeof own['code'] !== 'string' || !('data' in own)) return null;
  return Object.keys(own).every((key) => KEYS.includes(key)) ? (own as unknown as Envelope) : null;
}

export function envelopeOf(result: ToolResult): Envelope & { chatos: Omit<CallNote, 'status' | 'code'> } {
  const own = ownEnvelope(result.structuredContent);
  const said = result._meta?.chatos;
  const code = said?.code ?? own?.code ?? (result.isError ? 'error' : 'ok');
  return {
    status: said?.status ?? own?.status ?? (result.isError ? 'error' : 'ok'),
    code,
    data: own ? own.data : (result.structuredContent ?? null),
    error: own ? (own.error ?? null) : result.isError ? { type: code, message: textOf(result) || code, retryable: false } : null,
    chatos: {
      server: said?.server ?? '',
      tool: said?.tool ?? '',
      elapsedMs: said?.elapsedMs ?? 0,
      size: said?.size ?? 0,
      ts: said?.ts ?? '',
      ...(said?.truncated ? { truncated: said.truncated } : {}),
    },
  };
}

/** The data without a text that is shown already. */
export function besideText(data: JsonValue, shown: string): JsonValue {
  const fields = asObject(data);
  if (!fields || typeof fields['text'] !== 'string' || !shown.includes(fields['text'])) return data;
  const rest = Object.fromEntries(Object.entries(fields).filter(([key]) => key !== 'text')) as JsonObject;
  return Object.keys(rest).length > 0 ? rest : null;
}

/** Kinds of pictures a browser shows without running anything. */
const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** The pictures among the blocks, as addresses that load nothing from anywhere (security T19). */
export function picturesOf(result: ToolResult): string[] {
  return result.content.flatMap(({ type, data, mimeType }) =>
    type === 'image' && typeof data === 'string' && PICTURES.includes(mimeType ?? '') ? [`data:${mimeType};base64,${data.replaceAll(/[^A-Za-z0-9+/=]/g, '')}`] : [],
  );
}
