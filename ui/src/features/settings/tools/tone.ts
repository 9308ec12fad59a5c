// The colour of an outcome (tools §6).

export function toneOf(status: string): 'success' | 'neutral' | 'warning' | 'danger' {
  switch (status) {
    case 'ok':
      return 'success';
    case 'noop':
    case 'canceled':
      return 'neutral';
    case 'partial':
    case 'needs_input':
      return 'warning';
    default:
      return 'danger';
  }
}
