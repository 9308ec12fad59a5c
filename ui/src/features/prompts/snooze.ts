// Moments to which a question is put off, on this computer's clock.

export function inMinutes(minutes: number, now = new Date()): Date {
  return new Date(now.getTime() + minutes * 60_000);
}

/** Tomorrow at nine. */
export function morning(now = new Date()): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, 9);
}

/** As a field for date and time has it. */
export function local(moment: Date): string {
  const two = (n: number) => String(n).padStart(2, '0');
  return `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}T${two(moment.getHours())}:${two(moment.getMinutes())}`;
}
