// How a call ended, in one form: tools of this host say it in their result, of another maker's result only the
// host says it, beside it (tools §6).

import type { Envelope, ToolResult } from '../../protocol/tools';
import { asObject } from './fields';

export function textOf(result: ToolResult): string {
  return result.content
    .map((block) => block.text ?? '')
    .filter((text) => text !== '')
    .join('\n');
}

export function envelopeOf(result: ToolResult): Envelope {
  const own = asObject(result.structuredContent ?? null);
  if (own && typeof own['status'] === 'string' && asObject(own['chatos'] ?? null)) return own as unknown as Envelope;
  const said = result._meta?.chatos;
  const code = said?.code ?? (result.isError ? 'error' : 'ok');
  return {
    status: said?.status ?? (result.isError ? 'error' : 'ok'),
    code,
    data: result.structuredContent ?? null,
    error: result.isError ? { type: code, message: textOf(result) || code, retryable: false } : null,
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

/** Kinds of pictures a browser shows without running anything. */
const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** The pictures among the blocks, as addresses that load nothing from anywhere (security T19). */
export function picturesOf(result: ToolResult): string[] {
  return result.content.flatMap(({ type, data, mimeType }) =>
    type === 'image' && typeof data === 'string' && PICTURES.includes(mimeType ?? '') ? [`data:${mimeType};base64,${data.replaceAll(/[^A-Za-z0-9+/=]/g, '')}`] : [],
  );
}
