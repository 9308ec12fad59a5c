// The setting `reachQuiet` as three fields and back: `22:00-07:00 mon-fri`.

export interface QuietHours {
  from: string;
  to: string;
  /** As the setting writes them; empty: every day. */
  days: string;
}

const SHAPE = /^(\d\d:\d\d)-(\d\d:\d\d)(?: +([a-z,-]+))?$/;

/** Null when nothing is set, or something this form does not know. */
export function readQuiet(text: unknown): QuietHours | null {
  const found = typeof text === 'string' ? SHAPE.exec(text.trim()) : null;
  return found ? { from: found[1] ?? '', to: found[2] ?? '', days: found[3] ?? '' } : null;
}

export function writeQuiet({ from, to, days }: QuietHours): string {
  return days === '' ? `${from}-${to}` : `${from}-${to} ${days}`;
}
