// What stands for an app when it has no picture file.

/** Short text or emoji is shown as it is; paths, addresses and long strings give way to a letter. */
export function iconText(icon: string, name: string): string {
  const text = icon.trim();
  const short = text !== '' && [...text].length <= 16 && !text.includes('/') && !text.includes(':');
  const isFile = /\.(png|jpe?g|webp|svg)$/i.test(text);
  if (short && !isFile) return text;
  return [...name.trim()][0]?.toUpperCase() ?? '?';
}
