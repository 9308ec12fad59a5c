// Pictures of a result as a view gets them: content blocks with their bytes (mcp "apps"). The page reads them
// with its own token; the view has none.

import { base64 } from '../../host/view-context';
import type { WireAttachment } from '../../protocol/chat';
import { chat } from '../../state';

const MAX_PICTURES = 8;
const MAX_BYTES = 8 * 1024 * 1024;

export interface PictureBlock {
  type: 'image';
  data: string;
  mimeType: string;
}

/** Those that can be read, in their order; one that is gone or too large is left out. */
export async function readPictures(items: readonly WireAttachment[], sessionId: string): Promise<PictureBlock[]> {
  const pictures = items.filter((item) => item.mime?.startsWith('image/') && !item.uri).slice(0, MAX_PICTURES);
  const read = pictures.map(async (item): Promise<PictureBlock | null> => {
    try {
      const path = item.url ?? `/api/v1/sessions/${encodeURIComponent(sessionId)}/attachments/${encodeURIComponent(item.id)}`;
      const bytes = new Uint8Array(await (await chat.api.blob(path)).arrayBuffer());
      return bytes.length > MAX_BYTES ? null : { type: 'image', data: base64(bytes), mimeType: item.mime ?? '' };
    } catch {
      // The view shows what it got; the card below has the text and says what is missing.
      return null;
    }
  });
  return (await Promise.all(read)).filter((block) => block !== null);
}
