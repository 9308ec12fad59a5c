// What stands for an app: a picture file of its plugin, a short text, or a letter (plugins §2.4).

/** A relative path to a picture, which the host can serve from the plugin's folder. */
export function isIconFile(icon: string): boolean {
  return /\.(png|jpe?g|webp|svg)$/i.test(icon.trim()) && !icon.includes(':');
}

/** Short text or emoji is shown as it is; paths, addresses and long strings give way to a letter. */
export function iconText(icon: string, name: string): string {
  const text = icon.trim();
  const short = text !== '' && [...text].length <= 16 && !text.includes('/') && !text.includes(':');
  if (short && !isIconFile(text)) return text;
  return [...name.trim()][0]?.toUpperCase() ?? '?';
}
