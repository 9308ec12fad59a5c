// Gives the person a file to keep.

/** Long enough for any browser to have begun the download. */
const KEPT_MS = 10_000;

export function saveAs(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}
